// Writes an answer to standard output: plain text if that is no terminal, else through an AnswerView, with a spinner
// until the first text. Available text is gathered, so that a fast model costs one write per batch.
#pragma once
#include <chrono>
#include <string>
#include <string_view>

#include "app/platform/spinner.h"
#include "app/settings/chat_settings.h"
#include "app/terminal/answer_view.h"
#include "engine/events.h"
#include "engine/message.h"

namespace warpchat {

// "the answer was cut at 8 tokens"; -1: at the server's limit.
std::string cut_text(int32_t max_tokens);

// An answer for a pipe or a file: plain text, reasoning between <think> and </think>.
class PlainAnswer {
 public:
  // holds_text: text may turn out to be a thought. Where thoughts are hidden, it then waits for the answer's end.
  PlainAnswer(bool hide_thinking, bool holds_text)
      : hide_thinking_(hide_thinking), holds_(hide_thinking && holds_text) {}
  std::string add(std::string_view text, bool thinking);
  std::string reclassify(bool thinking);  // Reclassified in engine/events.h
  void end_round() { parts_ = has_text_; }
  std::string finish(bool reasoning_ended);

 private:
  bool hide_thinking_, holds_, thinks_ = false, ends_line_ = true;
  bool has_text_ = false, parts_ = false;  // parts_: a blank line stands before what follows
  std::string held_;
};

// The look that fits this program's terminal now.
AnswerLook answer_look(bool hide_thinking, bool in_conversation);

class AnswerPrinter {
 public:
  // may_be_thought: a server answers, so text may turn out to be a thought.
  AnswerPrinter(const ChatSettings& settings, bool in_conversation, bool may_be_thought);

  void progress(PromptProgress progress) { progress_ = progress; }
  // A long text is shown piece by piece. After Ctrl-C between two pieces no more is shown.
  void text(std::string_view text, bool thinking);
  void reclassify(bool thinking);
  // The end of a round of calls: a blank line parts the text before from the text behind. lines: what is said of them,
  // on a terminal.
  void end_round(const std::vector<std::string>& lines = {});
  void wait_for(const std::string& what);  // in words, beside the spinner, until more text or end_round()
  void end_line();                         // of the text so far, since something else is written
  void resume(const Message& begun);       // what has been written of the answer; before its text
  bool is_cut() const { return cut_; }
  void notice(const std::string& text);  // a line in brackets, or on standard error; never inside the answer's text
  void end(bool reasoning_ended);

  void tick();  // draws a frame of the spinner when it is time for one, or says once what it waits for; to be called
                // often
  void flush();

 private:
  void put(const std::string& text);
  void clear_spinner();

  using Clock = std::chrono::steady_clock;
  bool terminal_;
  PlainAnswer plain_;
  AnswerView view_;
  std::string out_;
  std::string resumed_;  // goes before the first text
  std::string awaited_;  // wait_for(); empty: the model
  StatusLine spinner_;
  bool said_ = false, text_shown_ = false, cut_ = false;
  size_t unseen_ = 0;  // bytes since Ctrl-C was last looked for
  unsigned frame_ = 0;
  Clock::time_point next_frame_;
  PromptProgress progress_{0, 0};
};

}  // namespace warpchat
