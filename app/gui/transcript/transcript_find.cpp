// Texts are parsed once and kept during a search: another letter in the words costs no parsing.
#include "app/gui/transcript/transcript_find.h"

#include <algorithm>

#include "engine/store/find_text.h"
#include "engine/store/search_words.h"

namespace warpchat::gui {

void TranscriptFind::set(std::string words, bool or_each) {
  words_ = std::move(words);
  or_each_ = or_each, is_by_word_ = false;
  if (words_.empty()) messages_.clear();
  for (Found& found : messages_) found.searched = false;
  at_ = 0;
  if (words_.empty()) n_found_ = 0;
}

void TranscriptFind::search(const std::vector<std::string>& wanted) {
  n_found_ = 0;
  for (Found& found : messages_) {
    if (!found.searched) {
      found.places.clear();
      for (const auto& [index, text] : found.texts)
        for (const auto& [begin, end] : find_any(text, wanted)) found.places.push_back({index, begin, end});
      found.searched = true;
    }
    found.first = n_found_;
    n_found_ += found.places.size();
  }
}

void TranscriptFind::follow(const TranscriptLayout& layout) {
  if (!is_on()) return;
  read(layout);
  search(is_by_word_ ? split_search_words(words_) : std::vector{words_});
  if (n_found_ == 0 && or_each_ && !is_by_word_) {
    is_by_word_ = true;
    for (Found& found : messages_) found.searched = false;
    search(split_search_words(words_));
  }
  at_ = n_found_ > 0 ? std::min(at_, n_found_ - 1) : 0;
}

void TranscriptFind::read(const TranscriptLayout& layout) {
  messages_.resize(layout.n_messages());
  for (size_t i = 0; i < messages_.size(); ++i) {
    Found& found = messages_[i];
    const ChatMessage& message = layout.message(i);
    const bool thought = has_thought(message) && layout.shows_thought(i);
    if (found.key != message.key || found.revision != message.revision || found.status != message.status ||
        found.shows_thought != thought) {
      found = {message.key, message.revision, message.status, thought, false, 0, {}, {}};
      MessageRows rows;
      rows.is_user = message.role == "user";
      read_message(message, rows, [](const FoldId&) { return true; });
      for (const MessagePart part : {MessagePart::kThought, MessagePart::kAnswer}) {
        if (part == MessagePart::kThought && !thought) continue;
        const auto& blocks = rows.blocks(part);
        for (size_t b = 0; b < blocks.size(); ++b) found.texts.push_back({{part, b}, blocks[b].text});
      }
    }
  }
}

void TranscriptFind::move(ptrdiff_t steps) {
  if (n_found_ == 0) return;
  const auto n = static_cast<ptrdiff_t>(n_found_);
  at_ = static_cast<size_t>(((static_cast<ptrdiff_t>(at_) + steps) % n + n) % n);
}

void TranscriptFind::go_to_message(size_t message) {
  at_ = message < messages_.size() ? messages_[message].first : 0;
  if (at_ >= n_found_) at_ = 0;
}

std::optional<TranscriptFind::Match> TranscriptFind::current() const {
  size_t at = at_;
  for (size_t i = 0; i < messages_.size(); ++i) {
    const auto& places = messages_[i].places;
    if (at < places.size()) return Match{i, places[at].index, places[at].begin, places[at].end, /*is_current=*/true};
    at -= places.size();
  }
  return std::nullopt;
}

std::vector<TranscriptFind::Match> TranscriptFind::matches_in(size_t message, BlockIndex index) const {
  std::vector<Match> matches;
  if (message >= messages_.size()) return matches;
  size_t at = messages_[message].first;
  for (const Place& place : messages_[message].places) {
    if (place.index.part == index.part && place.index.block == index.block)
      matches.push_back({message, index, place.begin, place.end, at == at_});
    ++at;
  }
  return matches;
}

}  // namespace warpchat::gui
