// One message as rows: the line over its thought, or a user's files, its blocks, its footer. Read and laid out when it
// comes into view. Blocks in closed folds have no row.
#pragma once
#include <compare>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/chat/state/chat_state.h"
#include "app/gui/transcript/block_layout.h"
#include "app/gui/transcript/markdown_document.h"

namespace warpchat::gui {

enum class RowKind {
  kThoughtHead,
  kBlock,
  kFooter
};  // a user's files are to his message what a thought is to an answer
enum class MessagePart : uint8_t { kThought, kAnswer };

struct BlockIndex {
  MessagePart part;
  size_t block;
};

// A fold, MarkdownBlock::folds, of a message.
struct FoldId {
  uint64_t key;
  MessagePart part;
  uint32_t number;
  auto operator<=>(const FoldId&) const = default;
};
using IsOpenFold = std::function<bool(const FoldId&)>;

struct MessageRows {
  struct Row {
    float height = 0;  // exact if there is a layout, else a guess
    std::unique_ptr<BlockLayout> layout;
  };

  uint64_t key = 0;
  bool is_user = false;
  uint32_t revision = 0;
  MessageStatus status = MessageStatus::kComplete;
  float guess = 0;  // of the whole height, while it is closed

  bool is_open = false;  // read: all below is there
  bool has_thought = false, unfolded = false;
  MarkdownDocument thought, answer;
  std::vector<Row> thought_rows, answer_rows;       // by block
  std::vector<size_t> shown_thought, shown_answer;  // blocks that have rows, ascending
  float bubble_width = 0;                           // of a user's text
  float head_height = 0;                            // as drawn last
  std::string note;                                 // below the text: why it ended
  std::unique_ptr<TextLayout> note_layout;

  size_t n_rows() const;
  RowKind kind(size_t row) const;
  BlockIndex block_index(size_t row) const;  // of a block's row
  size_t row_of(BlockIndex index) const;     // a block's row; a folded thought's: its head; in a closed fold: the next
  std::vector<Row>& rows_of(MessagePart part) { return part == MessagePart::kThought ? thought_rows : answer_rows; }
  const std::vector<size_t>& shown_of(MessagePart part) const {
    return part == MessagePart::kThought ? shown_thought : shown_answer;
  }
  void show_folds(const IsOpenFold& opens);
  Row& row_at(BlockIndex index) { return rows_of(index.part)[index.block]; }
  const std::vector<MarkdownBlock>& blocks(MessagePart part) const {
    return part == MessagePart::kThought ? thought.blocks() : answer.blocks();
  }
  const MarkdownBlock& block(BlockIndex index) const { return blocks(index.part)[index.block]; }

  void drop_layouts();
  void close();  // keeps its height as a guess
};

// A message's text in its two parts, without the empty lines at their ends.
struct MessageTexts {
  std::string_view thought, answer;
  size_t thought_begin = 0, answer_begin = 0;  // bytes, as token marks count them where there are no rounds
  // A message with files has their text as thought, an answer with calls has these as folds.
  std::shared_ptr<const std::string> made_thought, made_answer;
  bool thinks = false;  // the thought has not ended yet
};
MessageTexts texts_of(const ChatMessage& message);
bool has_thought(const ChatMessage& message);  // or files
bool is_thinking(const ChatMessage& message);
std::string text_to_copy(const ChatMessage& message);  // without thoughts and calls

// Parses the message, or its new part.
void read_message(const ChatMessage& message, MessageRows& rows, const IsOpenFold& is_open);

}  // namespace warpchat::gui
