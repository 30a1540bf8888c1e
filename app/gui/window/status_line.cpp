// Left: the model and its device; right: numbers.
#include "app/gui/window/status_line.h"

#include <algorithm>

#include "app/gui/widgets/numbers.h"

namespace warpchat::gui {

namespace {

void append(std::string& text, const std::string& part) { text += (text.empty() ? "" : "  ·  ") + part; }

void draw_bar(Ui& ui, Rect& rect, double fraction) {
  const Rect bar = rect.cut_right(std::min(ui.px(160), rect.width / 3)).in_middle(ui.px(6));
  ui.fill(bar, ui.theme->border, ui.px(3));
  ui.fill({bar.x, bar.y, bar.width * static_cast<float>(std::clamp(fraction, 0.0, 1.0)), bar.height}, ui.theme->accent,
          ui.px(3));
  rect.cut_right(ui.px(10));
}

void draw_importing(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  const RunningImport& importing = *f.state.importing;
  const ButtonLook stop{.text = "Stop", .kind = ButtonKind::kGhost, .tooltip = "Stop the import (Esc)"};
  if (ui.button("stop_import", rect.cut_right(ui.button_width(stop)), stop)) f.actions.push(StopImport{});
  rect.cut_right(ui.px(10));
  draw_bar(ui, rect, importing.fraction);
  ui.label_in(rect,
              (importing.is_export ? "Exporting " : "Importing ") + importing.name + "  " +
                  fixed(importing.fraction * 100, 0) + "%",
              {ui.theme->dim_text, 0.82f});
}

void draw_loading(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  const LoadingModel& loading = *f.state.loading;
  const bool fetches = !loading.transfer.empty();
  const ButtonLook cancel{.text = fetches ? "Pause" : "Cancel", .kind = ButtonKind::kGhost};
  if (ui.button("cancel_loading", rect.cut_right(ui.button_width(cancel)), cancel)) f.actions.push(CancelLoading{});
  rect.cut_right(ui.px(10));
  if (!loading.is_server) draw_bar(ui, rect, loading.fraction);
  const std::string text = loading.waits       ? loading.name + " is ready and waits for the running answers"
                           : loading.is_server ? "Connecting to " + loading.name
                           : fetches           ? "Fetching " + loading.name + "  " + loading.transfer
                                     : "Loading " + loading.name + "  " + fixed(loading.fraction * 100, 0) + "%";
  ui.label_in(rect, text, {ui.theme->dim_text, 0.82f});
}

}  // namespace

std::string speed_text(const ChatState& state) {
  std::string text;
  if (state.open.phase == AnswerPhase::kPrompt && state.open.prompt_progress.total > 0)
    append(text, "reading " + compact(state.open.prompt_progress.done) + " of " +
                     compact(state.open.prompt_progress.total) + " tokens");
  if (state.open.phase == AnswerPhase::kAnswer) {
    if (state.open.tokens_per_second > 0) append(text, fixed(state.open.tokens_per_second, 1) + " tokens/s");
    if (state.open.first_token_seconds > 0) append(text, "first token " + seconds_text(state.open.first_token_seconds));
  }
  return text;
}

void StatusLine::draw(Frame& f, Rect rect) const {
  Ui& ui = f.ui;
  ui.fill(rect, ui.theme->panel);
  ui.fill({rect.x, rect.y, rect.width, 1}, ui.theme->border);
  rect = rect.inset(ui.px(12), 0);
  if (!f.state.store_fault.empty()) {
    ui.icon(Icon::kWarning, rect.cut_left(ui.px(22)), ui.theme->error);
    ui.label_in(rect, "Conversations are not stored: " + f.state.store_fault, {ui.theme->error, 0.82f});
    return;
  }
  if (f.state.importing) return draw_importing(f, rect);
  if (f.state.loading) return draw_loading(f, rect);
  const TextLook dim{ui.theme->dim_text, 0.82f};
  const std::string speed = speed_text(f.state);
  if (!speed.empty())
    ui.label_in(rect.cut_right(std::min(ui.text_width(speed, dim) + ui.px(4), rect.width)), speed, dim);
  rect.cut_right(ui.px(16));
  ui.label_in(rect, f.state.model ? f.state.model->status : "No model is loaded", dim);
}

}  // namespace warpchat::gui
