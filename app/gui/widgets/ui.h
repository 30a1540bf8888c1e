// Drawing for panels: input and focus of the frame, text of any script, and the window's few widgets. Based on ImGui's
// windows, pointer and triangles. Positions are pixels of the window.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "app/gui/text/text_engine.h"
#include "app/gui/theme.h"
#include "app/gui/widgets/icons.h"
#include "app/gui/widgets/input.h"
#include "app/gui/widgets/rect.h"

namespace warpchat::gui {

struct TextLook {
  Colour colour = 0;
  float size = 1;  // times the window's
  Face face = Face::kText;
};

struct Response {
  Rect rect = {};
  bool hovered = false, held = false, clicked = false, double_clicked = false, right_clicked = false,
       middle_clicked = false, focused = false;
  ImVec2 menu_at = {0, 0};  // where a menu opens: below the pointer, or below the widget for a key
};

enum class Keys {  // what an area does with the keyboard
  kNone,           // Tab passes it by
  kActivate,       // Enter and Space click it
  kOwn,            // it reads keys itself
};

enum class ButtonKind {
  kGhost,     // nothing but its text until hovered
  kOutlined,  // a border
  kPrimary,   // filled with the accent
  kChosen,    // one of several that is on
};

struct ButtonLook {
  std::string_view text = {};
  Icon icon = Icon::kNone;
  bool has_icon_room = false;  // also without an icon, so that texts below each other begin alike
  ButtonKind kind = ButtonKind::kGhost;
  std::string_view tooltip = {};
  bool enabled = true;
  bool left_aligned = false;
  bool danger = false;
};

struct MenuItem {
  std::string_view name, text;  // outlive the menu
  Icon icon = Icon::kNone;
  std::string_view keys = {};  // that do the same
  bool enabled = true, danger = false;
};

class Ui {
 public:
  explicit Ui(TextEngine& text) : text_engine_(text) {}

  const Theme* theme = &light_theme();
  Sizes sizes;
  float px(float at_scale_1) const { return sizes.width(at_scale_1); }
  double now = 0;                      // seconds
  std::function<std::string()> paste;  // the clipboard
  std::function<void(const std::string&)> copy;
  std::function<std::string()> paste_selection;    // the primary selection, where there is one
  std::function<void(const std::string&)> select;  // what is selected now
  std::string composition;                         // text that the input method composes, shown at the caret
  Rect caret;                                      // of the field with the focus in this frame
  bool names_wanted = false;                       // keep marks

  // The frame.
  void begin_frame(std::vector<InputEvent> events, double seconds);
  void end_frame();
  void wake_in(double seconds) { wake_ = std::min(wake_, seconds); }  // a frame is needed then
  double wake() const { return wake_; }

  // Keys and typed text of the widget that has the focus, in order; what it does not use others may.
  std::vector<InputEvent>& keys() { return keys_; }
  bool take_key(int key, int mods = 0);  // whether it is among them; removes it
  bool take_menu_key();                  // that opens the menu of what has the focus

  // Focus, by name. A widget is in the order of Tab by being drawn.
  const std::string& focus() const { return focus_; }
  void set_focus(std::string name) { focus_ = std::move(name), focus_moved_ = true; }
  bool focus_is_visible() const { return focus_visible_; }  // moved by the keyboard
  bool has_focus(std::string_view name) const { return focus_ == name; }
  void add_to_tab_order(std::string_view name);
  void move_focus(int steps);
  bool focus_is_lost() const { return focus_lost_; }  // the last frame did not draw what has it
  bool focus_is_field() const { return focus_is_field_; }
  void note_field_has_focus() { field_seen_ = true; }
  // While a panel is open, only its own widgets are in the order of Tab.
  void confine_focus() { tab_order_.clear(); }

  // Names of what can be clicked, for tests that drive the window.
  struct Mark {
    std::string name;
    Rect rect;
  };
  const std::vector<Mark>& marks() const { return marks_; }
  void mark(std::string_view name, Rect rect);

  // Text on one line, elided to `width`; returns its width. y: the top of the line.
  float label(ImVec2 at, std::string_view text, const TextLook& look, float width = 1e6f);
  float label_in(Rect rect, std::string_view text, const TextLook& look, float align = 0);  // centred vertically
  void heading_in(Rect rect, std::string_view text);  // of a field, or of some rows
  float text_width(std::string_view text, const TextLook& look);
  float line_height(const TextLook& look);
  // Text on several lines; returns its height. draw: false only measures.
  float paragraph(ImVec2 at, std::string_view text, const TextLook& look, float width, bool draw = true);
  TextEngine& text_engine() { return text_engine_; }
  TextStyle style_of(const TextLook& look) const;

