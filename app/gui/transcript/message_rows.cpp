#include "app/gui/transcript/message_rows.h"

#include <algorithm>

#include "app/formats/shown_call.h"

namespace warpchat::gui {
namespace {

size_t skip_space(std::string_view text, size_t from) {
  return std::min(text.find_first_not_of(" \t\r\n", from), text.size());
}

constexpr size_t kMaxShownResult = 16384;  // bytes, of one call

bool has_calls(const ChatMessage& message) { return !message.rounds.empty() || !message.tool_calls.empty(); }

// Rows of blocks that have not changed keep their layout; a piece looks otherwise once another follows it.
void update_part(MarkdownDocument& document, std::vector<MessageRows::Row>& rows, std::string_view text, bool streaming,
                 size_t source) {
  document.update(text, streaming, source);
  const std::vector<MarkdownBlock>& blocks = document.blocks();
  size_t kept = std::min(document.n_unchanged(), rows.size());
  if (kept > 0 && kept < blocks.size() && blocks[kept].continues) --kept;
  for (size_t i = kept; i < rows.size(); ++i) rows[i].layout.reset();
  rows.resize(blocks.size());
}

}  // namespace

size_t MessageRows::n_rows() const {
  if (!is_open) return 1;
  return (has_thought ? 1 : 0) + (unfolded ? shown_thought.size() : 0) + shown_answer.size() + 1;
}

RowKind MessageRows::kind(size_t row) const {
  if (has_thought && row == 0) return RowKind::kThoughtHead;
  return row + 1 == n_rows() ? RowKind::kFooter : RowKind::kBlock;
}

BlockIndex MessageRows::block_index(size_t row) const {
  if (has_thought) --row;
  const size_t n_thought = unfolded ? shown_thought.size() : 0;
  if (row < n_thought) return {MessagePart::kThought, shown_thought[row]};
  return {MessagePart::kAnswer, shown_answer[row - n_thought]};
}

size_t MessageRows::row_of(BlockIndex index) const {
  const size_t head = has_thought ? 1 : 0;
  const std::vector<size_t>& shown = shown_of(index.part);
  const auto row = static_cast<size_t>(std::ranges::lower_bound(shown, index.block) - shown.begin());
  if (index.part == MessagePart::kThought) return unfolded ? head + row : 0;
  return head + (unfolded ? shown_thought.size() : 0) + row;
}

void MessageRows::show_folds(const IsOpenFold& opens) {
  const auto show = [&](MessagePart part, std::vector<size_t>& shown) {
    shown.clear();
    const auto is_open_here = [&](uint32_t fold) { return opens({key, part, fold}); };
    for (size_t i = 0; i < blocks(part).size(); ++i)
      if (closed_fold_around(blocks(part)[i], is_open_here) == 0) shown.push_back(i);
  };
  show(MessagePart::kThought, shown_thought);
  show(MessagePart::kAnswer, shown_answer);
}

void MessageRows::drop_layouts() {
  for (Row& row : thought_rows) row.layout.reset();
  for (Row& row : answer_rows) row.layout.reset();
  note_layout.reset();
}

void MessageRows::close() {
  is_open = false;
  thought = MarkdownDocument();
  answer = MarkdownDocument();
  thought_rows.clear();
  thought_rows.shrink_to_fit();
  answer_rows.clear();
  answer_rows.shrink_to_fit();
  shown_thought = shown_answer = {};
  note_layout.reset();
}

bool has_thought(const ChatMessage& message) {
  return !message.reasoning.empty() || !message.files.empty() ||
         std::ranges::any_of(message.rounds, [](const ToolRound& round) { return !round.reasoning.empty(); });
}

bool is_thinking(const ChatMessage& message) {
  return message.role != "user" && message.status == MessageStatus::kStreaming && message.content.empty() &&
         message.tool_calls.empty() && message.thinking_seconds.has_value();
}

MessageTexts texts_of(const ChatMessage& message) {
  MessageTexts texts;
  if (!message.files.empty()) {
    texts.made_thought = std::make_shared<const std::string>(text_for_model({.files = message.files}));
    texts.thought = *texts.made_thought;
    texts.answer = message.content;
    return texts;
  }
  texts.answer = message.content;
  if (message.role == "user") return texts;
  std::string_view thought = message.reasoning;
  if (has_calls(message)) {
    texts.made_thought =
        std::make_shared<const std::string>(joined(message.rounds, &ToolRound::reasoning, message.reasoning));
    texts.made_answer = std::make_shared<const std::string>(answer_markdown(message, kMaxShownResult));
    thought = *texts.made_thought;
    texts.answer = *texts.made_answer;
  }
  texts.thinks = is_thinking(message);
  texts.thought_begin = skip_space(thought, 0);
  texts.thought = thought.substr(texts.thought_begin);
  texts.thought = texts.thought.substr(0, texts.thought.find_last_not_of(" \t\r\n") + 1);
  size_t begin = skip_space(texts.answer, 0);
  while (begin > 0 && texts.answer[begin - 1] != '\n') --begin;  // indentation of the first line belongs to it
  texts.answer.remove_prefix(begin);
  texts.answer_begin = message.reasoning.size() + begin;
  return texts;
}

std::string text_to_copy(const ChatMessage& message) {
  return message.rounds.empty() ? std::string(texts_of(message).answer)
                                : joined(message.rounds, &ToolRound::content, message.content);
}

void read_message(const ChatMessage& message, MessageRows& rows, const IsOpenFold& is_open) {
  const MessageTexts texts = texts_of(message);
  const bool streaming = message.status == MessageStatus::kStreaming;
  if (!rows.is_open) {
    rows.answer = MarkdownDocument(rows.is_user ? MarkdownDocument::Kind::kPlain : MarkdownDocument::Kind::kMarkdown);
  }
  rows.is_open = true;
  rows.has_thought = !texts.thought.empty() || texts.thinks;
  update_part(rows.thought, rows.thought_rows, texts.thought, texts.thinks, texts.thought_begin);
  update_part(rows.answer, rows.answer_rows, texts.answer, streaming, texts.answer_begin);
  rows.key = message.key;
  rows.show_folds(is_open);
}

}  // namespace warpchat::gui
