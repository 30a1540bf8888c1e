// Where words occur in the conversation as it is read, also in closed folds; thoughts only where they are shown.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "app/gui/transcript/transcript_layout.h"
#include "app/gui/transcript/transcript_selection.h"

namespace warpchat::gui {

class TranscriptFind {
 public:
  // Empty: nothing is looked for. or_each: where the conversation does not have them as a phrase, each of the words.
  void set(std::string words, bool or_each);
  bool is_on() const { return !words_.empty(); }

  // Call after the conversation may have changed. Unchanged messages are not parsed again.
  void follow(const TranscriptLayout& layout);

  size_t n_found() const { return n_found_; }
  size_t at() const { return at_; }    // of n_found
  void move(ptrdiff_t steps);          // past the ends to the other one
  void go_to_message(size_t message);  // to the first match there or behind it

  struct Match {
    size_t message;
    BlockIndex index;
    size_t begin, end;  // bytes of the block's text
    bool is_current;
  };
  std::optional<Match> current() const;
  std::vector<Match> matches_in(size_t message, BlockIndex index) const;

 private:
  struct Place {
    BlockIndex index;
    size_t begin, end;
  };
  struct Found {
    uint64_t key = 0;
    uint32_t revision = 0;
    MessageStatus status = MessageStatus::kComplete;
    bool shows_thought = false, searched = false;
    size_t first = 0;  // of its places, counted through the conversation
    std::vector<std::pair<BlockIndex, std::string>> texts;
    std::vector<Place> places;
  };
  void read(const TranscriptLayout& layout);
  void search(const std::vector<std::string>& wanted);

  std::string words_;
  bool or_each_ = false, is_by_word_ = false;  // the latter: the conversation does not have the phrase
  std::vector<Found> messages_;
  size_t n_found_ = 0, at_ = 0;
};

}  // namespace warpchat::gui
