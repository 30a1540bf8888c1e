// The conversation as it is read: rich text with selection and copy, drawn by our own text engine, scrolled in the
// current ImGui window. Layouts are kept by message and width, so that a frame costs what is visible.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/chat/state/actions.h"
#include "app/chat/state/chat_state.h"
#include "app/gui/text/text_engine.h"
#include "app/gui/theme.h"

namespace warpchat::gui {

class TranscriptView {
 public:
  explicit TranscriptView(TextEngine& text);
  ~TranscriptView();

  struct Look {
    const Theme& theme;
    Sizes sizes;
    bool show_thoughts = false;  // unfolded from the start
  };
  // Fills the current ImGui window from the cursor to the content region's end. Follows the answer that streams unless
  // the user has scrolled away. What the user does with a message's buttons goes to actions, editing excepted.
  void draw(const ChatState& state, const Look& look, Actions& actions);

  // The message that the user began to edit by its button, once.
  std::optional<uint64_t> take_edit();

  // What the last menu is for, by right click or key, reported once. Missing texts are empty.
  struct MenuTarget {
    std::string message, code, link;  // whole, as their copy buttons copy them
    uint64_t key = 0;                 // of the message; 0: there is none
    float x = 0, y = 0;               // of the menu, pixels of the screen
  };
  std::optional<MenuTarget> take_menu();
  bool take_new_selection();  // whether the user has selected something since the last call

  bool has_selection() const;
  std::string selected_text(const ChatState& state) const;  // as it reads, code with its indentation
  void select_all();
  void clear_selection();
  // The keyboard goes from target to target: buttons and links of the visible messages, from top to bottom, and
  // scrolls where there is none. has_keyboard: their footers and the ring round the current one are shown.
  void set_keyboard(bool has_keyboard);
  void move_target(int steps);
  void activate_target();
  void open_target_menu();
  void scroll_to_start();
  void scroll_to_end();
  void scroll_to(TurnId turn);  // of a search hit
  void scroll_pages(float pages);

  // Highlights the words and scrolls to the first match from the visible part on. Empty: ends the search.
  void find(std::string words, bool or_each = false);  // see TranscriptFind::set
  void find_next(int steps);
  struct Found {
    size_t at, n;  // at: from 1 on; 0: nothing is found
  };
  Found found() const;
  bool needs_frames() const;  // something moves by itself (a fading highlight, smooth scrolling)

  // What the last frame drew to be clicked, for tests that use the window: "copy:KEY", where KEY is a message's.
  struct Button {
    std::string name;
    float x, y, width, height;  // pixels of the screen
  };
  const std::vector<Button>& buttons() const;

  std::optional<size_t> hovered_token() const;  // of the message below, for the profiler's token strip
  std::optional<uint64_t> hovered_message() const;
  float scroll_position() const;  // pixels, for the state dump
  bool at_end() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace warpchat::gui
