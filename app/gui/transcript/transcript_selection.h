// What is selected of a conversation: from one place in its text to another, whichever comes first. Places are kept by
// message and block, so that an answer may go on streaming.
#pragma once
#include <functional>
#include <string>

#include "app/chat/state/chat_state.h"
#include "app/gui/transcript/message_rows.h"

namespace warpchat::gui {

struct TextPlace {
  size_t message = 0;  // index
  MessagePart part = MessagePart::kAnswer;
  size_t block = 0;
  size_t offset = 0;  // bytes of the block's text
  auto operator<=>(const TextPlace&) const = default;
};

struct TextRange {
  TextPlace begin, end;
};

// The bytes of a block that lie in the range; empty: {0, 0}.
std::pair<size_t, size_t> selected_bytes(const TextRange& range, size_t message, BlockIndex index, size_t length);

// What is shown of a conversation.
struct Shown {
  std::function<bool(size_t)> thought;  // of the message of this index
  IsOpenFold fold;
};

// As it is read, messages parted by an empty line; thoughts and folds only where they are shown.
std::string text_in(const TextRange& range, const ChatState& state, const Shown& shown);

}  // namespace warpchat::gui