  // Widgets.
  Response press(std::string_view name, Rect rect, Keys keys = Keys::kActivate);  // an area that can be clicked
  bool button(std::string_view name, Rect rect, const ButtonLook& look);
  float button_width(const ButtonLook& look);
  bool toggle(std::string_view name, Rect rect, std::string_view text, bool on);  // returns whether it was switched
  bool slider(std::string_view name, Rect rect, float& value, float from, float to, float step);
  void tooltip(std::string_view text, const Response& response);
  Response menu_dots(std::string_view name, Rect rect, std::string_view tip);  // three, of a row that has a menu

  enum class Removal { kOpen, kKeep, kRemove };
  // In place of a row, with a button for each answer; open: there is none yet.
  Removal ask_removal(Rect row, std::string_view question, std::string_view keep_name, std::string_view remove_name);

  // The context menu; Esc, a click elsewhere or a choice closes it. owner: a name; only this owner can read the choice.
  void open_menu(std::string_view owner, ImVec2 at, std::vector<MenuItem> items);
  std::string take_menu_choice(std::string_view owner);  // an item's name; empty: none
  void draw_menu();                                      // over everything else
  bool menu_is_open() const { return menu_.is_open; }
  bool menu_is_open_for(std::string_view owner) const { return menu_.is_open && menu_.owner == owner; }
  bool close_menu();  // whether it was open

  // Shapes.
  void fill(Rect rect, Colour colour, float rounding = 0);
  void outline(Rect rect, Colour colour, float rounding = 0, float thickness = 1);
  void shadow(Rect rect, float rounding);
  void focus_ring(Rect rect, float rounding);
  void icon(Icon what, Rect rect, Colour colour);

 private:
  struct Drawn {
    std::unique_ptr<TextLayout> layout;
    uint64_t used;
  };
  struct Menu {
    std::string owner = {}, chosen = {}, focus_before = {};
    std::vector<MenuItem> items = {};
    ImVec2 at = {0, 0};
    bool is_open = false, just_opened = false;
  };
  void scroll_to(Rect rect);
  const TextLayout& layout_of(std::string_view text, const TextLook& look, float width);
  const std::string& elided(std::string_view text, const TextLook& look, float width);

  TextEngine& text_engine_;
  std::unordered_map<std::string, Drawn> layouts_;
  std::unordered_map<std::string, std::string> elided_;
  uint64_t frame_ = 0;
  uint32_t fonts_ = 0;  // revision of the kept layouts
  std::vector<InputEvent> keys_;
  std::string focus_;
  bool focus_lost_ = false, focus_is_field_ = false, field_seen_ = false;
  bool focus_moved_ = false;    // what has it is not scrolled to yet
  bool focus_visible_ = false;  // moved by the keyboard
  std::vector<std::string> tab_order_;
  std::vector<Mark> marks_;
  double wake_ = 1e9;
  Menu menu_;
  std::string tooltip_name_;
  double hovered_since_ = 0;
};

// Below what it is about, or above it; over everything.
void draw_tooltip(const TextLayout& text, Rect about, const Theme& theme, const Sizes& sizes);

Colour with_alpha(Colour colour, float alpha);

// An undecorated ImGui window at a place; the destructor ends it.
class Surface {
 public:
  enum class Kind { kBase, kOverlay, kPassive };  // passive: the pointer goes through it
  Surface(const char* name, Rect rect, Kind kind);
  ~Surface();
  Surface(const Surface&) = delete;
};

// A part of the current window that scrolls by itself.
class ScrollArea {
 public:
  ScrollArea(const char* name, Rect rect, bool scrollbar = true);
  ~ScrollArea();
  ScrollArea(const ScrollArea&) = delete;
  void set_content_height(float height);  // what there is to scroll through
  float scroll_y() const;
  void show(float y, float height);  // scrolls so that this part of the content is seen
  bool sees(Rect rect) const;
  float width() const;  // beside the scroll bar, where there is one

 private:
  Rect rect_;
};

}  // namespace warpchat::gui
