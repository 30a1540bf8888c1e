// The box grows with its text to ten lines.
#include "app/gui/window/composer.h"

#include <algorithm>

#include "app/gui/window/numbers.h"

namespace warpchat::gui {

namespace {

constexpr float kMostLines = 10, kPadding = 12, kTools = 38, kChips = 34, kBanner = 30;
constexpr double kCountAfter = 0.15;  // seconds without a change

constexpr FieldLook kField{.placeholder = "Write a message", .multiline = true, .boxed = false};

// Of what was sent; of an answer it stands at that answer.
bool shows_refusal(const DeskState& state) {
  return state.refusal && state.refusal->tokens > 0 && state.refusal->message == 0;
}

}  // namespace

float Composer::height(Frame& f, float width) {
  Ui& ui = f.ui;
  const float line = ui.line_height({});
  const float text =
      std::clamp(field_.content_height(ui, width - ui.px(2 * kPadding + 2), kField), line, kMostLines * line);
  return text + ui.px(kPadding + kTools + 6) + ui.px(edited_ ? kBanner : 0) +
         ui.px(f.state.attachments.empty() ? 0 : kChips) + ui.px(shows_refusal(f.state) ? kBanner : 0);
}

void Composer::edit(const ChatMessage& message, Ui& ui) {
  if (!edited_) draft_ = field_.text();
  edited_ = message.key;
  field_.buffer.set(message.content);
  ui.set_focus("composer");
}

bool Composer::cancel_edit(Ui& ui) {
  if (!edited_) return false;
  edited_.reset();
  field_.buffer.set(std::exchange(draft_, ""));
  ui.set_focus("composer");
  return true;
}

bool Composer::can_send(const Frame& f) const {
  if (f.state.open.phase != AnswerPhase::kIdle || sent_) return false;
  const bool blank = field_.text().find_first_not_of(" \t\n") == std::string::npos;
  const bool answered = f.state.model || f.state.loading;  // a model that is being loaded answers once it is there
  return answered && (!blank || (!edited_ && !f.state.attachments.empty()));
}

void Composer::send(Frame& f) {
  if (!can_send(f)) return;
  sent_ = {field_.text(), f.state.taken_sends, f.state.refused_sends};
  if (edited_)
    f.actions.push(EditMessage{*edited_, field_.text()});
  else
    f.actions.push(Send{field_.text()});
}

// What was sent is the composer's until it is taken; what has been typed since then stays.
void Composer::follow_sent(const DeskState& state) {
  if (!sent_) return;
  if (state.taken_sends > sent_->n_taken) {
    const std::string& text = field_.text();
    const std::string typed_since = text.starts_with(sent_->text) ? text.substr(sent_->text.size()) : text;
    field_.buffer.set(edited_ ? std::exchange(draft_, "") : typed_since);
    edited_.reset();
    sent_.reset();
  } else if (state.refused_sends > sent_->n_refused) {
    sent_.reset();
  }
}

Composer::Draft Composer::put_away(const DeskState& state) {
  follow_sent(state);
  sent_.reset();
  Draft draft{.text = this->draft()};
  for (const ChatMessage& message : state.open.messages)
    if (edited_ == message.key) draft.edited = message.turn, draft.edit = field_.text();
  edited_.reset();
  draft_.clear();
  return draft;
}

void Composer::take_up(const Draft& draft, const DeskState& state) {
  field_.buffer.set(draft.text);
  for (const ChatMessage& message : state.open.messages) {
    if (draft.edited == 0 || message.turn != draft.edited) continue;
    draft_ = draft.text;
    edited_ = message.key;
    field_.buffer.set(draft.edit);
  }
}

void Composer::count_tokens(Frame& f) {
  const uint64_t revision = field_.buffer.revision();
  if (revision != changed_revision_) changed_revision_ = revision, changed_at_ = f.ui.now;
  if (revision == counted_revision_ || !f.state.model) return;
  const double rest = changed_at_ + kCountAfter - f.ui.now;
  if (rest > 0) return f.ui.wake_in(rest);
  counted_revision_ = revision;
  f.actions.push(CountTokens{field_.text(), revision});
}

void Composer::draw(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  follow_sent(f.state);
  const bool focused = ui.has_focus("composer");
  ui.fill(rect, ui.theme->background, ui.px(16));
  ui.outline(rect, focused ? with_alpha(ui.theme->accent, 0.8f) : ui.theme->border, ui.px(16), 1.2f);
  Rect inner = rect.inset(ui.px(kPadding), 0);
  if (draw_edit_banner(f, inner)) return;
  if (draw_refusal(f, inner)) return;
  if (!f.state.attachments.empty()) draw_attachments(f, inner.cut_top(ui.px(kChips)));
  inner.cut_top(ui.px(kPadding));
  const Rect tools = inner.cut_bottom(ui.px(kTools + 6));
  const FieldResult result = field_.draw(ui, "composer", inner, kField);
  if (result.submitted) send(f);
  draw_tools(f, tools);
  count_tokens(f);
}

bool Composer::draw_edit_banner(Frame& f, Rect& rect) {
  if (!edited_) return false;
  Ui& ui = f.ui;
  Rect banner = rect.cut_top(ui.px(kBanner));
  const Rect cancel = banner.cut_right(ui.px(30));
  ui.icon(Icon::kPen, banner.cut_left(ui.px(26)), ui.theme->accent);
  ui.label_in(banner, "Editing a message; the conversation goes on from here", {ui.theme->accent, 0.85f});
  return ui.button("edit_cancel", cancel, {.icon = Icon::kClose, .tooltip = "Keep it as it was (Esc)"}) &&
         cancel_edit(ui);
}

// Why it was not sent, and what would help. True: the choice was made.
bool Composer::draw_refusal(Frame& f, Rect& rect) {
  if (!shows_refusal(f.state)) return false;
  Ui& ui = f.ui;
  const RefusedPrompt& refusal = *f.state.refusal;
  Rect banner = rect.cut_top(ui.px(kBanner));
  const auto button = [&](const char* name, const std::string& text) {
    const ButtonLook look{.text = text, .kind = ButtonKind::kOutlined};
    const Rect place = banner.cut_right(ui.button_width(look)).in_middle(ui.px(kBanner - 4));
    banner.cut_right(ui.px(6));
    return ui.button(name, place, look);
  };
  const bool larger =
      refusal.larger_context > 0 && button("larger_context", "Context of " + compact(refusal.larger_context));
  const bool fewer = refusal.can_drop && button("fewer_turns", "Leave out the oldest");
  ui.icon(Icon::kWarning, banner.cut_left(ui.px(26)), ui.theme->error);
  ui.label_in(banner, compact(refusal.tokens) + " tokens, but the context holds " + compact(refusal.context),
              {ui.theme->error, 0.85f});
  if (larger) f.actions.push(LoadModel{.context = static_cast<int32_t>(refusal.larger_context)});
  if (fewer) f.actions.push(DropOldest{});
  if (larger || fewer) send(f);
  return larger || fewer;
}

void Composer::draw_attachments(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  rect.cut_top(ui.px(8));
  for (size_t i = 0; i < f.state.attachments.size(); ++i) {
    const Attachment& file = f.state.attachments[i];
    const std::string text = file.n_tokens > 0 ? file.name + "  " + compact(file.n_tokens) + " tokens" : file.name;
    const TextLook look{ui.theme->text, 0.82f};
    const float width = std::min(ui.text_width(text, look) + ui.px(62), ui.px(260));
    if (width > rect.width && i > 0) {
      ui.label_in(rect, "+" + std::to_string(f.state.attachments.size() - i), {ui.theme->dim_text, 0.82f});
      return;
    }
    Rect chip = rect.cut_left(width);
    rect.cut_left(ui.px(6));
    ui.fill(chip, ui.theme->raised, ui.px(8));
    const Rect close = chip.cut_right(ui.px(26));
    ui.icon(Icon::kFile, chip.cut_left(ui.px(28)), ui.theme->dim_text);
    ui.label_in(chip, text, look);
    if (ui.button("attachment:" + std::to_string(i), close, {.icon = Icon::kClose, .tooltip = "Remove"}))
      f.actions.push(DropAttachment{i});
  }
}

void Composer::draw_tools(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  rect.cut_bottom(ui.px(6));
  rect = rect.in_middle(ui.px(32));
  if (ui.button("attach", rect.cut_left(ui.px(32)), {.icon = Icon::kAttach, .tooltip = "Attach a text file (Ctrl+U)"}))
    f.commands.push_back(Command::kAttach);
  const Rect send_place = rect.cut_right(ui.px(36));
  rect.cut_right(ui.px(10));
  if (f.state.open.phase != AnswerPhase::kIdle) {
    if (ui.button("stop", send_place, {.icon = Icon::kStop, .kind = ButtonKind::kPrimary, .tooltip = "Stop (Esc)"}))
      f.actions.push(Stop{});
  } else if (ui.button("send", send_place,
                       {.icon = Icon::kSend,
                        .kind = ButtonKind::kPrimary,
                        .tooltip = "Send (Enter)",
                        .enabled = can_send(f)})) {
    send(f);
  }
  const TextLook dim{ui.theme->faint_text, 0.8f};
  if (!f.state.model) {
    ui.label_in(rect.inset(ui.px(6), 0),
                f.state.loading ? "The model is loading and will answer then" : "Choose a model to send", dim, 1);
    return;
  }
  size_t n_tokens = 0;
  for (const Attachment& file : f.state.attachments) n_tokens += file.n_tokens;
  const bool known = f.state.counted_revision == field_.buffer.revision();
  if (!field_.text().empty() && known) n_tokens += f.state.counted_tokens;
  const double share = static_cast<double>(f.state.open.context_used + n_tokens) / std::max(f.state.model->context, 1u);
  Rect meter = rect.cut_right(ui.px(64)).in_middle(ui.px(4));
  ui.fill(meter, ui.theme->raised, ui.px(2));
  meter.width *= static_cast<float>(std::clamp(share, 0.0, 1.0));
  ui.fill(meter, share > 0.9 ? ui.theme->error : share > 0.75 ? ui.theme->warning : ui.theme->accent, ui.px(2));
  rect.cut_right(ui.px(8));
  std::string text = compact(f.state.open.context_used) + " of " + compact(f.state.model->context);
  if (n_tokens > 0) text = compact(n_tokens) + " tokens  ·  " + text;
  ui.label_in(rect.inset(ui.px(6), 0), text, dim, 1);
}

}  // namespace warpchat::gui
