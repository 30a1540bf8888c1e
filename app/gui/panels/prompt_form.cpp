// Enter goes to the first field that needs a value, and fills the text in if there is none. A default stands in its
// field.
#include "app/gui/panels/prompt_form.h"

#include <algorithm>

#include "app/gui/widgets/numbers.h"
#include "models/error.h"
#include "models/text_format.h"
#include "models/utf8.h"

namespace warpchat::gui {

namespace {

constexpr float kFormLabel = 26, kFormGap = 10, kFormButton = 36, kFieldPadding = 16, kMaxFieldLines = 6,
                kMaxFormHeight = 20000;  // at scale 1
constexpr size_t kShownPromptBytes = 600;
constexpr FieldLook kValueLook{.multiline = true, .text = 0.95f};

std::string beginning_of(const std::string& text) {
  if (text.size() <= kShownPromptBytes) return replace_controls(text);
  return replace_controls(text.substr(0, character_start(text, kShownPromptBytes))) + " …";
}

}  // namespace

std::string field_name(const Placeholder& placeholder) { return "prompt_value:" + placeholder.name; }

void PromptForm::open(Ui& ui, const LibraryPrompt& prompt) {
  prompt_ = prompt;
  fields_.clear();
  fault_.clear();
  appearing_ = true;
  is_submitted_ = goes_back_ = false;
  for (Placeholder& placeholder : placeholders_of(prompt.text)) {
    Field& field = fields_.emplace_back(Field{std::move(placeholder)});
    field.text.buffer.set(field.placeholder.preset.value_or(""));
    field.text.buffer.select_all();
  }
  if (fields_.empty()) return;
  const Field* empty = first_empty();
  ui.set_focus(field_name((empty != nullptr ? *empty : fields_.front()).placeholder));
}

const PromptForm::Field* PromptForm::first_empty() const {
  for (const Field& field : fields_)
    if (!field.placeholder.preset && field.text.text().empty()) return &field;
  return nullptr;
}

std::optional<std::string> PromptForm::fill(Ui& ui) {
  if (const Field* empty = first_empty()) return ui.set_focus(field_name(empty->placeholder)), std::nullopt;
  PromptValues values;
  for (const Field& field : fields_) values.of_name[field.placeholder.name] = field.text.text();
  try {
    return filled_prompt(prompt_.text, values);
  } catch (const Error& error) {
    fault_ = error.what();
    return std::nullopt;
  }
}

std::optional<std::string> PromptForm::draw(Ui& ui, Rect rect) {
  Rect buttons = rect.cut_bottom(ui.px(kFormButton));
  rect.cut_bottom(ui.px(kFormGap));
  {
    ScrollArea area("prompt_form", rect);
    const float top = rect.y;
    Rect inner{rect.x, rect.y - area.scroll_y(), area.width() - ui.px(2), ui.px(kMaxFormHeight)};
    const TextLook dim{ui.theme->dim_text, 0.88f};
    inner.cut_top(ui.paragraph({inner.x, inner.y}, beginning_of(prompt_.text), dim, inner.width) + ui.px(kFormGap));
    for (size_t i = 0; i < fields_.size(); ++i) draw_field(ui, inner, i);
    if (!fault_.empty())
      inner.cut_top(ui.paragraph({inner.x, inner.y}, full_sentence(fault_), {ui.theme->error, 0.9f}, inner.width));
    area.set_content_height(inner.y + area.scroll_y() - top + ui.px(2));
  }
  if (std::exchange(appearing_, false)) ui.set_focus(ui.focus()), ui.wake_in(0);  // now it can be scrolled to
  const ButtonLook uses{.text = "Use", .kind = ButtonKind::kPrimary, .enabled = first_empty() == nullptr};
  const ButtonLook back{.text = "Back", .kind = ButtonKind::kOutlined};
  const bool used = ui.button("prompt_use", buttons.cut_left(ui.button_width(uses)), uses);
  buttons.cut_left(ui.px(kFormGap));
  goes_back_ = ui.button("prompt_back", buttons.cut_left(ui.button_width(back)), back);
  return std::exchange(is_submitted_, false) || used ? fill(ui) : std::nullopt;
}

void PromptForm::draw_field(Ui& ui, Rect& rect, size_t index) {
  Field& field = fields_[index];
  ui.heading_in(rect.cut_top(ui.px(kFormLabel)), printable(field.placeholder.name));
  const float line = ui.line_height({ui.theme->text, kValueLook.text});
  const float text = field.text.content_height(ui, rect.width - ui.px(2 * 10), kValueLook);
  const float height = std::clamp(text, line, kMaxFieldLines * line) + ui.px(kFieldPadding);
  const FieldResult result = field.text.draw(ui, field_name(field.placeholder), rect.cut_top(height), kValueLook);
  if (result.changed) fault_.clear();
  is_submitted_ |= result.submitted;
  rect.cut_top(ui.px(kFormGap));
}

}  // namespace warpchat::gui
