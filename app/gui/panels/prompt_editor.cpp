// The text may begin as the message that is being written.
#include "app/gui/panels/prompt_editor.h"

#include <algorithm>

#include "app/gui/widgets/numbers.h"
#include "app/platform/named_files.h"
#include "models/ascii.h"
#include "models/text_format.h"

namespace warpchat::gui {

namespace {

constexpr float kEditLabel = 26, kEditField = 36, kEditGap = 10, kEditHint = 22;  // at scale 1
constexpr FieldLook kPromptText{.placeholder = "Translate into {language=English}: {text}",
                                .multiline = true,
                                .enter_submits = false,
                                .text = 0.95f};

uint64_t newest_notice(const ChatState& state) {
  uint64_t newest = 0;
  for (const NoticeItem& notice : state.notices) newest = std::max(newest, notice.id);
  return newest;
}

}  // namespace

void PromptEditor::open(Frame& f, const LibraryPrompt& prompt) {
  replaces_ = prompt.name;
  name_.buffer.set(prompt.name);
  text_.buffer.set(prompt.text);
  saved_prompts_ = f.state.saved_prompts;
  has_saved_ = false;
  f.ui.set_focus(is_new() ? "prompt_name" : "prompt_text");
}

std::string PromptEditor::fault(const ChatState& state) const {
  const std::string& name = name_.text();
  if (trimmed(text_.text()).empty() || name.empty()) return "";  // the button waits for both
  if (!can_name_file(name)) return "A name has at most 64 bytes, no slash, and begins with neither . nor -";
  const auto is_other = [&](const LibraryPrompt& other) { return other.name == name && other.name != replaces_; };
  if (std::ranges::any_of(state.prompts, is_other)) return "There is another prompt of this name";
  if (!has_saved_) return "";
  for (const NoticeItem& notice : state.notices)
    if (notice.is_error && notice.id > last_notice_) return full_sentence(notice.text);
  return "";
}

void PromptEditor::save(Frame& f) {
  has_saved_ = true;
  last_notice_ = newest_notice(f.state);
  f.actions.push(SavePrompt{name_.text(), text_.text(), replaces_});
}

PromptEditor::Result PromptEditor::draw(Frame& f, Rect rect) {
  if (has_saved_ && f.state.saved_prompts > saved_prompts_) return Result::kSaved;
  Ui& ui = f.ui;
  const TextLook dim{ui.theme->dim_text, 0.82f};
  Rect buttons = rect.cut_bottom(ui.px(kEditField));
  rect.cut_bottom(ui.px(kEditGap));
  ui.heading_in(rect.cut_top(ui.px(kEditLabel)), "Name");
  const FieldResult named =
      name_.draw(ui, "prompt_name", rect.cut_top(ui.px(kEditField)), {.placeholder = "translate", .text = 0.95f});
  rect.cut_top(ui.px(kEditGap));
  ui.heading_in(rect.cut_top(ui.px(kEditLabel)), "Text");
  const Rect hint = rect.cut_bottom(ui.px(kEditHint));
  const FieldResult written = text_.draw(ui, "prompt_text", rect, kPromptText);
  if (named.changed || written.changed) has_saved_ = false;
  const std::string why = fault(f.state);
  ui.label_in(hint, "{name} or {name=default} is asked for; {{name}} is the text {name}", dim);
  const bool can_save = why.empty() && !name_.text().empty() && !trimmed(text_.text()).empty();
  const ButtonLook saves{.text = "Save", .kind = ButtonKind::kPrimary, .enabled = can_save};
  const ButtonLook back{.text = "Back", .kind = ButtonKind::kOutlined};
  const bool saved = ui.button("prompt_save", buttons.cut_left(ui.button_width(saves)), saves);
  buttons.cut_left(ui.px(kEditGap));
  const bool goes_back = ui.button("prompt_back", buttons.cut_left(ui.button_width(back)), back);
  buttons.cut_left(ui.px(kEditGap));
  if (!why.empty()) ui.label_in(buttons, why, {ui.theme->error, 0.85f}), ui.mark("prompt_fault", buttons);
  if (can_save && (saved || named.submitted)) save(f);
  return goes_back ? Result::kBack : Result::kOpen;
}

}  // namespace warpchat::gui
