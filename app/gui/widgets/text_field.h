// A field to type into: any script, wrapped lines, selection, undo, the clipboard, the primary selection, a context
// menu. Only lines that are seen are laid out, so that a long paste costs what is visible.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/gui/widgets/edit_buffer.h"
#include "app/gui/widgets/ui.h"

namespace warpchat::gui {

struct FieldLook {
  std::string_view placeholder = {};
  bool multiline = false;
  bool enter_submits = true;  // else it is a new line
  bool secret = false;        // shown as stars, and never copied
  bool boxed = true;          // on a background of its own with a border
  Icon icon = Icon::kNone;    // at its start
  float text = 1;             // times the window's
};

struct FieldResult {
  bool changed = false, submitted = false;
};

class TextField {
 public:
  EditBuffer buffer;
  const std::string& text() const { return buffer.text(); }

  FieldResult draw(Ui& ui, std::string_view name, Rect rect, const FieldLook& look);
  float content_height(Ui& ui, float width, const FieldLook& look);  // of all lines in a field so wide

 private:
  struct Piece {  // of a line, or a line
    size_t begin, end;
    std::unique_ptr<TextLayout> layout;  // nullptr: not seen yet, or empty
    float y = 0, height = 0;
  };
  struct Point {
    float x, y;
  };
  void update(Ui& ui, float width, const FieldLook& look);
  std::vector<Piece> split(bool multiline) const;
  void place_pieces();
  void lay_out(Ui& ui, Piece& piece);
  Piece& piece_of(size_t offset);
  Point caret_point(Ui& ui, size_t offset);
  size_t offset_at(Ui& ui, Point point);
  Point point_of_mouse(Rect inner) const;
  FieldResult handle_keys(Ui& ui, const FieldLook& look);
  bool handle_key(Ui& ui, const KeyPress& key, const FieldLook& look, FieldResult& result);
  void handle_mouse(Ui& ui, const Response& response, Rect inner);
  void open_menu(Ui& ui, std::string_view name, ImVec2 at, const FieldLook& look);
  bool take_menu_choice(Ui& ui, std::string_view name, const FieldLook& look);
  void paste(std::string text, const FieldLook& look);
  void announce_selection(Ui& ui);
  void scroll_to_caret(Ui& ui, Rect inner);
  void draw_text(Ui& ui, Rect inner, bool focused, bool shows_selection, const FieldLook& look);
  float draw_composition(Ui& ui, Rect inner, Point caret, const FieldLook& look) const;

  std::vector<Piece> pieces_;
  std::string shown_;  // what pieces_ are of
  uint64_t shown_revision_ = ~uint64_t{0};
  float width_ = -1;
  TextStyle style_;
  uint32_t fonts_ = 0;  // revision of the fonts of pieces_
  float line_height_ = 0, text_height_ = 0;
  Point scroll_{0, 0};
  float wanted_x_ = -1;  // of the caret while it moves up and down
  uint64_t seen_revision_ = 0;
  size_t seen_caret_ = 0;
  bool selecting_ = false;
  std::string announced_;  // the primary selection, as far as it is this field's
};

}  // namespace warpchat::gui
