// Sampling is a table of controls; each has a slider, a number and, once it differs, the way back to the default.
#include "app/gui/panels/settings_panel.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "app/gui/widgets/numbers.h"
#include "models/number_in.h"
#include "models/text_format.h"

namespace warpchat::gui {

namespace {

using ControlField = std::variant<std::optional<float> AnswerChoices::*, std::optional<uint32_t> AnswerChoices::*>;
struct Control {
  std::string_view name, text, about;
  ControlField field;
  float from, to, step;  // of the slider
  int decimals;
};

constexpr Control kTable[SettingsPanel::kControls] = {
    {"temperature", "Temperature", "Higher: more varied answers. 0: always the likeliest token",
     &AnswerChoices::temperature, 0, 2, 0.05f, 2},
    {"top_k", "Top k", "Only this many of the likeliest tokens are candidates. 0: all", &AnswerChoices::top_k, 0, 200,
     1, 0},
    {"top_p", "Top p", "Only the likeliest tokens that together have this probability. 1: all", &AnswerChoices::top_p,
     0, 1, 0.01f, 2},
    {"min_p", "Min p", "Only tokens with at least this share of the likeliest one's probability. 0: all",
     &AnswerChoices::min_p, 0, 1, 0.01f, 2},
    {"repeat_penalty", "Repeat penalty", "Above 1: tokens that occurred lately become less likely. 1: off",
     &AnswerChoices::repeat_penalty, 0.5f, 2, 0.01f, 2},
    {"repeat_last_n", "Repeat window (tokens)", "How many of the last tokens the penalties look at. 0: none",
     &AnswerChoices::repeat_last_n, 0, 512, 1, 0},
    {"presence_penalty", "Presence penalty", "Lowers tokens that have occurred, however often. 0: off",
     &AnswerChoices::presence_penalty, -2, 2, 0.05f, 2},
    {"frequency_penalty", "Frequency penalty", "Lowers tokens each time that they have occurred. 0: off",
     &AnswerChoices::frequency_penalty, -2, 2, 0.05f, 2},
};

constexpr float kControl = 62;
constexpr std::string_view kNoAssistant = "None", kManage = "menu/assistants";  // the last is no assistant's name
constexpr double kPromptRests = 0.5;  // seconds without a change after which a system prompt counts

float value_of(const AnswerSettings& settings, const Control& control) {
  const AnswerChoices all = choices_of(settings.sampling);
  return std::visit([&](auto field) { return static_cast<float>((all.*field).value_or(0)); }, control.field);
}

void show_in(TextField& field, const std::string& text) {
  if (field.text() != text) field.buffer.set(text);
}

}  // namespace

// Choices that were not sent yet stay as they are here.
void SettingsPanel::follow(const ChatState& state) {
  const bool is_other = shown_ != state.open.id && state.open.messages.empty();
  if (changed_.empty() || is_other) layers_ = layers_of(state, state.open);
  shown_ = state.open.id;
  file_sampling_ = file_sampling(state);
  const std::string& prompt = for_new_ ? state.default_system_prompt : state.open.system_prompt;
  const bool is_same = prompt_of_ == state.open.id && prompt_for_new_ == for_new_;
  if (is_same && prompt == seen_prompt_) return;
  const bool typing = prompt_changed_at_ >= 0 && is_same;
  prompt_of_ = state.open.id, prompt_for_new_ = for_new_, seen_prompt_ = prompt;
  if (!typing) show_in(system_prompt_, seen_prompt_);
}

AnswerSettings SettingsPanel::values() const {
  return answer_settings(file_sampling_, for_new_ ? AnswerLayers{.defaults = layers_.defaults} : layers_);
}

AnswerSettings SettingsPanel::defaults() const {
  AnswerLayers below;
  if (!for_new_) below.assistant = layers_.assistant, below.defaults = layers_.defaults;
  return answer_settings(file_sampling_, below);
}

// A flag gives way to it, as in the controller.
template <class T>
void SettingsPanel::choose(std::optional<T> AnswerChoices::*field, std::optional<T> value) {
  own().*field = value;
  if (!for_new_) layers_.flags.*field = std::nullopt;
  for (const NamedChoice& choice : answer_choices())
    if (choice.field == ChoiceField(field) && std::ranges::find(changed_, choice.name) == changed_.end())
      changed_.push_back(choice.name);
}

void SettingsPanel::send_choices(Actions& actions) {
  for (const std::string_view name : std::exchange(changed_, {})) actions.push(SetChoice{name, own(), for_new_});
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
  {
    ScrollArea area("settings", rect);
    Rect content = rect.inset(ui.px(16), 0);
    content.y -= area.scroll_y();
    content.height = 1e5f;
    area.set_content_height(draw_all(f, content) + ui.px(16));
  }
  if (!ImGui::IsMouseDown(ImGuiMouseButton_Left)) send_choices(f.actions);  // a slider's value is stored once
}

float SettingsPanel::draw_all(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  const float top = rect.y;
  draw_scope(f, rect.cut_top(ui.px(78)));
  draw_assistant(f, rect.cut_top(ui.px(48)));
  draw_system_prompt(f, rect.cut_top(ui.px(150)));
  draw_thinking(ui, rect.cut_top(ui.px(70)));
  if (values().think == true && f.state.model && !f.state.model->can_think)
    rect.cut_top(draw_cannot_think(ui, rect, f.state.model->name) + ui.px(10));
  draw_length(ui, rect.cut_top(ui.px(48)));
  draw_seed(ui, rect.cut_top(ui.px(values().random_seed ? 44 : 84)));
  if (ui.toggle("titles", rect.cut_top(ui.px(40)).in_middle(ui.px(32)), "Let the model name chats", f.state.titles))
    f.actions.push(SetTitles{!f.state.titles});
  Rect title = rect.cut_top(ui.px(34));
  const ButtonLook reset{.text = "Reset all", .kind = ButtonKind::kGhost};
  if (ui.button("sampling_reset", title.cut_right(ui.button_width(reset)), reset))
    for (const Control& control : kTable)
      std::visit([&]<class T>(std::optional<T> AnswerChoices::*field) { choose(field, std::optional<T>()); },
                 control.field);
  ui.heading_in(title, "Sampling");
  for (size_t i = 0; i < kControls; ++i) draw_control(ui, rect.cut_top(ui.px(kControl)), i);
  ui.heading_in(rect.cut_top(ui.px(34)), "For developers");
  if (ui.toggle("emulators", rect.cut_top(ui.px(32)), "Show emulated GPUs", shows_emulators))
    shows_emulators = !shows_emulators;
  return rect.y - top;
}

void SettingsPanel::draw_scope(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  Rect row = rect.cut_top(ui.px(32));
  for (const bool is_for_new : {false, true}) {
    const ButtonLook look{.text = is_for_new ? "New chats" : "This chat",
                          .kind = for_new_ == is_for_new ? ButtonKind::kChosen : ButtonKind::kOutlined};
    if (ui.button(is_for_new ? "scope:new" : "scope:this", row.cut_left(ui.button_width(look)), look) &&
        for_new_ != is_for_new) {
      finish(f.actions);
      for_new_ = is_for_new;
      follow(f.state);
      show_values();
    }
    row.cut_left(ui.px(6));
  }
  ui.paragraph({rect.x, rect.y + ui.px(6)},
               for_new_ ? "Kept for chats that have no setting of their own, in every later start."
                        : "Stored with this chat. What is not set here follows New chats, then the model.",
               {ui.theme->faint_text, 0.78f}, rect.width);
}

// Also in the field that has the focus, which otherwise keeps what is typed into it.
void SettingsPanel::show_values() {
  const AnswerSettings now = values();
  show_in(max_tokens_, now.max_tokens >= 0 ? std::to_string(now.max_tokens) : "");
  show_in(seed_, std::to_string(now.sampling.seed));
  for (size_t i = 0; i < kControls; ++i) show_in(numbers_[i], fixed(value_of(now, kTable[i]), kTable[i].decimals));
}

void SettingsPanel::draw_assistant(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  rect = rect.in_middle(ui.px(34));
  const std::string& now = for_new_ ? f.state.default_assistant.name : f.state.open.assistant;
  const std::string shown = now.empty() ? std::string(kNoAssistant) : printable(now, 24);
  const ButtonLook look{
      .text = shown, .kind = ButtonKind::kOutlined, .tooltip = "A system prompt and settings by name"};
  const Rect button = rect.cut_right(ui.button_width(look));
  ui.heading_in(rect, "Assistant");
  if (ui.button("assistant", button, look)) {
    f.actions.push(ListAssistants{});
    listed_before_ = f.state.assistants.revision;
  }
  if (listed_before_ && f.state.assistants.revision > *listed_before_) {
    listed_before_.reset();
    assistants_.clear();
    for (const AssistantChoice& assistant : f.state.assistants.all) assistants_.push_back(assistant.name);
    std::vector<MenuItem> items = {{kNoAssistant, kNoAssistant, now.empty() ? Icon::kCheck : Icon::kNone}};
    for (const std::string& name : assistants_) items.push_back({name, name, name == now ? Icon::kCheck : Icon::kNone});
    items.push_back({kManage, "Edit, add, import …", Icon::kPen});
    ui.open_menu("assistants", {button.x, button.bottom()}, std::move(items));
  }
  const std::string chosen = ui.take_menu_choice("assistants");
  if (chosen == kManage) return f.commands.push_back(Command::kAssistants);
  if (!chosen.empty()) f.actions.push(SetAssistant{chosen == kNoAssistant ? "" : chosen, for_new_});
}

void SettingsPanel::draw_system_prompt(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  const bool has_other = for_new_ && f.state.default_assistant.system_prompt;
  ui.heading_in(rect.cut_top(ui.px(28)), has_other ? "System prompt without the assistant" : "System prompt");
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
  send_prompt(f.actions);
}

void SettingsPanel::send_prompt(Actions& actions) {
  if (prompt_changed_at_ < 0) return;
  prompt_changed_at_ = -1;
  seen_prompt_ = system_prompt_.text();
  actions.push(SetSystemPrompt{seen_prompt_, prompt_for_new_});
}

void SettingsPanel::finish(Actions& actions) {
  send_choices(actions);
  send_prompt(actions);
}

void SettingsPanel::draw_thinking(Ui& ui, Rect rect) {
  ui.heading_in(rect.cut_top(ui.px(28)), "Thinking");
  Rect row = rect.cut_top(ui.px(32));
  struct Choice {
    std::string_view name, text;
    std::optional<bool> value;
  };
  const Choice choices[] = {
      {"think:default", "Model's default", std::nullopt}, {"think:on", "On", true}, {"think:off", "Off", false}};
  const std::optional<bool> now = values().think;
  for (const Choice& choice : choices) {
    const ButtonLook look{.text = choice.text,
                          .kind = now == choice.value ? ButtonKind::kChosen : ButtonKind::kOutlined};
    if (ui.button(choice.name, row.cut_left(ui.button_width(look)), look)) choose(&AnswerChoices::think, choice.value);
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
  ui.heading_in(rect, "Max answer tokens");
  const int32_t now = values().max_tokens;
  if (!ui.has_focus("max_tokens")) show_in(max_tokens_, now >= 0 ? std::to_string(now) : "");
  const FieldResult result = max_tokens_.draw(ui, "max_tokens", field, {.placeholder = "no limit", .text = 0.9f});
  if (!result.changed) return;
  if (max_tokens_.text().empty()) {
    const bool is_limited_below = defaults().max_tokens >= 0;
    choose(&AnswerChoices::n_predict, is_limited_below ? std::optional(-1) : std::nullopt);
  }
  if (const auto n = number_in<int32_t>(max_tokens_.text()); n && *n > 0)
    choose(&AnswerChoices::n_predict, std::optional(*n));
}

void SettingsPanel::draw_seed(Ui& ui, Rect rect) {
  const AnswerSettings now = values();
  if (ui.toggle("random_seed", rect.cut_top(ui.px(32)), "New seed for each answer", now.random_seed)) {
    const std::optional<int64_t> other = now.random_seed          ? std::optional<int64_t>(0)
                                         : defaults().random_seed ? std::nullopt
                                                                  : std::optional<int64_t>(-1);
    choose(&AnswerChoices::seed, other);
  }
  if (now.random_seed) return;
  rect = rect.cut_top(ui.px(40)).in_middle(ui.px(34));
  const Rect field = rect.cut_right(ui.px(130));
  ui.heading_in(rect, "Seed");
  if (!ui.has_focus("seed")) show_in(seed_, std::to_string(now.sampling.seed));
  if (!seed_.draw(ui, "seed", field, {.placeholder = "0", .text = 0.9f}).changed) return;
  if (const auto n = number_in<int64_t>(seed_.text()); n && *n >= 0) choose(&AnswerChoices::seed, std::optional(*n));
}

void SettingsPanel::draw_control(Ui& ui, Rect rect, size_t index) {
  const Control& control = kTable[index];
  const std::string name(control.name), number = name + ":number";
  Rect row = rect.cut_top(ui.px(32));
  const Rect field = row.cut_right(ui.px(64)).in_middle(ui.px(28));
  const float before = value_of(values(), control), normal = value_of(defaults(), control);
  float value = before;
  const auto set = [&](std::optional<float> wanted) {
    std::visit(
        [&]<class T>(std::optional<T> AnswerChoices::*choice) {
          choose(choice, wanted ? std::optional<T>(static_cast<T>(*wanted)) : std::nullopt);
        },
        control.field);
  };
  if (value != normal) {
    const std::string tip = "Back to " + fixed(normal, control.decimals);
    if (ui.button(name + ":reset", row.cut_right(ui.px(30)), {.icon = Icon::kReset, .tooltip = tip})) {
      show_in(numbers_[index], fixed(normal, control.decimals));
      return set(std::nullopt);
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
  if (value != before) set(value);
}

}  // namespace warpchat::gui
