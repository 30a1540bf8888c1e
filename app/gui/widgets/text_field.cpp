// The text is cut into pieces, each a line or 4 KB of one, with a layout each; an edit keeps those around it.
#include "app/gui/widgets/text_field.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <cmath>

#include "models/utf8.h"

namespace warpchat::gui {

namespace {

constexpr size_t kPieceBytes = 4096;

// Where a piece of a long line ends: after the last space, else between characters.
size_t piece_end(const std::string& text, size_t begin, size_t line_end) {
  if (line_end - begin <= kPieceBytes) return line_end;
  size_t end = begin + kPieceBytes;
  if (const size_t space = text.rfind(' ', end); space != std::string::npos && space > begin + kPieceBytes / 2)
    return space + 1;
  return character_start(text, end);
}

}  // namespace

std::vector<TextField::Piece> TextField::split(bool multiline) const {
  std::vector<Piece> pieces;
  const std::string& text = buffer.text();
  for (size_t begin = 0;;) {
    const size_t line_end = multiline ? buffer.line_end(begin) : text.size();
    do {
      const size_t end = multiline ? piece_end(text, begin, line_end) : line_end;
      pieces.push_back({begin, end, nullptr, 0, 0});
      begin = end;
    } while (begin < line_end);
    if (line_end == text.size()) return pieces;
    begin = line_end + 1;
  }
}

void TextField::update(Ui& ui, float width, const FieldLook& look) {
  const TextStyle style = ui.style_of({.colour = ui.theme->text, .size = look.text});
  const uint32_t fonts = ui.text_engine().fonts_revision();
  const bool same_look =
      width == width_ && style.size == style_.size && style.colour == style_.colour && fonts == fonts_;
  if (same_look && shown_revision_ == buffer.revision()) return;
  const std::string stars(look.secret ? buffer.text().size() : 0, '*');
  const std::string& text = look.secret ? stars : buffer.text();
  std::vector<Piece> old = std::move(pieces_);
  pieces_ = split(look.multiline);
  style_ = style, fonts_ = fonts, width_ = width, line_height_ = ui.text_engine().line_height(style);
  if (same_look) {
    const size_t both = std::min(text.size(), shown_.size());
    const size_t before = static_cast<size_t>(
        std::mismatch(text.begin(), text.begin() + static_cast<ptrdiff_t>(both), shown_.begin()).first - text.begin());
    size_t after = 0;
    while (after < both - before && text[text.size() - 1 - after] == shown_[shown_.size() - 1 - after]) ++after;
    for (size_t i = 0; i < std::min(old.size(), pieces_.size()); ++i) {
      if (old[i].end > before || old[i].begin != pieces_[i].begin || old[i].end != pieces_[i].end) break;
      pieces_[i].layout = std::move(old[i].layout), pieces_[i].height = old[i].height;
    }
    for (size_t i = 1; i <= std::min(old.size(), pieces_.size()); ++i) {
      Piece &from = old[old.size() - i], &to = pieces_[pieces_.size() - i];
      const bool same_place =
          shown_.size() - from.begin == text.size() - to.begin && shown_.size() - from.end == text.size() - to.end;
      if (!same_place || shown_.size() - from.begin > after || to.layout) break;
      to.layout = std::move(from.layout), to.height = from.height;
    }
  }
  shown_ = text;
  shown_revision_ = buffer.revision();
  place_pieces();
}

void TextField::place_pieces() {
  float y = 0;
  for (Piece& piece : pieces_) {
    if (piece.height == 0) {
      const float letters = static_cast<float>(piece.end - piece.begin) * style_.size * 0.5f;
      piece.height = line_height_ * (width_ > 0 ? std::max(std::ceil(letters / width_), 1.0f) : 1.0f);
    }
    piece.y = y;
    y += piece.height;
  }
  text_height_ = y;
}

void TextField::lay_out(Ui& ui, Piece& piece) {
  if (piece.layout || piece.begin == piece.end) return;
  StyledText text{shown_.substr(piece.begin, piece.end - piece.begin), {}};
  text.runs.push_back({0, text.text.size(), style_});
  piece.layout = ui.text_engine().layout(text, width_);
  if (piece.layout->height() == piece.height) return;
  piece.height = piece.layout->height();
  place_pieces();
}

TextField::Piece& TextField::piece_of(size_t offset) {
  const auto after = std::upper_bound(pieces_.begin(), pieces_.end(), offset,
                                      [](size_t at, const Piece& piece) { return at < piece.begin; });
  return *std::prev(after);
}

TextField::Point TextField::caret_point(Ui& ui, size_t offset) {
  Piece& piece = piece_of(offset);
  lay_out(ui, piece);
  if (!piece.layout) return {0, piece.y};
  const size_t at = offset - piece.begin, size = piece.end - piece.begin;
  if (at < size) {
    const auto rects = piece.layout->selection(at, std::min(at + 1, size));
    if (!rects.empty() && rects.front().width > 0) return {rects.front().x, piece.y + rects.front().y};
  }
  if (at == 0) return {0, piece.y};
  size_t before = at - 1;
  while (before > 0 && continues_character(shown_[piece.begin + before])) --before;
  const auto rects = piece.layout->selection(before, at);
  if (rects.empty()) return {piece.layout->width(), piece.y};
  return {rects.back().x + rects.back().width, piece.y + rects.back().y};
}

size_t TextField::offset_at(Ui& ui, Point point) {
  size_t at = 0;
  while (at + 1 < pieces_.size() && point.y >= pieces_[at].y + pieces_[at].height) ++at;
  Piece& piece = pieces_[at];
  lay_out(ui, piece);
  if (!piece.layout) return piece.begin;
  return piece.begin + piece.layout->offset_at(point.x, std::max(point.y - piece.y, 0.0f));
}

float TextField::content_height(Ui& ui, float width, const FieldLook& look) {
  update(ui, width, look);
  for (size_t i = 0; i < std::min<size_t>(pieces_.size(), 16); ++i) lay_out(ui, pieces_[i]);
  return text_height_;
}

bool TextField::handle_key(Ui& ui, const KeyPress& key, const FieldLook& look, FieldResult& result) {
  const bool shift = key.mods & GLFW_MOD_SHIFT, control = key.mods & GLFW_MOD_CONTROL;
  if (key.mods & (GLFW_MOD_ALT | GLFW_MOD_SUPER)) return false;
  const size_t caret = buffer.caret();
  const auto vertically = [&](float lines) {
    const Point at = caret_point(ui, caret);
    if (wanted_x_ < 0) wanted_x_ = at.x;
    const float y = at.y + lines * line_height_ + line_height_ / 2;
    buffer.move_to(y < 0 ? 0 : y > text_height_ ? buffer.text().size() : offset_at(ui, {wanted_x_, y}), shift);
  };
  const float keep_x = wanted_x_;
  wanted_x_ = -1;
  switch (key.key) {
    case GLFW_KEY_LEFT:
      buffer.move_left(control, shift);
      return true;
    case GLFW_KEY_RIGHT:
      buffer.move_right(control, shift);
      return true;
    case GLFW_KEY_HOME:
      if (control && buffer.text().empty()) return false;  // the conversation scrolls
      buffer.move_to(control ? 0 : buffer.line_begin(caret), shift);
      return true;
    case GLFW_KEY_END:
      if (control && buffer.text().empty()) return false;
      buffer.move_to(control ? buffer.text().size() : buffer.line_end(caret), shift);
      return true;
    case GLFW_KEY_UP:
    case GLFW_KEY_DOWN:
      if (!look.multiline || control) return false;
      wanted_x_ = keep_x;
      vertically(key.key == GLFW_KEY_UP ? -1.0f : 1.0f);
      return true;
    case GLFW_KEY_BACKSPACE:
      buffer.erase_left(control);
      return true;
    case GLFW_KEY_DELETE:
      if (shift && buffer.has_selection() && !look.secret) ui.copy(std::string(buffer.selected()));
      buffer.erase_right(control);
      return true;
    case GLFW_KEY_ENTER:
    case GLFW_KEY_KP_ENTER:
      if (control) return false;
      if (look.multiline && (shift || !look.enter_submits))
        buffer.insert("\n");
      else
        result.submitted = true;
      return true;
    default:
      break;
  }
  if (key.key == GLFW_KEY_INSERT && shift) return paste(ui.paste(), look), true;
  if (!control) return false;
  switch (key.key) {
    case GLFW_KEY_A:
      if (buffer.text().empty() && look.multiline && look.enter_submits) return false;  // the conversation's text
      buffer.select_all();
      return true;
    case GLFW_KEY_V:
      paste(ui.paste(), look);
      return true;
    case GLFW_KEY_Z:
      shift ? buffer.redo() : buffer.undo();
      return true;
    case GLFW_KEY_Y:
      buffer.redo();
      return true;
    case GLFW_KEY_C:
    case GLFW_KEY_X:
      if (!buffer.has_selection() || shift || look.secret) return false;
      ui.copy(std::string(buffer.selected()));
      if (key.key == GLFW_KEY_X) buffer.erase_selection();
      return true;
    default:
      return false;
  }
}

void TextField::paste(std::string text, const FieldLook& look) {
  if (!look.multiline)
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  buffer.insert(text);
}

void TextField::open_menu(Ui& ui, std::string_view name, ImVec2 at, const FieldLook& look) {
  const bool some = buffer.has_selection() && !look.secret;
  ui.set_focus(std::string(name));
  ui.open_menu(name, at,
               {{"menu_cut", "Cut", Icon::kNone, "Ctrl+X", some},
                {"menu_copy", "Copy", Icon::kNone, "Ctrl+C", some},
                {"menu_paste", "Paste", Icon::kNone, "Ctrl+V"},
                {"menu_select_all", "Select all", Icon::kNone, "Ctrl+A", !buffer.text().empty()},
                {"menu_undo", "Undo", Icon::kNone, "Ctrl+Z", buffer.can_undo()}});
}

// Returns whether the text has changed.
bool TextField::take_menu_choice(Ui& ui, std::string_view name, const FieldLook& look) {
  const std::string chosen = ui.take_menu_choice(name);
  if (chosen.empty()) return false;
  const uint64_t before = buffer.revision();
  if (chosen == "menu_cut" || chosen == "menu_copy") ui.copy(std::string(buffer.selected()));
  if (chosen == "menu_cut") buffer.erase_selection();
  if (chosen == "menu_paste") paste(ui.paste(), look);
  if (chosen == "menu_select_all") buffer.select_all();
  if (chosen == "menu_undo") buffer.undo();
  return buffer.revision() != before;
}

// Once the pointer has let go.
void TextField::announce_selection(Ui& ui) {
  if (selecting_ || buffer.selected() == announced_) return;
  announced_ = buffer.selected();
  if (!announced_.empty()) ui.select(announced_);
}

FieldResult TextField::handle_keys(Ui& ui, const FieldLook& look) {
  FieldResult result;
  const uint64_t before = buffer.revision();
  std::erase_if(ui.keys(), [&](const InputEvent& event) {
    if (result.submitted) return false;
    if (const auto* typed = std::get_if<TypedText>(&event)) {
      buffer.insert(typed->utf8);
      wanted_x_ = -1;
      return true;
    }
    const auto* key = std::get_if<KeyPress>(&event);
    if (!key) return false;
    const bool used = handle_key(ui, *key, look, result);
    update(ui, width_, look);
    return used;
  });
  result.changed = buffer.revision() != before;
  return result;
}

TextField::Point TextField::point_of_mouse(Rect inner) const {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  return {mouse.x - inner.x + scroll_.x, mouse.y - inner.y + scroll_.y};
}

void TextField::handle_mouse(Ui& ui, const Response& response, Rect inner) {
  const ImGuiIO& io = ImGui::GetIO();
  if (response.hovered) {
    ImGui::SetMouseCursor(ImGuiMouseCursor_TextInput);
    if (io.MouseWheel != 0 && text_height_ > inner.height) scroll_.y -= io.MouseWheel * line_height_ * 3;
  }
  if (!response.held) return void(selecting_ = false);
  const size_t at = offset_at(ui, point_of_mouse(inner));
  if (ImGui::IsMouseDoubleClicked(0)) {
    Piece& piece = piece_of(at);
    if (piece.layout)
      buffer.select(piece.begin + piece.layout->word_begin(at - piece.begin),
                    piece.begin + piece.layout->word_end(at - piece.begin));
    return;
  }
  if (!selecting_)
    buffer.move_to(at, io.KeyShift);
  else if (ImGui::IsMouseDragging(0, 3))
    buffer.move_to(at, /*select=*/true);
  selecting_ = true;
  wanted_x_ = -1;
}

void TextField::scroll_to_caret(Ui& ui, Rect inner) {
  const bool moved = seen_revision_ != buffer.revision() || seen_caret_ != buffer.caret();
  seen_revision_ = buffer.revision(), seen_caret_ = buffer.caret();
  if (moved) {
    const Point caret = caret_point(ui, buffer.caret());
    scroll_.y = std::clamp(scroll_.y, caret.y + line_height_ - inner.height, caret.y);
    const float room = std::max(inner.width - ui.px(2), 1.0f);
    if (width_ <= 0) scroll_.x = std::clamp(scroll_.x, caret.x - room, std::max(caret.x - ui.px(20), 0.0f));
  }
  scroll_.y = std::clamp(scroll_.y, 0.0f, std::max(text_height_ - inner.height, 0.0f));
  scroll_.x = width_ > 0 ? 0 : std::max(scroll_.x, 0.0f);
}

// Over the text that follows, underlined, whole if there is room. Returns its end.
float TextField::draw_composition(Ui& ui, Rect inner, Point caret, const FieldLook& look) const {
  const TextLook text{.colour = ui.theme->text, .size = look.text};
  const float width = ui.text_width(ui.composition, text);
  const float x = std::max(inner.x, std::min(caret.x, inner.right() - width - ui.px(2)));
  ui.fill({x, caret.y, width, line_height_}, ui.theme->background);
  ui.label({x, caret.y}, ui.composition, text);
  ui.fill({x, caret.y + line_height_ - ui.px(1.5f), width, ui.px(1.5f)}, ui.theme->accent);
  return x + width;
}

void TextField::draw_text(Ui& ui, Rect inner, bool focused, bool shows_selection, const FieldLook& look) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const auto [begin, end] = buffer.selection();
  list.PushClipRect(inner.corner(), inner.end(), true);
  for (size_t i = 0; i < pieces_.size(); ++i) {
    Piece& piece = pieces_[i];
    if (piece.y + piece.height < scroll_.y) continue;
    if (piece.y > scroll_.y + inner.height) break;
    lay_out(ui, piece);
    const ImVec2 at{std::floor(inner.x - scroll_.x), std::floor(inner.y + piece.y - scroll_.y)};
    if (!piece.layout) continue;
    if (shows_selection && begin < end && begin < piece.end && end > piece.begin)
      for (const TextRect& r :
           piece.layout->selection(std::max(begin, piece.begin) - piece.begin, std::min(end, piece.end) - piece.begin))
        ui.fill({at.x + r.x, at.y + r.y, r.width, r.height}, ui.theme->selection);
    piece.layout->draw(list, at, inner.y, inner.bottom());
  }
  if (focused) {
    const Point caret = caret_point(ui, buffer.caret());
    float x = std::floor(inner.x + caret.x - scroll_.x);
    const float y = inner.y + caret.y - scroll_.y;
    ui.caret = {x, y, ui.px(1), line_height_};  // candidates open below the beginning of what is composed
    if (!ui.composition.empty() && !look.secret) x = draw_composition(ui, inner, {x, y}, look);
    ui.fill({x, y + line_height_ * 0.08f, std::max(std::round(ui.px(1.6f)), 1.0f), line_height_ * 0.84f},
            ui.theme->accent);
  }
  list.PopClipRect();
}

