// Prints the controller's updates to a terminal: streaming answers, how they end, notices and the progress of loading.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "app/chat/state/remedies.h"
#include "app/chat/state/updates.h"
#include "app/platform/spinner.h"
#include "app/terminal/answer_printer.h"

namespace warpchat {

class ChatPrinter {
 public:
  explicit ChatPrinter(const ChatSettings& look) : look_(look) {}  // look: read whenever an answer begins

  // The answer that the next one continues: its last row is shown again, and the new text goes on there.
  void will_continue(const Message& answer) { begun_ = answer; }

  void begin_conversation() { view_ = View::kTerminal; }  // from now on, commands can be typed

  void show(const Update& update, const ChatState& now);  // now: with this update, and perhaps later ones
  void flush();                                           // writes what is to be seen, and turns the spinner

  void forget() { answer_.reset(), waiting_.clear(); }  // the answer that streams: its end is not shown

  bool take_fault() { return std::exchange(has_fault_, false); }  // an error was printed since the last call

  struct EndedAnswer {
    bool has_text;  // there is something of it
  };
  // That ended since the last call.
  std::optional<EndedAnswer> take_ended() { return std::exchange(ended_, std::nullopt); }

 private:
  void print(const ConversationUpdate& update, const ChatState& now);
  void print(const updates::AddNotice& added);
  void print(const updates::SetRefusal& update);
  void print(const updates::SetLoading& update, const ChatState& now);
  void print(const updates::SetTools& update, const ChatState& now);
  void follow_calls(const std::vector<ToolCall>& calls);
  void begin_answer(bool continues);
  void end_answer(const updates::EndAnswer& end, const ChatState& now);
  void tell_full_context(const ChatState& now) const;
  void tell(const NoticeItem& notice);
  void tell_error(const std::string& sentence);

  const ChatSettings& look_;
  View view_ = View::kCommandLine;       // whose ways out errors name
  std::optional<AnswerPrinter> answer_;  // while one streams
  bool has_text_ = false;                // of it
  Message begun_;                        // that is continued
  std::vector<ToolCall> calls_;          // since its begin, or the last round's end
  std::vector<NoticeItem> waiting_;      // until it has ended
  std::optional<Spinner> loading_;
  std::optional<EndedAnswer> ended_;
  bool has_fault_ = false;
};

}  // namespace warpchat
