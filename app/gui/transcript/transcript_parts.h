// State of TranscriptView between frames, and the steps of a frame. Screen coordinates unless stated otherwise.
#pragma once
#include <imgui/imgui.h>

#include <cmath>
#include <map>
#include <optional>
#include <string>

#include "app/gui/transcript/row_scroll.h"
#include "app/gui/transcript/transcript_find.h"
#include "app/gui/transcript/transcript_layout.h"
#include "app/gui/transcript/transcript_selection.h"
#include "app/gui/transcript/transcript_view.h"
#include "app/gui/widgets/icons.h"

namespace warpchat::gui {

// A place in the text that survives messages coming and going.
struct KeyedPlace {
  uint64_t key = 0;
  MessagePart part = MessagePart::kAnswer;
  size_t block = 0, offset = 0;
};

struct TranscriptView::Parts {
  explicit Parts(TextEngine& text) : layout(text) {}

  struct Frame {
    const ChatState* state = nullptr;
    const Look* look = nullptr;
    Actions* actions = nullptr;
    ImDrawList* list = nullptr;
    ImVec2 origin, size;  // of the region that is filled
    float left = 0;       // of the column
    ImVec2 mouse;
    bool over = false;  // the mouse is over the region and nothing lies above it
    bool clicked = false, released = false, down = false;
    int clicks = 0;
    bool shift = false;
    double now = 0;

    float bottom() const { return origin.y + size.y; }
  };

  void begin_frame(const ChatState& state, const Look& look, Actions& actions);
  void follow_changes();  // of the messages, and what was asked for since the last frame
  void follow_find();
  void show_match(const TranscriptFind::Match& match);
  std::vector<BlockMark> marks_of(size_t message, BlockIndex index) const;
  void take_wheel();
  void draw_rows();
  void draw_bubble(size_t first, size_t last);  // of visible rows, all of one user's message
  void draw_thought_head(const VisibleRow& row);
  void draw_files(const VisibleRow& row);
  void draw_block(const VisibleRow& row);
  void draw_code_head(const VisibleRow& row, BlockIndex index, ImVec2 at);
  void draw_summary(const VisibleRow& row, const BlockLayout& block, BlockIndex index, ImVec2 at);
  void draw_fold_sign(ImVec2 centre, bool open, Colour colour);
  struct ScrollThumb {
    bool shows = false, hot = false;
    ImVec2 from, to;
  };
  ScrollThumb take_code_scroll(uint64_t id, const BlockLayout& block, ImVec2 at);
  void draw_caret(const VisibleRow& row);
  void draw_footer(const VisibleRow& row);
  float draw_versions(size_t message, float x, float y);
  void draw_error(size_t message, ImVec2 from);
  void draw_ways_out(size_t message, float y);
  void draw_decisions(size_t message, float y);
  void draw_divider(size_t message, float bottom);
  void draw_scroll_bar();
  void draw_end_button();
  float end_button_room() const { return pixels(30 + 14) + 0.3f * frame.look->sizes.text; }  // with the scroll bar
  void draw_link_target();
  void draw_tip();
  void draw_highlight(const VisibleRow& row);

  // The mouse on text, after all buttons had their turn.
  void take_text_mouse();
  std::string code_text(size_t message, BlockIndex index) const;  // of all pieces
  std::optional<TextPlace> place_at(ImVec2 point);
  void begin_selection(TextPlace place);
  void hover_text(const VisibleRow& row, const BlockLayout& block, BlockIndex index, ImVec2 at, float scroll);

  // What the keyboard can reach.
  struct Target {
    uint64_t id;
    ImVec2 from, to;
    size_t message;
  };
  // Whether it is activated by the keyboard now.
  bool add_target(const Target& target);
  bool press_target(const Target& target, const char* name, bool* hot);
  void add_link_targets(const BlockLayout& block, const MarkdownBlock& text, size_t message, ImVec2 at, uint64_t id);
  void move_target(int steps);
  void show_target(const Target& target);
  const Target* current_target() const;
  void note_menu(ImVec2 at);

  // A button of any look: whether it was clicked now. hot: whether the mouse is over it.
  bool press(uint64_t id, ImVec2 from, ImVec2 to, bool* hot);
  struct IconButton {
    Icon icon;
    const char *name, *tip;
    size_t message;  // that it belongs to
  };
  bool icon_button(uint64_t id, const IconButton& button, ImVec2 from, float size);
  // Its width: what comes beside it begins there.
  bool text_button(uint64_t id, const char* name, const std::string& text, size_t message, ImVec2 from, float* width);
  void note_button(const char* name, size_t message, ImVec2 from, ImVec2 to);
  void copy(uint64_t id, const std::string& text);

  std::optional<TextRange> range() const;
  std::optional<TextPlace> placed(const KeyedPlace& place) const;
  KeyedPlace keyed(const TextPlace& place) const;
  uint64_t scroll_id(size_t message, BlockIndex index) const;  // the same for all pieces of a block
  uint64_t link_id(size_t message, BlockIndex index) const {   // of its first link
    return scroll_id(message, index) * 131 + 7 + (uint64_t{index.block} << 40);
  }
  ImVec2 content_origin(const VisibleRow& row, MessagePart part) const;
  const Theme& theme() const { return frame.look->theme; }
  float strip_button_height() const { return std::round(1.7f * em()); }
  float em() const { return layout.em(); }
  float pixels(float at_scale_1) const { return frame.look->sizes.width(at_scale_1); }

  TranscriptLayout layout;
  RowScroll scroll;
  Frame frame;

  uint64_t top_key = 0;
  size_t n_messages = 0;
  std::optional<TurnId> wanted_turn;
  bool wants_end = false, wants_start = false;
  float wanted_move = 0;  // pixels
  float wanted_pages = 0;

  TranscriptFind find;
  enum class FindWish { kNone, kFromHere, kShow } find_wish = FindWish::kNone;

  std::optional<KeyedPlace> anchor, head;  // of the selection
  bool selects = false;                    // the mouse is dragging it
  bool follows_again = false;              // the end, after that
  bool selected_anew = false;
  std::optional<MenuTarget> menu;
  std::map<uint64_t, float> code_scroll;  // pixels, by scroll_id

  uint64_t pressed = 0;  // the button that the mouse went down on
  float bar_grab = 0;    // of the scroll bar's thumb
  uint64_t copied = 0;   // the button that shows that it has copied
  double copied_until = 0;
  uint64_t highlit = 0;  // a message's key
  double highlit_since = 0;
  std::string link, tip;  // under the mouse: a link's target, what a button does
  ImVec2 tip_from, tip_to;
  bool animates = false;
  std::vector<Button> buttons;  // of this frame

  bool has_keyboard = false;
  std::vector<Target> targets;  // of the last frame, from top to bottom
  uint64_t target = 0;          // id of the current one
  uint64_t activated = 0;       // in this frame

  std::optional<uint64_t> edit, hovered_key;
  std::optional<size_t> hovered_token;
  uint64_t hovered_message = 0;                           // its footer is shown
  std::optional<size_t> toggled;                          // message to fold or unfold after its rows are drawn
  std::optional<std::pair<size_t, FoldId>> toggled_fold;  // of this message, likewise
};

}  // namespace warpchat::gui
