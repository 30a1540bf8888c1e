// What is computed of the state.
#include "app/desk/desk_state.h"

#include <algorithm>

namespace warpchat {

std::string text_between(const ChatMessage& message, size_t begin, size_t end) {
  const size_t n_reasoning = message.reasoning.size();
  const auto part = [&](const std::string& text, size_t first) {
    const size_t from = std::clamp(begin, first, first + text.size()) - first;
    const size_t to = std::clamp(end, first, first + text.size()) - first;
    return text.substr(from, to > from ? to - from : 0);
  };
  return part(message.reasoning, 0) + part(message.content, n_reasoning);
}

}  // namespace warpchat
