// Sampling is a table of controls; each has a slider, a number and, once it differs, the way back to the default.
#include "app/gui/window/settings_panel.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "app/gui/window/numbers.h"
#include "models/number_in.h"
#include "models/text_format.h"

namespace warpchat::gui {

namespace {

struct Control {
  std::string_view name, text, about;
  SamplingField field;
  float from, to, step;  // of the slider
  int decimals;
};

constexpr Control kTable[SettingsPanel::kControls] = {
    {"temperature", "Temperature", "Higher: more varied answers. 0: always the likeliest token",
     &SamplingParams::temperature, 0, 2, 0.05f, 2},
    {"top_k", "Top k", "Only this many of the likeliest tokens are candidates. 0: all", &SamplingParams::top_k, 0, 200,
     1, 0},
    {"top_p", "Top p", "Only the likeliest tokens that together have this probability. 1: all", &SamplingParams::top_p,
     0, 1, 0.01f, 2},
    {"min_p", "Min p", "Only tokens with at least this share of the likeliest one's probability. 0: all",
     &SamplingParams::min_p, 0, 1, 0.01f, 2},
    {"repeat_penalty", "Repeat penalty", "Above 1: tokens that occurred lately become less likely. 1: off",
     &SamplingParams::repeat_penalty, 0.5f, 2, 0.01f, 2},
    {"repeat_last_n", "Repeat window (tokens)", "How many of the last tokens the penalties look at. 0: none",
     &SamplingParams::penalty_window, 0, 512, 1, 0},
    {"presence_penalty", "Presence penalty", "Lowers tokens that have occurred, however often. 0: off",
     &SamplingParams::presence_penalty, -2, 2, 0.05f, 2},
    {"frequency_penalty", "Frequency penalty", "Lowers tokens each time that they have occurred. 0: off",
     &SamplingParams::frequency_penalty, -2, 2, 0.05f, 2},
};

constexpr float kControl = 62;
constexpr double kPromptRests = 0.5;  // seconds without a change after which a system prompt counts

float get(const SamplingParams& params, const Control& control) {
  return std::visit([&](auto member) { return static_cast<float>(params.*member); }, control.field);
}

void set(SamplingParams& params, const Control& control, float value) {
  std::visit([&](auto member) { params.*member = static_cast<std::decay_t<decltype(params.*member)>>(value); },
             control.field);
}

void heading(Ui& ui, Rect rect, std::string_view text) {
  ui.label_in(rect, text, {ui.theme->dim_text, 0.85f, Face::kBold});
}

void show_in(TextField& field, const std::string& text) {
  if (field.text() != text) field.buffer.set(text);
}

}  // namespace

void SettingsPanel::follow(const ChatState& state) {
  if (!followed_ || !(state.settings == seen_)) settings_ = seen_ = state.settings;
  followed_ = true;
  if (prompt_of_ == state.open.id && state.open.system_prompt == seen_prompt_) return;
  const bool typing = prompt_changed_at_ >= 0 && prompt_of_ == state.open.id;
  prompt_of_ = state.open.id, seen_prompt_ = state.open.system_prompt;
  if (!typing) show_in(system_prompt_, seen_prompt_);
}

void SettingsPanel::draw(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  follow(f.state);
  ui.fill(rect, ui.theme->panel);
  ui.fill({rect.x, rect.y, 1, rect.height}, ui.theme->border);
  Rect title = rect.cut_top(ui.px(48)).inset(ui.px(16), 0);
  const Rect close = title.cut_right(ui.px(32)).in_middle(ui.px(32));
  ui.label_in(title, "Settings", {ui.theme->text, 1.05f, Face::kBold});
  if (ui.button("settings_close", close, {.icon = Icon::kClose, .tooltip = "Close (Esc)"})) open = false;
  const AnswerSettings before = settings_;
  {
    ScrollArea area("settings", rect);
    Rect content = rect.inset(ui.px(16), 0);
    content.y -= area.scroll_y();
    content.height = 1e5f;
    area.set_content_height(draw_all(f, content) + ui.px(16));
  }
  if (!(settings_ == before)) f.actions.push(ChangeSettings{settings_});
}

float SettingsPanel::draw_all(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  const float top = rect.y;
  draw_system_prompt(f, rect.cut_top(ui.px(150)));
  draw_thinking(ui, rect.cut_top(ui.px(70)));
  if (settings_.think == true && f.state.model && !f.state.model->can_think)
    rect.cut_top(draw_cannot_think(ui, rect, f.state.model->name) + ui.px(10));
  draw_length(ui, rect.cut_top(ui.px(48)));
  draw_seed(ui, rect.cut_top(ui.px(settings_.random_seed ? 44 : 84)));
  if (ui.toggle("titles", rect.cut_top(ui.px(40)).in_middle(ui.px(32)), "Let the model name chats", settings_.titles))
    settings_.titles = !settings_.titles;
  const SamplingParams defaults = f.state.model ? f.state.model->file_sampling : SamplingParams{};
  Rect title = rect.cut_top(ui.px(34));
  const ButtonLook reset{.text = "Reset all", .kind = ButtonKind::kGhost};
  if (ui.button("sampling_reset", title.cut_right(ui.button_width(reset)), reset)) {
    const SamplingParams before = std::exchange(settings_.sampling, defaults);
    settings_.sampling.seed = before.seed;
    settings_.sampling.seed_is_chosen = before.seed_is_chosen;
    settings_.chosen = 0;
  }
  heading(ui, title, "Sampling");
  for (size_t i = 0; i < kControls; ++i) draw_control(ui, rect.cut_top(ui.px(kControl)), i, defaults);
  heading(ui, rect.cut_top(ui.px(34)), "For developers");
  if (ui.toggle("emulators", rect.cut_top(ui.px(32)), "Show emulated GPUs", shows_emulators))
    shows_emulators = !shows_emulators;
  return rect.y - top;
}

void SettingsPanel::draw_system_prompt(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  heading(ui, rect.cut_top(ui.px(28)), "System prompt");
  rect.cut_bottom(ui.px(10));
  const FieldResult result = system_prompt_.draw(ui, "system_prompt", rect,
                                                 {.placeholder = "What the model should know, and how it should answer",
                                                  .multiline = true,
                                                  .enter_submits = false,
                                                  .text = 0.9f});
  if (result.changed) prompt_changed_at_ = ui.now;
  if (prompt_changed_at_ < 0) return;
  const double rest = prompt_changed_at_ + kPromptRests - ui.now;
  if (rest > 0 && ui.has_focus("system_prompt")) return ui.wake_in(rest);
  finish(f.actions);
}

void SettingsPanel::finish(Actions& actions) {
  if (prompt_changed_at_ < 0) return;
  prompt_changed_at_ = -1;
  seen_prompt_ = system_prompt_.text();
  actions.push(SetSystemPrompt{seen_prompt_});
}

void SettingsPanel::draw_thinking(Ui& ui, Rect rect) {
  heading(ui, rect.cut_top(ui.px(28)), "Thinking");
  Rect row = rect.cut_top(ui.px(32));
  struct Choice {
    std::string_view name, text;
    std::optional<bool> value;
  };
  const Choice choices[] = {
      {"think:default", "Model's default", std::nullopt}, {"think:on", "On", true}, {"think:off", "Off", false}};
  for (const Choice& choice : choices) {
    const ButtonLook look{.text = choice.text,
                          .kind = settings_.think == choice.value ? ButtonKind::kChosen : ButtonKind::kOutlined};
    if (ui.button(choice.name, row.cut_left(ui.button_width(look)), look)) settings_.think = choice.value;
    row.cut_left(ui.px(6));
  }
}

float SettingsPanel::draw_cannot_think(Ui& ui, Rect rect, const std::string& model) {
  const std::string text = printable(model, 60) + " has no switch for thinking; this changes nothing for it.";
  const float height = ui.paragraph({rect.x, rect.y}, text, {ui.theme->warning, 0.82f}, rect.width);
  ui.mark("cannot_think", {rect.x, rect.y, rect.width, height});
  return height;
}

void SettingsPanel::draw_length(Ui& ui, Rect rect) {
  rect = rect.in_middle(ui.px(34));
  const Rect field = rect.cut_right(ui.px(130));
  heading(ui, rect, "Max answer length (tokens)");
  const bool limited = settings_.max_tokens >= 0;
  if (!ui.has_focus("max_tokens")) show_in(max_tokens_, limited ? std::to_string(settings_.max_tokens) : "");
  const FieldResult result = max_tokens_.draw(ui, "max_tokens", field, {.placeholder = "no limit", .text = 0.9f});
  if (!result.changed) return;
  if (max_tokens_.text().empty()) settings_.max_tokens = -1;
  if (const auto n = number_in<int32_t>(max_tokens_.text()); n && *n > 0) settings_.max_tokens = *n;
}

void SettingsPanel::draw_seed(Ui& ui, Rect rect) {
  if (ui.toggle("random_seed", rect.cut_top(ui.px(32)), "New seed for each answer", settings_.random_seed))
    settings_.random_seed = !settings_.random_seed;
  settings_.sampling.seed_is_chosen = !settings_.random_seed;
  if (settings_.random_seed) return;
  rect = rect.cut_top(ui.px(40)).in_middle(ui.px(34));
  const Rect field = rect.cut_right(ui.px(130));
  heading(ui, rect, "Seed");
  if (!ui.has_focus("seed")) show_in(seed_, std::to_string(settings_.sampling.seed));
  if (!seed_.draw(ui, "seed", field, {.placeholder = "0", .text = 0.9f}).changed) return;
  if (const auto n = number_in<uint64_t>(seed_.text())) settings_.sampling.seed = *n;
}

void SettingsPanel::draw_control(Ui& ui, Rect rect, size_t index, const SamplingParams& defaults) {
  const Control& control = kTable[index];
  const std::string name(control.name), number = name + ":number";
  Rect row = rect.cut_top(ui.px(32));
  const Rect field = row.cut_right(ui.px(64)).in_middle(ui.px(28));
  float value = get(settings_.sampling, control);
  const float normal = get(defaults, control);
  if (value != normal) {
    const std::string tip = "Back to " + fixed(normal, control.decimals);
    if (ui.button(name + ":reset", row.cut_right(ui.px(30)), {.icon = Icon::kReset, .tooltip = tip})) {
      value = normal;
      settings_.chosen &= ~chosen_bit(control.field);
    }
  }
  const float text = ui.label_in(row, control.text, {ui.theme->text, 0.9f});
  Rect beside = row;
  beside.cut_left(text + ui.px(8));
  ui.label_in(beside, "default " + fixed(normal, control.decimals), {ui.theme->faint_text, 0.78f});
  ui.tooltip(control.about, ui.press(name + ":about", row, Keys::kNone));
  ui.slider(name, rect.cut_top(ui.px(22)), value, control.from, control.to, control.step);
  if (!ui.has_focus(number)) show_in(numbers_[index], fixed(value, control.decimals));
  if (numbers_[index].draw(ui, number, field, {.text = 0.85f}).changed)
    if (const auto typed = number_in<float>(numbers_[index].text()); typed && std::isfinite(*typed))
      value = std::clamp(*typed, control.from, control.to);
  if (value != get(settings_.sampling, control)) set(settings_.sampling, control, value);
}

}  // namespace warpchat::gui
