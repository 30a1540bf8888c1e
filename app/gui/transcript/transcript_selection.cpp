#include "app/gui/transcript/transcript_selection.h"

#include <algorithm>

namespace warpchat::gui {
namespace {

void append_part(const TextRange& range, size_t message, MessagePart part, const MessageRows& rows, std::string& out) {
  const std::vector<MarkdownBlock>& blocks = rows.blocks(part);
  for (const size_t i : rows.shown_of(part)) {
    const TextPlace begin{message, part, i, 0}, end{message, part, i, blocks[i].text.size()};
    if (end < range.begin || range.end < begin) continue;
    if (blocks[i].text.empty() && blocks[i].marker.empty()) continue;  // a rule
    const auto [from, to] = selected_bytes(range, message, {part, i}, blocks[i].text.size());
    if (from == to && !blocks[i].text.empty()) continue;
    if (!out.empty()) out += copied_gap(blocks[i]);
    out += copied_text(blocks[i], from, to);
  }
}

}  // namespace

std::pair<size_t, size_t> selected_bytes(const TextRange& range, size_t message, BlockIndex index, size_t length) {
  const TextPlace begin{message, index.part, index.block, 0}, end{message, index.part, index.block, length};
  if (end < range.begin || range.end < begin) return {0, 0};
  const size_t from = begin < range.begin ? range.begin.offset : 0;
  const size_t to = range.end < end ? range.end.offset : length;
  return {std::min(from, to), to};
}

std::string text_in(const TextRange& range, const ChatState& state, const Shown& shown) {
  std::string out;
  const std::vector<ChatMessage>& messages = state.open.messages;
  for (size_t i = range.begin.message; i <= range.end.message && i < messages.size(); ++i) {
    MessageRows rows;
    rows.is_user = messages[i].role == "user";
    read_message(messages[i], rows, shown.fold);
    std::string text;
    if (shown.thought(i)) append_part(range, i, MessagePart::kThought, rows, text);
    append_part(range, i, MessagePart::kAnswer, rows, text);
    if (!out.empty() && !text.empty()) out += "\n\n";
    out += text;
  }
  return out;
}

}  // namespace warpchat::gui
