// The box grows with its text to ten lines.
#include "app/gui/window/composer.h"

#include <algorithm>

#include "app/gui/widgets/elide.h"
#include "app/gui/widgets/numbers.h"
#include "app/gui/window/start_screen.h"
#include "models/human_bytes.h"

namespace warpchat::gui {

namespace {

constexpr float kMaxLines = 10, kPadding = 12, kTools = 38, kChip = 28, kChipGap = 6, kBanner = 30;
constexpr float kIcon = 26, kName = 190, kMaxChipRows = 2, kMeter = 220;
constexpr double kCountAfter = 0.15;  // seconds without a change

constexpr FieldLook kField{.placeholder = "Write a message", .multiline = true, .boxed = false};

// Only refusals of a new message; those of an answer are shown at that answer.
bool shows_refusal(const ChatState& state) {
  return state.refusal && state.refusal->tokens > 0 && state.refusal->message == 0;
}

struct ChipText {
  std::string name, figures;
  float name_width, width;
};

constexpr float kChipText = 0.82f;

ChipText chip_text(Ui& ui, const Attachment& file, float max) {
  const TextLook name{ui.theme->text, kChipText}, figures{ui.theme->dim_text, kChipText};
  ChipText chip;
  chip.figures = !file.is_read       ? "reading …"
                 : file.n_tokens > 0 ? human_bytes(file.bytes) + " · " + compact(file.n_tokens) + " tokens"
                                     : human_bytes(file.bytes);
  const float beside = ui.px(2 * kIcon + 6) + ui.text_width(chip.figures, figures) + ui.px(8);
  const auto measure = [&](std::string_view text) { return ui.text_width(text, name); };
  chip.name = elide_middle(file.name, std::max(std::min(ui.px(kName), max - beside), 0.0f), measure);
  chip.name_width = measure(chip.name);
  chip.width = std::min(chip.name_width + beside, max);
  return chip;
}

}  // namespace

float Composer::height(Frame& f, float width) {
  Ui& ui = f.ui;
  const float line = ui.line_height({});
  const float text =
      std::clamp(field_.content_height(ui, width - ui.px(2 * kPadding + 2), kField), line, kMaxLines * line);
  return text + ui.px(kPadding + kTools + 6) + ui.px(edited_ ? kBanner : 0) +
         chips_height(f, width - ui.px(2 * kPadding)) + ui.px(too_long(f.state) ? kBanner : 0);
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

void Composer::add_line(Ui& ui) { insert("\n", ui); }

void Composer::insert(std::string_view text, Ui& ui) {
  field_.buffer.insert(text);
  ui.set_focus("composer");
}

void Composer::begin_with(std::string_view prompt, Ui& ui) {
  field_.buffer.set(with_starter(prompt, field_.text()));
  ui.set_focus("composer");
}

bool Composer::can_send(const Frame& f) const {
  if (f.state.open.phase != AnswerPhase::kIdle || sent_) return false;
  const bool blank = field_.text().find_first_not_of(" \t\n") == std::string::npos;
  const bool is_read = std::ranges::all_of(f.state.attachments, [](const Attachment& file) { return file.is_read; });
  const bool answered = f.state.model || f.state.loading;  // also true while a model is being loaded
  return answered && (is_read || edited_) && (!blank || (!edited_ && !f.state.attachments.empty()));
}

void Composer::send(Frame& f) {
  const bool lacks_model = !f.state.model && !f.state.loading;
  if (lacks_model && !field_.text().empty()) return f.commands.push_back(Command::kModels);
  if (!can_send(f)) return;
  sent_ = {field_.text(), f.state.taken_sends, f.state.refused_sends};
  if (edited_)
    f.actions.push(EditMessage{*edited_, field_.text()});
  else
    f.actions.push(Send{field_.text()});
}

// The composer keeps a sent text until it is accepted; text typed since then stays.
void Composer::follow_sent(const ChatState& state) {
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

std::vector<std::string> Composer::paths_of(const std::vector<Attachment>& attached) {
  std::vector<std::string> paths;
  for (const Attachment& file : attached)
    if (!file.path.empty()) paths.push_back(file.path);
  return paths;
}

Composer::Draft Composer::put_away(const ChatState& state) {
  follow_sent(state);
  sent_.reset();
  Draft draft{.text = this->draft(), .files = paths_of(state.attachments)};
  for (const ChatMessage& message : state.open.messages)
    if (edited_ == message.key) draft.edited = message.turn, draft.edit = field_.text();
  edited_.reset();
  draft_.clear();
  return draft;
}

void Composer::take_up(const Draft& draft, const ChatState& state) {
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
  if (draw_too_long(f, inner)) return;
  if (!f.state.attachments.empty()) draw_attachments(f, inner.cut_top(chips_height(f, inner.width)));
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
  ui.label_in(banner, "Editing a message; the conversation continues from here", {ui.theme->accent, 0.85f});
  return ui.button("edit_cancel", cancel, {.icon = Icon::kClose, .tooltip = "Cancel the edit (Esc)"}) &&
         cancel_edit(ui);
}

uint64_t Composer::unsent_tokens(const ChatState& state) const {
  uint64_t n_tokens = 0;
  for (const Attachment& file : state.attachments) n_tokens += file.n_tokens;
  const bool is_known = state.counted_revision == field_.buffer.revision();
  return n_tokens + (!field_.text().empty() && is_known ? state.counted_tokens : 0);
}

std::optional<Composer::TooLong> Composer::too_long(const ChatState& state) const {
  if (shows_refusal(state) && !(field_.text().empty() && state.attachments.empty())) {
    const RefusedPrompt& refusal = *state.refusal;
    return TooLong{refusal.tokens, refusal.context, {refusal.larger_context, refusal.can_drop}, true};
  }
  const uint64_t own = unsent_tokens(state), before = state.open.drops_oldest ? 0 : state.open.context_used;
  if (edited_ || own == 0 || !state.model || state.model->context == 0) return std::nullopt;
  if (before + own < state.model->context) return std::nullopt;
  return TooLong{before + own, state.model->context, remedies_before_sending(state, before + own), false};
}

// Shows why the message was refused, or would be, and the remedies. True: the user has chosen one.
bool Composer::draw_too_long(Frame& f, Rect& rect) {
  const std::optional<TooLong> found = too_long(f.state);
  if (!found) return false;
  Ui& ui = f.ui;
  Rect banner = rect.cut_top(ui.px(kBanner));
  const auto button = [&](const char* name, const std::string& text) {
    const ButtonLook look{.text = text, .kind = ButtonKind::kOutlined};
    const Rect place = banner.cut_right(ui.button_width(look)).in_middle(ui.px(kBanner - 4));
    banner.cut_right(ui.px(6));
    return ui.button(name, place, look);
  };
  const Remedies& ways = found->ways;
  const bool larger =
      ways.larger_context > 0 && button("larger_context", "Use a context of " + compact(ways.larger_context));
  const bool fewer = ways.can_drop && button("fewer_turns", "Drop oldest messages");
  const Colour colour = found->is_refused ? ui.theme->error : ui.theme->warning;
  ui.icon(Icon::kWarning, banner.cut_left(ui.px(26)), colour);
  ui.label_in(banner, "Too long: " + compact(found->tokens) + " tokens, the context holds " + compact(found->context),
              {colour, 0.85f});
  ui.mark("too_long", banner);
  if (larger) f.actions.push(LoadModel{.context = static_cast<int32_t>(ways.larger_context)});
  if (fewer) f.actions.push(DropOldest{});
  if ((larger || fewer) && found->is_refused) send(f);
  return larger || fewer;
}

std::vector<Rect> Composer::chips(Frame& f, float width) const {
  Ui& ui = f.ui;
  std::vector<Rect> places;
  float x = 0, y = 0;
  for (const Attachment& file : f.state.attachments) {
    const float wide = chip_text(ui, file, width).width;
    if (x > 0 && x + wide > width) x = 0, y += ui.px(kChip + kChipGap);
    places.push_back({x, y, wide, ui.px(kChip)});
    x += wide + ui.px(kChipGap);
  }
  return places;
}

float Composer::chips_height(Frame& f, float width) const {
  const std::vector<Rect> places = chips(f, width);
  if (places.empty()) return 0;
  const float max =
      kMaxChipRows * f.ui.px(kChip + kChipGap) + f.ui.px(kChip / 2);  // half a row says that there is more
  return f.ui.px(8) + std::min(places.back().bottom(), max);
}

void Composer::draw_attachments(Frame& f, Rect rect) {
  rect.cut_top(f.ui.px(8));
  const std::vector<Rect> places = chips(f, rect.width);
  ScrollArea area("attachments", rect, /*scrollbar=*/false);
  area.set_content_height(places.back().bottom());
  for (size_t i = 0; i < places.size(); ++i) {
    Rect chip = places[i];
    chip.x += rect.x, chip.y += rect.y - area.scroll_y();
    draw_chip(f, i, chip);
  }
}

void Composer::draw_chip(Frame& f, size_t index, Rect chip) {
  Ui& ui = f.ui;
  const Attachment& file = f.state.attachments[index];
  const ChipText text = chip_text(ui, file, chip.width);
  ui.mark("chip:" + std::to_string(index), chip);
  ui.fill(chip, ui.theme->raised, ui.px(8));
  const Rect close = chip.cut_right(ui.px(kIcon));
  ui.icon(Icon::kFile, chip.cut_left(ui.px(kIcon)), ui.theme->dim_text);
  ui.label_in(chip.cut_left(text.name_width), text.name, {ui.theme->text, kChipText});
  chip.cut_left(ui.px(8));
  ui.label_in(chip, text.figures, {ui.theme->dim_text, kChipText});
  const std::string tip = "Remove " + file.name;
  if (ui.button("attachment:" + std::to_string(index), close, {.icon = Icon::kClose, .tooltip = tip}))
    f.actions.push(DropAttachment{index});
}

void Composer::draw_tools(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  rect.cut_bottom(ui.px(6));
  rect = rect.in_middle(ui.px(32));
  if (ui.button("attach", rect.cut_left(ui.px(32)),
                {.icon = Icon::kAttach, .tooltip = "Attach a text file or a PDF (Ctrl+U)"}))
    f.commands.push_back(Command::kAttach);
  if (ui.button("prompts", rect.cut_left(ui.px(32)), {.icon = Icon::kPrompts, .tooltip = "Prompts (Ctrl+P)"}))
    f.commands.push_back(Command::kPrompts);
  const size_t n_tools = f.state.tools.tools.size();
  const std::string tools = n_tools == 0 ? "Tools" : "Tools: " + std::to_string(n_tools);
  if (ui.button("tools", rect.cut_left(ui.px(32)), {.icon = Icon::kTools, .tooltip = tools}))
    f.commands.push_back(Command::kTools);
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
  if (f.state.open.phase != AnswerPhase::kIdle && !field_.text().empty())
    return void(ui.label_in(rect.inset(ui.px(6), 0), "Can be sent after this answer; Esc stops it", dim, 1));
  if (!f.state.model) {
    ui.label_in(rect.inset(ui.px(6), 0),
                f.state.loading ? "The model is loading; your message is answered then" : "Choose a model to send", dim,
                1);
    return;
  }
  draw_meter(f, rect);
}

// Shows how full the context is; without a bar where a server does not tell its size.
void Composer::draw_meter(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  const uint64_t n_tokens = unsent_tokens(f.state), used = f.state.open.context_used;
  const uint32_t context = f.state.model->context;
  if (context > 0) {
    const double share = static_cast<double>(used + n_tokens) / context;
    Rect meter = rect.cut_right(ui.px(64)).in_middle(ui.px(4));
    ui.fill(meter, ui.theme->raised, ui.px(2));
    meter.width *= static_cast<float>(std::min(share, 1.0));
    if (used + n_tokens > 0)
      ui.fill(meter, share > 0.9 ? ui.theme->error : share > 0.75 ? ui.theme->warning : ui.theme->accent, ui.px(2));
    rect.cut_right(ui.px(8));
  }
  const std::string text = context_text(used, n_tokens, context);
  if (text.empty()) return;
  rect = rect.inset(ui.px(6), 0);
  const TextLook dim{ui.theme->faint_text, 0.8f};
  const Rect place = rect.cut_right(std::min(ui.px(kMeter), rect.width));
  ui.label_in(place, text, dim, 1);
  ui.tooltip("Tokens of the context that this conversation uses", ui.press("context_meter", place, Keys::kNone));
}

}  // namespace warpchat::gui
