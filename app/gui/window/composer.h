// Where messages are written: the field, attachments, the count of tokens, send and stop.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "app/gui/panels/shortcuts.h"
#include "app/gui/widgets/text_field.h"

namespace warpchat::gui {

class Composer {
 public:
  float height(Frame& f, float width);  // what draw wants
  void draw(Frame& f, Rect rect);
  void edit(const ChatMessage& message, Ui& ui);  // its text instead of the draft, which comes back after it
  bool cancel_edit(Ui& ui);                       // whether one was edited
  void send(Frame& f);
  void add_line(Ui& ui);                             // at the caret
  void begin_with(std::string_view prompt, Ui& ui);  // before the text, in place of another one of the start screen
  void insert(std::string_view text, Ui& ui);        // at the caret, in place of the selection
  const std::string& text() const { return field_.text(); }
  uint64_t revision() const { return field_.buffer.revision(); }                 // of the text
  const std::string& draft() const { return edited_ ? draft_ : field_.text(); }  // what is not sent yet
  void set_draft(const std::string& text) { field_.buffer.set(text); }

  // A draft of a conversation that is not shown. state: must show that conversation.
  struct Draft {
    std::string text;
    TurnId edited = 0;  // a message's; 0: none is edited
    std::string edit;
    std::vector<std::string> files;  // paths of what is attached
    bool waits = false;              // it is not yet, but was when this program ended last
  };
  Draft put_away(const ChatState& state);
  // Those put back from a message have no path, and are lost with the program.
  static std::vector<std::string> paths_of(const std::vector<Attachment>& attached);
  void take_up(const Draft& draft, const ChatState& state);
  std::optional<uint64_t> edited() const { return edited_; }

 private:
  bool draw_edit_banner(Frame& f, Rect& rect);
  std::vector<Rect> chips(Frame& f, float width) const;  // of the attachments, in rows from (0, 0) on
  float chips_height(Frame& f, float width) const;
  void draw_attachments(Frame& f, Rect rect);
  void draw_chip(Frame& f, size_t index, Rect chip);
  void draw_tools(Frame& f, Rect rect);
  void draw_meter(Frame& f, Rect rect);
  void count_tokens(Frame& f);
  struct TooLong {
    uint64_t tokens;
    uint32_t context;
    Remedies ways;
    bool is_refused;  // refused after sending; else a warning before it
  };
  std::optional<TooLong> too_long(const ChatState& state) const;
  uint64_t unsent_tokens(const ChatState& state) const;
  bool draw_too_long(Frame& f, Rect& rect);
  void follow_sent(const ChatState& state);
  bool can_send(const Frame& f) const;

  TextField field_;
  std::string draft_;
  std::optional<uint64_t> edited_;  // key of the message
  struct Sent {                     // neither accepted nor refused yet
    std::string text;
    uint64_t n_taken, n_refused;
  };
  std::optional<Sent> sent_;
  uint64_t counted_revision_ = 0;  // of the last CountTokens
  double changed_at_ = 0;
  uint64_t changed_revision_ = 0;
};

}  // namespace warpchat::gui
