// The one thing that is computed of the state: where an answer's thought ends.
#include "app/gui/chat_state.h"

namespace warpchat::gui {

// As ThinkingTracker (engine/session/thinking.h) sees the same text when it streams.
size_t thought_bytes(std::string_view text) {
  constexpr std::string_view kOpen = "<think>", kClose = "</think>";
  const size_t start = text.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos || !text.substr(start).starts_with(kOpen)) return 0;
  const size_t close = text.find(kClose, start);
  return close == std::string_view::npos ? text.size() : close + kClose.size();
}

}  // namespace warpchat::gui
