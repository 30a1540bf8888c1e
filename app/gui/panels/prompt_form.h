// The values of a prompt's placeholders: a field for each.
#pragma once
#include <deque>
#include <optional>
#include <string>

#include "app/formats/prompt_text.h"
#include "app/formats/prompts.h"
#include "app/gui/panels/shortcuts.h"
#include "app/gui/widgets/text_field.h"

namespace warpchat::gui {

class PromptForm {
 public:
  void open(Ui& ui, const LibraryPrompt& prompt);  // without a fault
  bool has_fields() const { return !fields_.empty(); }

  // The filled text once the user has asked for it.
  std::optional<std::string> draw(Ui& ui, Rect rect);
  bool take_back() { return std::exchange(goes_back_, false); }  // the user has left the form

 private:
  struct Field {
    Placeholder placeholder;
    TextField text = {};
  };
  void draw_field(Ui& ui, Rect& rect, size_t index);
  std::optional<std::string> fill(Ui& ui);
  const Field* first_empty() const;  // of those without a default; null: none is

  LibraryPrompt prompt_;
  std::deque<Field> fields_;
  std::string fault_;
  bool appearing_ = false, is_submitted_ = false, goes_back_ = false;
};

std::string field_name(const Placeholder& placeholder);  // of its widget

}  // namespace warpchat::gui