FieldResult TextField::draw(Ui& ui, std::string_view name, Rect rect, const FieldLook& look) {
  const Response response = ui.press(name, rect, Keys::kOwn);
  if (response.held) ui.set_focus(std::string(name));
  const bool focused = ui.has_focus(name);
  const bool shows_selection = focused || ui.menu_is_open_for(name);
  Rect inner = rect;
  if (look.boxed) {
    ui.fill(rect, ui.theme->background, ui.px(8));
    ui.outline(rect, focused ? ui.theme->accent : ui.theme->border, ui.px(8), focused ? 1.5f : 1.0f);
    inner = rect.inset(ui.px(10), look.multiline ? ui.px(7) : 0);
  }
  if (look.icon != Icon::kNone) ui.icon(look.icon, inner.cut_left(ui.px(24)), ui.theme->faint_text);
  update(ui, look.multiline ? std::max(inner.width - ui.px(2), 1.0f) : 0.0f, look);
  if (!look.multiline) inner = inner.in_middle(line_height_);
  FieldResult result;
  if (focused) {
    ui.note_field_has_focus();
    result = handle_keys(ui, look);
  }
  if (take_menu_choice(ui, name, look)) result.changed = true;
  update(ui, width_, look);
  if (response.right_clicked) open_menu(ui, name, response.menu_at, look);
  if (response.middle_clicked) {
    ui.set_focus(std::string(name));
    buffer.move_to(offset_at(ui, point_of_mouse(inner)), /*select=*/false);
    paste(ui.paste_selection(), look);
    result.changed = true;
    update(ui, width_, look);
  }
  handle_mouse(ui, response, inner);
  if (focused && !look.secret) announce_selection(ui);
  scroll_to_caret(ui, inner);
  const ImVec2 start{inner.x + ui.px(3), inner.y};  // beside the caret
  const bool shows_placeholder = buffer.text().empty() && (!focused || ui.composition.empty());
  if (shows_placeholder && look.multiline)
    ui.paragraph(start, look.placeholder, {ui.theme->faint_text, look.text}, inner.width);
  else if (shows_placeholder)
    ui.label(start, look.placeholder, {ui.theme->faint_text, look.text}, inner.width);
  draw_text(ui, inner, focused, shows_selection, look);
  if (text_height_ > inner.height + 1 && look.multiline) {
    const float shown = inner.height / text_height_;
    const Rect bar{rect.right() - ui.px(5), inner.y + scroll_.y * shown, ui.px(3),
                   std::max(inner.height * shown, ui.px(16))};
    ui.fill(bar, ui.theme->border, ui.px(2));
  }
  return result;
}

}  // namespace warpchat::gui
