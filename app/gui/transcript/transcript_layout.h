// The conversation as rows of a column, laid out where they are looked at: messages that are far away are not even
// read, only their heights are guessed. Pixels; x from the column's left edge.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "app/gui/transcript/message_rows.h"
#include "app/gui/transcript/row_scroll.h"
#include "app/gui/transcript/transcript_view.h"

namespace warpchat::gui {

class TranscriptLayout : public RowSource {
 public:
  explicit TranscriptLayout(TextEngine& engine) : engine_(engine) {}

  // Before anything else in a frame; both references stay valid until the next. width: of the column.
  void begin(const ChatState& state, const TranscriptView::Look& look, float width);

  size_t n_messages() const override { return messages_.size(); }
  float message_height(size_t message) const override;
  size_t n_rows(size_t message) override { return opened(message).n_rows(); }
  float row_height(size_t message, size_t row) override;
  float guessed_height(size_t message, size_t row) override;

  MessageRows& opened(size_t message);  // read if it was not
  const MessageRows& at(size_t message) const { return *messages_[message]; }
  const ChatMessage& message(size_t index) const { return state_->open.messages[index]; }
  std::optional<size_t> index_of(uint64_t key) const;
  BlockLayout& layout(size_t message, BlockIndex index);
  BlockLook look_of(size_t message, MessagePart part) const;

  float lead(size_t message, size_t row) const;  // above a row's content, part of the row
  float content_x(size_t message, MessagePart part) const;
  float bubble_padding() const { return 0.75f * em(); }
  float note_height(size_t message);                  // of what the footer says above its buttons
  float strip_height() const { return 1.9f * em(); }  // of the footer's buttons
  float footer_lead(size_t message) const;            // from its top to the note
  float head_height(size_t message);                  // of the line over the thought, or of a user's files
  // A user's files in rows, from the top left of the bubble's text on.
  struct FileChip {
    std::string name, figures;
    float x, y, width;
  };
  std::vector<FileChip> file_chips(size_t message);
  float chip_height() const { return 1.75f * em(); }
  float chip_text() const { return 0.88f * em(); }  // its size
  bool note_is_error(size_t message) const;         // and stands in a box
  float error_box_height(size_t message);           // without the room above it
  bool error_box_has_button() const;                // there is room for it beside the text
  float error_text_left() const { return 2.2f * em_; }
  float ways_height(size_t message) const;  // of the buttons below the note, where something helps or is asked
  bool decisions_need_two_rows() const { return width_ < 38 * em_; }
  bool is_last_unseen(size_t message) const { return message + 1 == n_unseen_; }
  float divider_height(size_t message) const { return is_last_unseen(message) ? 3 * em() : 0; }  // at its end
  float em() const { return em_; }
  float width() const { return width_; }

  bool shows_thought(size_t message) const;
  void toggle_thought(size_t message);
  bool is_open(const FoldId& fold) const { return open_folds_.contains(fold); }
  void toggle_fold(size_t message, const FoldId& fold);
  bool open_folds_around(size_t message, BlockIndex index);  // whether one was closed

  // Drops layouts far from the visible rows.
  void drop_far(const std::vector<VisibleRow>& visible);
  size_t n_layouts() const;  // for tests: blocks laid out

  // Short text of the controls, kept between frames.
  const TextLayout& label(const std::string& text, float size, Colour colour, Face face = Face::kText);

 private:
  void sync();
  void show_folds(MessageRows& rows);
  void refresh(size_t index);
  void read(size_t index);
  float guess_of(const ChatMessage& message) const;
  float guess_of(const MarkdownBlock& block) const;
  void guess_rows(MessageRows& rows);
  void fit_bubble(size_t message, MessageRows& rows);
  FileChip file_chip(const AttachedFile& file, float max);
  float content_width(const MessageRows& rows, MessagePart part) const;
  std::string note_of(const ChatMessage& message) const;

  TextEngine& engine_;
  const ChatState* state_ = nullptr;
  const Theme* theme_ = nullptr;
  uint32_t fonts_ = 0;  // revision of the fonts of what is laid out
  Sizes sizes_;
  bool show_thoughts_ = false;
  size_t n_unseen_ = 0;  // messages that the model is not given any more
  float em_ = 16, width_ = 0;
  std::vector<std::unique_ptr<MessageRows>> messages_;
  std::unordered_map<uint64_t, bool> unfolded_;  // by key, where the user chose
  std::set<FoldId> open_folds_;
  std::map<std::string, std::unique_ptr<TextLayout>> labels_;
};

}  // namespace warpchat::gui
