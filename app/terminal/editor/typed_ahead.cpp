// The keys are pressed twice: here for their looks, and in the reader's editor once it is asked for a line.
#include "app/terminal/editor/typed_ahead.h"

#include <utility>

#include "models/text_format.h"

namespace warpchat {

TypedAhead::TypedAhead(History& history) : preview_(history, [](std::string_view) { return Completion(); }) {}

void TypedAhead::press(const std::vector<Key>& keys) {
  if (keys_.empty()) preview_.begin();
  for (const Key& key : keys) {
    keys_.push_back(key);
    const EditOutcome outcome = preview_.press(key);
    if (outcome == EditOutcome::kLine && !preview_.text().empty()) ++n_entered_;
    if (outcome == EditOutcome::kLine || outcome == EditOutcome::kInterrupted) preview_.begin();
  }
}

std::vector<Key> TypedAhead::release() {
  preview_.begin();
  n_entered_ = 0;
  return std::exchange(keys_, {});
}

std::string TypedAhead::row(int columns) const {
  constexpr int kMinShown = 8, kUnbroken = 1 << 30;  // columns
  if (preview_.text().empty() && n_entered_ == 0) return "";
  std::string label = n_entered_ == 0 ? "" : "(" + counted(n_entered_, "line") + " waiting) ";
  if (columns - static_cast<int>(label.size()) < kMinShown) label.clear();
  const PromptLayout layout = preview_.layout(kUnbroken, 1);
  const auto& [text, width] = layout.rows[layout.cursor_row];
  size_t begin = 0;
  for (int left = width; left > columns - 1 - static_cast<int>(label.size()) && begin < text.size();) {
    const size_t next = next_grapheme(text, begin);
    left -= grapheme_width(std::string_view(text).substr(begin, next - begin));
    begin = next;
  }
  return label + text.substr(begin);
}

}  // namespace warpchat
