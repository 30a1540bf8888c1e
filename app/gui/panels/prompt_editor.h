// A prompt's name and text, new or changed. It is open until the prompt is stored.
#pragma once
#include <string>

#include "app/formats/prompts.h"
#include "app/gui/panels/shortcuts.h"
#include "app/gui/widgets/text_field.h"

namespace warpchat::gui {

class PromptEditor {
 public:
  void open(Frame& f, const LibraryPrompt& prompt);  // without a name: a new one
  bool is_new() const { return replaces_.empty(); }

  enum class Result { kOpen, kSaved, kBack };
  Result draw(Frame& f, Rect rect);

 private:
  std::string fault(const ChatState& state) const;  // why it cannot be saved; empty: it can
  void save(Frame& f);

  TextField name_, text_;
  std::string replaces_;        // the name of the prompt that is changed; empty: a new one
  uint64_t saved_prompts_ = 0;  // when it was opened
  uint64_t last_notice_ = 0;    // when it was saved last: an error after that is about it
  bool has_saved_ = false;      // it was tried
};

}  // namespace warpchat::gui
