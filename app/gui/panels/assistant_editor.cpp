// An empty field is a setting that it does not hold.
#include "app/gui/panels/assistant_editor.h"

#include <algorithm>
#include <cmath>

#include "app/gui/widgets/numbers.h"
#include "app/settings/options.h"
#include "models/ascii.h"

namespace warpchat::gui {

namespace {

constexpr float kEditorField = 36, kEditorLabel = 26, kEditorGap = 8, kEditorPrompt = 112, kEditorRow = 40,
                kEditorRowLabel = 170, kEditorButton = 36, kMaxEditor = 1e5f;  // at scale 1
constexpr std::string_view kUnsetText = "not set";

const SettingsKey* key_named(std::string_view name) {
  const auto& keys = settings_keys();
  const auto found = std::ranges::find(keys, name, &SettingsKey::name);
  return found == keys.end() ? nullptr : &*found;
}

bool has_own_field(std::string_view key) {
  return key == kSystemPromptSetting || key == kModelSetting || key == kEndpointSetting || key == kAssistantSetting;
}

}  // namespace

void AssistantEditor::open(Frame& f, const std::string& from, const std::string& name, const TypedSettings& settings) {
  is_open_ = true;
  request_ = 0;
  from_ = from;
  name_.buffer.set(name);
  for (TextField* field : {&prompt_, &model_, &endpoint_, &other_}) field->buffer.set("");
  rows_.clear();
  for (const NamedChoice& choice : answer_choices()) rows_.push_back({std::string(choice.name), false, {}});
  fill(settings);
  f.ui.set_focus(name.empty() ? "assistant_name" : "assistant_prompt");
  f.ui.wake_in(0);
}

void AssistantEditor::fill(const TypedSettings& settings) {
  for (const auto& [key, value] : settings) {
    if (key == kSystemPromptSetting) prompt_.buffer.set(value);
    if (key == kModelSetting) model_.buffer.set(value);
    if (key == kEndpointSetting) endpoint_.buffer.set(value);
    if (has_own_field(key)) continue;
    auto row = std::ranges::find(rows_, key, &Row::key);
    if (row == rows_.end()) row = rows_.insert(rows_.end(), {key, value.find('\n') != std::string::npos, {}});
    row->field.buffer.set(value);
  }
}

void AssistantEditor::save(Frame& f) {
  if (waits(f.state)) return;
  TypedSettings settings;
  const auto add = [&](const std::string& key, const std::string& value) {
    if (!value.empty()) settings.emplace_back(key, value);
  };
  const auto add_word = [&](const std::string& key, const TextField& field) {
    add(key, std::string(trimmed(field.text(), " \t\n")));
  };
  add(kSystemPromptSetting, prompt_.text());
  add_word(kModelSetting, model_);
  add_word(kEndpointSetting, endpoint_);
  for (const Row& row : rows_) row.has_lines ? add(row.key, row.field.text()) : add_word(row.key, row.field);
  request_ = f.state.assistants.request + 1;
  f.actions.push(SaveAssistant{from_, std::string(trimmed(name_.text(), " \t\n")), settings, request_});
}

std::string AssistantEditor::fault(const ChatState& state) const {
  return request_ != 0 && !waits(state) ? state.assistants.fault : "";
}

void AssistantEditor::draw(Frame& f, Rect rect) {
  if (request_ != 0 && !waits(f.state) && fault(f.state).empty()) {
    is_open_ = false;
    return f.ui.set_focus("assistants_new");
  }
  Ui& ui = f.ui;
  const std::string sentence = fault(f.state).empty() ? "" : full_sentence(fault(f.state));
  const TextLook look{ui.theme->error, 0.9f};
  const float fault_height =
      sentence.empty() ? 0 : ui.paragraph({}, sentence, look, rect.width, /*draw=*/false) + ui.px(kEditorGap);
  draw_end(f, rect.cut_bottom(ui.px(kEditorButton)));
  rect.cut_bottom(ui.px(kEditorGap));
  if (!sentence.empty()) {
    const Rect place = rect.cut_bottom(fault_height);
    ui.paragraph({place.x, place.y + ui.px(kEditorGap)}, sentence, look, place.width);
    ui.mark("assistant_fault", place);
  }
  draw_fields(f, rect);
}

void AssistantEditor::draw_fields(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  ScrollArea area("assistant_editor", rect);
  const float top = rect.y;
  rect = {rect.x, rect.y - area.scroll_y(), area.width() - ui.px(6), ui.px(kMaxEditor)};
  ui.heading_in(rect.cut_top(ui.px(kEditorLabel)), "Name");
  if (name_.draw(ui, "assistant_name", rect.cut_top(ui.px(kEditorField)), {.placeholder = "reviewer", .text = 0.95f})
          .submitted)
    save(f);
  rect.cut_top(ui.px(kEditorGap));
  ui.heading_in(rect.cut_top(ui.px(kEditorLabel)), "System prompt");
  prompt_.draw(
      ui, "assistant_prompt", rect.cut_top(ui.px(kEditorPrompt)),
      {.placeholder = "Find faults in code. Be brief.", .multiline = true, .enter_submits = false, .text = 0.95f});
  rect.cut_top(ui.px(kEditorGap));
  draw_model(f, rect);
  ui.heading_in(rect.cut_top(ui.px(kEditorLabel)), "Settings");
  for (Row& row : rows_) draw_row(f, rect.cut_top(ui.px(row.has_lines ? kEditorPrompt : kEditorRow)), row);
  draw_other(f, rect.cut_top(ui.px(kEditorRow)));
  area.set_content_height(rect.y + area.scroll_y() - top + ui.px(2));
}

void AssistantEditor::draw_model(Frame& f, Rect& rect) {
  Ui& ui = f.ui;
  Rect title = rect.cut_top(ui.px(kEditorLabel));
  constexpr ButtonLook kUseLoaded{.text = "Use the loaded one"};
  if (f.state.model && ui.button("assistant_use_loaded", title.cut_right(ui.button_width(kUseLoaded)), kUseLoaded)) {
    model_.buffer.set(""), endpoint_.buffer.set("");
    for (const auto& [key, value] : settings_of_chat(f.state)) {
      if (key == kModelSetting) model_.buffer.set(value);
      if (key == kEndpointSetting) endpoint_.buffer.set(value);
    }
  }
  ui.heading_in(title, "Model");
  model_.draw(ui, "assistant_model", rect.cut_top(ui.px(kEditorField)),
              {.placeholder = "A file or a model's name; empty: the one that is loaded", .text = 0.95f});
  rect.cut_top(ui.px(kEditorGap));
  ui.heading_in(rect.cut_top(ui.px(kEditorLabel)), "Server");
  endpoint_.draw(ui, "assistant_endpoint", rect.cut_top(ui.px(kEditorField)),
                 {.placeholder = "Its name or address; empty: this machine", .text = 0.95f});
  rect.cut_top(ui.px(kEditorGap));
}

void AssistantEditor::draw_row(Frame& f, Rect rect, Row& row) {
  Ui& ui = f.ui;
  rect = rect.inset(0, ui.px(2));
  const Rect label = rect.cut_left(std::min(ui.px(kEditorRowLabel), rect.width / 2));
  const SettingsKey* key = key_named(row.key);
  ui.label_in(label, row.key, {key != nullptr ? ui.theme->text : ui.theme->error, 0.9f});
  if (key != nullptr) ui.tooltip(key->help, ui.press("assistant_about:" + row.key, label, Keys::kNone));
  const FieldLook look{
      .placeholder = kUnsetText, .multiline = row.has_lines, .enter_submits = !row.has_lines, .text = 0.9f};
  if (row.field.draw(ui, "assistant_setting:" + row.key, rect, look).submitted) save(f);
}

// A setting that has no row yet, by its name.
void AssistantEditor::draw_other(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  rect = rect.inset(0, ui.px(2));
  const std::string name(trimmed(other_.text(), " \t\n-"));
  const bool is_known = key_named(name) != nullptr && !has_own_field(name);
  const FieldResult result = other_.draw(
      ui, "assistant_other", rect, {.placeholder = "Another setting, such as ctx-size; Enter adds it", .text = 0.9f});
  if (!result.submitted || !is_known) return;
  if (std::ranges::find(rows_, name, &Row::key) == rows_.end()) rows_.push_back({name, false, {}});
  other_.buffer.set("");
  ui.set_focus("assistant_setting:" + name);
  ui.wake_in(0);
}

void AssistantEditor::draw_end(Frame& f, Rect rect) {
  Ui& ui = f.ui;
  const ButtonLook saves{.text = "Save", .kind = ButtonKind::kPrimary, .enabled = !waits(f.state)};
  constexpr ButtonLook kCancel{.text = "Cancel", .kind = ButtonKind::kOutlined};
  if (ui.button("assistant_save", rect.cut_left(ui.button_width(saves)), saves)) save(f);
  rect.cut_left(ui.px(kEditorGap));
  if (!ui.button("assistant_cancel", rect.cut_left(ui.button_width(kCancel)), kCancel)) return;
  is_open_ = false;
  ui.set_focus("assistants_new");
}

}  // namespace warpchat::gui
