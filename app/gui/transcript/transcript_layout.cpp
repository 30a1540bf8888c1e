#include "app/gui/transcript/transcript_layout.h"

#include <algorithm>
#include <cmath>

#include "app/chat/state/remedies.h"
#include "app/formats/shown_call.h"
#include "app/gui/widgets/elide.h"
#include "app/gui/widgets/numbers.h"
#include "engine/tool_calls.h"
#include "models/human_bytes.h"

namespace warpchat::gui {
namespace {

constexpr size_t kNearMessages = 20;                            // beyond what is visible that stay read
constexpr size_t kNearRows = 60;                                // of a message that stay laid out
constexpr float kLineHeight = 1.37f, kLetterWidth = 0.5f;       // em, for guesses
constexpr float kBubblePart = 0.82f;                            // of the column
constexpr float kErrorButton = 8, kMinWidthOfErrorButton = 26;  // em: its room in a box, and where there is one
constexpr size_t kMaxLabels = 300;
constexpr size_t kFittedBytes = 16384;  // largest message whose bubble fits its text

// Quotes that both blocks lie in.
size_t joined_quotes(const MarkdownBlock& above, const MarkdownBlock& below) {
  const auto differ =
      std::mismatch(above.nesting.begin(), above.nesting.end(), below.nesting.begin(), below.nesting.end());
  return static_cast<size_t>(std::count_if(above.nesting.begin(), differ.first, has_bar));
}

}  // namespace

void TranscriptLayout::begin(const ChatState& state, const TranscriptView::Look& look, float width) {
  state_ = &state;
  n_unseen_ = n_unseen_messages(state.open);
  const bool other_fonts = fonts_ != engine_.fonts_revision();
  fonts_ = engine_.fonts_revision();
  const bool same =
      theme_ == &look.theme && sizes_.text == look.sizes.text && sizes_.scale == look.sizes.scale && !other_fonts;
  if (!same) labels_.clear();
  if (!same || width_ != width) {
    for (auto& rows : messages_) rows->drop_layouts(), rows->bubble_width = 0;
  }
  const bool wider = width_ != width || em_ != look.sizes.text || other_fonts;
  theme_ = &look.theme;
  sizes_ = look.sizes;
  show_thoughts_ = look.show_thoughts;
  em_ = look.sizes.text;
  width_ = width;
  sync();
  for (size_t i = 0; wider && i < messages_.size(); ++i) {
    messages_[i]->guess = guess_of(message(i));
    if (messages_[i]->is_open) guess_rows(*messages_[i]);
  }
}

// Messages keep what they have by their key.
void TranscriptLayout::sync() {
  const std::vector<ChatMessage>& messages = state_->open.messages;
  size_t same = 0;
  while (same < std::min(messages.size(), messages_.size()) && messages_[same]->key == messages[same].key) ++same;
  std::unordered_map<uint64_t, std::unique_ptr<MessageRows>> others;
  for (size_t i = same; i < messages_.size(); ++i) {
    const uint64_t key = messages_[i]->key;
    others[key] = std::move(messages_[i]);
  }
  messages_.resize(messages.size());
  for (size_t i = same; i < messages.size(); ++i) {
    messages_[i] = std::move(others[messages[i].key]);
    if (messages_[i]) continue;
    messages_[i] = std::make_unique<MessageRows>();
    messages_[i]->key = messages[i].key;
    messages_[i]->is_user = messages[i].role == "user";
    messages_[i]->revision = messages[i].revision;
    messages_[i]->status = messages[i].status;
    messages_[i]->guess = guess_of(messages[i]);
  }
  for (size_t i = 0; i < messages.size(); ++i) refresh(i);
}

void TranscriptLayout::refresh(size_t index) {
  MessageRows& rows = *messages_[index];
  const ChatMessage& now = message(index);
  if (rows.revision == now.revision && rows.status == now.status) return;
  rows.revision = now.revision;
  rows.status = now.status;
  if (rows.is_open) {
    read(index);
  } else {
    rows.guess = guess_of(now);
  }
}

void TranscriptLayout::read(size_t index) {
  MessageRows& rows = *messages_[index];
  read_message(message(index), rows, [this](const FoldId& fold) { return is_open(fold); });
  rows.unfolded = rows.has_thought && shows_thought(index);
  rows.bubble_width = 0;
  if (rows.head_height == 0) rows.head_height = 2 * em_;
  guess_rows(rows);
}

MessageRows& TranscriptLayout::opened(size_t index) {
  if (!messages_[index]->is_open) read(index);
  return *messages_[index];
}

bool TranscriptLayout::shows_thought(size_t index) const {
  const auto chosen = unfolded_.find(messages_[index]->key);
  return chosen == unfolded_.end() ? show_thoughts_ && !messages_[index]->is_user : chosen->second;
}

void TranscriptLayout::toggle_thought(size_t index) {
  MessageRows& rows = opened(index);
  rows.unfolded = unfolded_[rows.key] = !rows.unfolded;
  if (rows.is_user) rows.drop_layouts(), rows.bubble_width = 0;
}

void TranscriptLayout::show_folds(MessageRows& rows) {
  rows.show_folds([this](const FoldId& fold) { return is_open(fold); });
}

void TranscriptLayout::toggle_fold(size_t index, const FoldId& fold) {
  if (open_folds_.erase(fold) == 0) open_folds_.insert(fold);
  show_folds(opened(index));
}

bool TranscriptLayout::open_folds_around(size_t index, BlockIndex block) {
  MessageRows& rows = opened(index);
  bool any = false;
  const auto is_open_here = [&](uint32_t fold) { return is_open({rows.key, block.part, fold}); };
  while (const uint32_t closed = closed_fold_around(rows.block(block), is_open_here)) {
    open_folds_.insert({rows.key, block.part, closed});
    any = true;
  }
  if (any) show_folds(rows);
  return any;
}

float TranscriptLayout::guess_of(const ChatMessage& message) const {
  const float letters_a_line = std::max(10.0f, width_ / (kLetterWidth * em_));
  const auto newlines = static_cast<float>(std::count(message.content.begin(), message.content.end(), '\n'));
  return (3 + newlines * 0.8f + static_cast<float>(message.content.size()) / letters_a_line) * kLineHeight * em_;
}

float TranscriptLayout::guess_of(const MarkdownBlock& block) const {
  const float letters_a_line = std::max(10.0f, width_ / (kLetterWidth * em_));
  const auto newlines = static_cast<float>(std::count(block.text.begin(), block.text.end(), '\n'));
  const bool wraps = block.kind != BlockKind::kCode;
  const float lines = 1 + newlines + (wraps ? std::floor(static_cast<float>(block.text.size()) / letters_a_line) : 0);
  return (lines * kLineHeight + (block.tight ? 0.2f : 0.8f)) * em_;
}

void TranscriptLayout::guess_rows(MessageRows& rows) {
  for (MessagePart part : {MessagePart::kThought, MessagePart::kAnswer}) {
    auto& part_rows = part == MessagePart::kThought ? rows.thought_rows : rows.answer_rows;
    for (size_t i = 0; i < part_rows.size(); ++i) {
      if (!part_rows[i].layout) part_rows[i].height = guess_of(rows.blocks(part)[i]);
    }
  }
}

// A user's short text makes a narrow bubble, on the right.
void TranscriptLayout::fit_bubble(size_t index, MessageRows& rows) {
  rows.bubble_width = std::floor(kBubblePart * width_ - 2 * bubble_padding());
  size_t bytes = rows.unfolded ? kFittedBytes + 1 : 0;  // files are as wide as they can be
  for (const MarkdownBlock& block : rows.answer.blocks()) bytes += block.text.size();
  if (bytes > kFittedBytes) return;
  float widest = 0.7f * em_;
  for (const FileChip& chip : file_chips(index)) widest = std::max(widest, chip.x + chip.width);
  for (size_t i = 0; i < rows.answer_rows.size(); ++i) {
    widest = std::max(widest, layout(index, {MessagePart::kAnswer, i}).width());
  }
  const float fitted = std::min(rows.bubble_width, std::ceil(widest) + 1);
  for (MessageRows::Row& row : rows.answer_rows) {
    if (fitted < rows.bubble_width) row.layout.reset();
  }
  rows.bubble_width = fitted;
}

TranscriptLayout::FileChip TranscriptLayout::file_chip(const AttachedFile& file, float max) {
  const auto measure = [&](std::string_view text) {
    return label(std::string(text), chip_text(), theme_->text).width();
  };
  FileChip chip{"", human_bytes(file.text.size()), 0, 0, 0};
  if (file.tokens > 0) chip.figures += " · " + compact(file.tokens) + " tokens";
  const float beside = 3 * em_ + measure(chip.figures);  // icon, gaps
  chip.name = elide_middle(file.name, std::max(0.0f, std::min(16 * em_, max - beside)), measure);
  chip.width = std::min(max, std::ceil(measure(chip.name) + beside));
  return chip;
}

std::vector<TranscriptLayout::FileChip> TranscriptLayout::file_chips(size_t index) {
  std::vector<FileChip> chips;
  const MessageRows& rows = at(index);
  const float max = rows.bubble_width > 0 ? rows.bubble_width : kBubblePart * width_ - 2 * bubble_padding();
  const float gap = std::round(0.4f * em_);
  float x = 0, y = 0;
  for (const AttachedFile& file : message(index).files) {
    chips.push_back(file_chip(file, max));
    if (x > 0 && x + chips.back().width > max) x = 0, y += chip_height() + gap;
    chips.back().x = x, chips.back().y = y;
    x += chips.back().width + gap;
  }
  return chips;
}

float TranscriptLayout::head_height(size_t index) {
  MessageRows& rows = opened(index);
  if (!rows.is_user) return 2 * em_;
  if (rows.bubble_width == 0) fit_bubble(index, rows);
  const std::vector<FileChip> chips = file_chips(index);
  return chips.empty() ? 0 : chips.back().y + chip_height();
}

float TranscriptLayout::content_width(const MessageRows& rows, MessagePart part) const {
  if (rows.is_user) return rows.bubble_width;
  return part == MessagePart::kThought ? width_ - 1.1f * em_ : width_;
}

float TranscriptLayout::content_x(size_t index, MessagePart part) const {
  const MessageRows& rows = at(index);
  if (rows.is_user) return width_ - rows.bubble_width - bubble_padding();
  return part == MessagePart::kThought ? 1.1f * em_ : 0;
}

BlockLook TranscriptLayout::look_of(size_t index, MessagePart part) const {
  const bool is_user = at(index).is_user;
  return {*theme_, sizes_, part == MessagePart::kThought && !is_user};
}

BlockLayout& TranscriptLayout::layout(size_t index, BlockIndex block) {
  MessageRows& rows = opened(index);
  MessageRows::Row& row = rows.row_at(block);
  if (!row.layout) {
    if (rows.is_user && rows.bubble_width == 0) {
      fit_bubble(index, rows);
      return layout(index, block);
    }
    const auto& blocks = rows.blocks(block.part);
    const bool goes_on = block.block + 1 < blocks.size() && blocks[block.block + 1].continues;
    row.layout = std::make_unique<BlockLayout>(
        engine_, blocks[block.block], look_of(index, block.part),
        BlockPlace{content_width(rows, block.part), block.block == 0, goes_on,
                   block.block > 0 ? joined_quotes(blocks[block.block - 1], blocks[block.block]) : 0});
    row.height = row.layout->height();
  }
  return *row.layout;
}

float TranscriptLayout::lead(size_t index, size_t row) const {
  const MessageRows& rows = at(index);
  float lead = index == 0 && row == 0 ? 1.4f * em_ : 0;
  if (rows.is_user && rows.kind(row) == RowKind::kThoughtHead) return lead + bubble_padding() * 0.8f;
  if (rows.kind(row) != RowKind::kBlock) return lead;
  const BlockIndex block = rows.block_index(row);
  if (block.block > 0) return lead;
  if (rows.is_user) lead += bubble_padding() * 0.8f;
  if (rows.unfolded && block.part == MessagePart::kAnswer) lead += 0.9f * em_;
  return lead;
}

float TranscriptLayout::footer_lead(size_t index) const { return at(index).is_user ? bubble_padding() * 0.8f : 0; }

std::string TranscriptLayout::note_of(const ChatMessage& message) const {
  const auto& refusal = state_->refusal;
  if (refusal && refusal->message == message.key && refusal->tokens > 0) return as_sentence(refusal->reason);
  if (const ToolCall* asked = asked_call(message))
    return "May this tool be called?" + (message.why_asked.empty() ? "" : " (" + message.why_asked + ")") + "\n" +
           shown_call(*asked);
  switch (message.status) {
    case MessageStatus::kStopped:
      return "Stopped.";
    case MessageStatus::kFailed:
      return message.failure.empty() ? "The answer failed."
                                     : full_sentence(with_remedy(message.failure, message.remedy, View::kWindow));
    default:
      break;
  }
  if (message.status == MessageStatus::kComplete && has_undone(message.tool_calls))
    return as_sentence(calls_in_words(message.tool_calls));
  if (message.cut == AnswerCut::kTokenLimit) return "Cut at the limit of an answer's length.";
  return message.cut == AnswerCut::kContextFull ? "Cut: the context is full." : "";
}

float TranscriptLayout::note_height(size_t index) {
  MessageRows& rows = opened(index);
  const std::string note = note_of(message(index));
  if (note != rows.note) {
    rows.note = note;
    rows.note_layout.reset();
  }
  if (note.empty()) return 0;
  if (!rows.note_layout) {
    const bool is_error = note_is_error(index), is_question = asked_call(message(index)) != nullptr;
    TextStyle style;
    style.face = is_question ? Face::kCode : is_error ? Face::kText : Face::kItalic;
    style.size = 0.92f * em_;
    style.colour = is_error || is_question ? theme_->text : theme_->dim_text;
    const float beside = error_text_left() + (error_box_has_button() ? kErrorButton : 1) * em_;
    rows.note_layout = engine_.layout({note, {{0, note.size(), style}}}, is_error ? width_ - beside : width_);
  }
  return (note_is_error(index) ? error_box_height(index) : rows.note_layout->height()) + 0.5f * em_;
}

bool TranscriptLayout::note_is_error(size_t index) const {
  const ChatMessage& shown = message(index);
  return shown.status == MessageStatus::kFailed || (state_->refusal && state_->refusal->message == shown.key);
}

float TranscriptLayout::error_box_height(size_t index) {
  return std::round(std::max(at(index).note_layout->height() + 1.1f * em_, 2.6f * em_));
}

bool TranscriptLayout::error_box_has_button() const { return width_ > kMinWidthOfErrorButton * em_; }

float TranscriptLayout::ways_height(size_t index) const {
  if (asked_call(message(index)) != nullptr) return (decisions_need_two_rows() ? 2 : 1) * (strip_height() + 0.3f * em_);
  return remedies_at(*state_, message(index)).any() ? strip_height() + 0.3f * em_ : 0;
}

float TranscriptLayout::row_height(size_t index, size_t row) {
  MessageRows& rows = opened(index);
  float height = lead(index, row);
  switch (rows.kind(row)) {
    case RowKind::kThoughtHead:
      height += rows.head_height = head_height(index);
      break;
    case RowKind::kFooter:
      height += footer_lead(index) + note_height(index) + ways_height(index) + strip_height() + divider_height(index) +
                (rows.is_user ? 0.5f : 1.2f) * em_;
      break;
    case RowKind::kBlock:
      height += layout(index, rows.block_index(row)).height();
      break;
  }
  return std::max(1.0f, height);
}

float TranscriptLayout::guessed_height(size_t index, size_t row) {
  MessageRows& rows = opened(index);
  if (rows.kind(row) != RowKind::kBlock) return row_height(index, row);
  return std::max(1.0f, lead(index, row) + rows.row_at(rows.block_index(row)).height);
}

float TranscriptLayout::message_height(size_t index) const {
  const MessageRows& rows = at(index);
  if (!rows.is_open) return rows.guess;
  float height =
      (rows.has_thought ? rows.head_height : 0) + strip_height() + footer_lead(index) + divider_height(index) + em_;
  if (rows.unfolded)
    for (const size_t block : rows.shown_thought) height += rows.thought_rows[block].height;
  for (const size_t block : rows.shown_answer) height += rows.answer_rows[block].height;
  return height;
}

std::optional<size_t> TranscriptLayout::index_of(uint64_t key) const {
  for (size_t i = 0; i < messages_.size(); ++i) {
    if (messages_[i]->key == key) return i;
  }
  return std::nullopt;
}

void TranscriptLayout::drop_far(const std::vector<VisibleRow>& visible) {
  if (visible.empty()) return;
  const RowPlace first = visible.front().place, last = visible.back().place;
  for (size_t i = 0; i < messages_.size(); ++i) {
    MessageRows& rows = *messages_[i];
    if (!rows.is_open) continue;
    if (i + kNearMessages < first.message || i > last.message + kNearMessages) {
      rows.guess = message_height(i);
      rows.close();
      continue;
    }
    const size_t n = rows.n_rows();
    const size_t from = i == first.message ? first.row : i < first.message ? n : 0;
    const size_t to = i == last.message ? last.row : i > last.message ? 0 : n;
    for (size_t row = 0; n > 2 * kNearRows && row < n; ++row) {
      if (rows.kind(row) == RowKind::kBlock && (row + kNearRows < from || row > to + kNearRows)) {
        rows.row_at(rows.block_index(row)).layout.reset();
      }
    }
  }
}

size_t TranscriptLayout::n_layouts() const {
  size_t n = 0;
  for (const auto& rows : messages_) {
    for (const MessageRows::Row& row : rows->thought_rows) n += row.layout != nullptr;
    for (const MessageRows::Row& row : rows->answer_rows) n += row.layout != nullptr;
  }
  return n;
}

const TextLayout& TranscriptLayout::label(const std::string& text, float size, Colour colour, Face face) {
  if (labels_.size() > kMaxLabels) labels_.clear();
  std::string key =
      text + '\0' + std::to_string(size) + '/' + std::to_string(colour) + '/' + std::to_string(static_cast<int>(face));
  std::unique_ptr<TextLayout>& known = labels_[key];
  if (!known) {
    TextStyle style;
    style.face = face;
    style.size = size;
    style.colour = colour;
    known = engine_.layout({text, {{0, text.size(), style}}}, 0);
  }
  return *known;
}

}  // namespace warpchat::gui
