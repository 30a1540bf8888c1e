#include "app/gui/window/find_bar.h"

#include <GLFW/glfw3.h>

#include <algorithm>

namespace warpchat::gui {

namespace {

constexpr float kBarHeight = 44, kFieldWidth = 280;  // at scale 1

}  // namespace

void FindBar::open(Ui& ui, TranscriptView& transcript) {
  is_open_ = true;
  field_.buffer.select_all();
  ui.set_focus("find");
  transcript.find(field_.text());
}

void FindBar::show(const std::string& words, TranscriptView& transcript) {
  is_open_ = true;
  field_.buffer.set(words);
  transcript.find(words, /*or_each=*/true);
}

bool FindBar::close(TranscriptView& transcript) {
  if (!is_open_) return false;
  is_open_ = false;
  transcript.find("");
  return true;
}

void FindBar::step(TranscriptView& transcript, int steps) const {
  if (is_open_) transcript.find_next(steps);
}

void FindBar::draw(Frame& f, Rect& rect, TranscriptView& transcript) {
  if (!is_open_) return;
  Ui& ui = f.ui;
  Rect row = rect.cut_top(ui.px(kBarHeight));
  ui.fill({row.x, row.bottom() - 1, row.width, 1}, ui.theme->border);
  row = row.inset(ui.px(10), 0);
  const Rect close_place = row.cut_right(ui.px(32)).in_middle(ui.px(32));
  const Rect next = row.cut_right(ui.px(32)).in_middle(ui.px(32)),
             before = row.cut_right(ui.px(32)).in_middle(ui.px(32));
  const TranscriptView::Found found = transcript.found();
  std::string count = std::to_string(found.at) + " / " + std::to_string(found.n);
  if (field_.text().empty()) count = "";
  const TextLook dim{found.n == 0 ? ui.theme->error : ui.theme->dim_text, 0.85f};
  const float wide = std::max(ui.px(72), ui.text_width(count, dim) + ui.px(17));
  ui.label_in(row.cut_right(wide).inset(ui.px(8), 0), count, dim, 1);
  const Rect place = row.cut_right(std::min(ui.px(kFieldWidth), row.width)).in_middle(ui.px(32));
  if (ui.has_focus("find")) {
    if (ui.take_key(GLFW_KEY_ENTER, GLFW_MOD_SHIFT) || ui.take_key(GLFW_KEY_UP)) step(transcript, -1);
    if (ui.take_key(GLFW_KEY_DOWN)) step(transcript, 1);
  }
  const FieldResult result =
      field_.draw(ui, "find", place, {.placeholder = "Find in this conversation", .icon = Icon::kSearch, .text = 0.9f});
  if (result.changed) transcript.find(field_.text());
  if (result.submitted) step(transcript, 1);
  const bool some = found.n > 0;
  if (ui.button("find_before", before, {.icon = Icon::kUp, .tooltip = "Previous (Shift+Enter)", .enabled = some}))
    step(transcript, -1);
  if (ui.button("find_next", next, {.icon = Icon::kDown, .tooltip = "Next (Enter)", .enabled = some}))
    step(transcript, 1);
  if (!ui.button("find_close", close_place, {.icon = Icon::kClose, .tooltip = "Close (Esc)"})) return;
  close(transcript);
  ui.set_focus("composer");
}

}  // namespace warpchat::gui
