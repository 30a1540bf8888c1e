#include "app/gui/transcript/markdown_document.h"

#include <algorithm>

#include "app/gui/transcript/code_colours.h"
#include "app/gui/transcript/markdown_parse.h"
#include "app/gui/transcript/markdown_tail.h"
#include "app/gui/transcript/plain_text.h"

namespace warpchat::gui {

void MarkdownDocument::update(std::string_view text, bool streaming, size_t source) {
  if (text == text_ && streaming == streaming_ && source == source_) {
    n_unchanged_ = blocks_.size();
    return;
  }
  if (!text.starts_with(text_) || source != source_) reset();
  source_ = source;
  streaming_ = streaming;
  text_.append(text.substr(text_.size()));
  std::vector<MarkdownBlock> old_tail(std::make_move_iterator(blocks_.begin() + static_cast<long>(n_finished_)),
                                      std::make_move_iterator(blocks_.end()));
  const size_t n_kept = n_finished_;
  n_unchanged_ = n_kept;
  blocks_.resize(n_finished_);
  if (kind_ == Kind::kPlain) {
    parse_plain_text(text_, source_, blocks_);
  } else {
    scan_new_lines();
    parse_tail(streaming);
  }
  if (n_unchanged_ < n_kept) return colour_code(blocks_, 0, nullptr);  // all was parsed anew
  const auto [before, now] =
      std::mismatch(old_tail.begin(), old_tail.end(),
                    blocks_.begin() + static_cast<long>(std::min(n_kept, blocks_.size())), blocks_.end());
  const auto n_same = static_cast<size_t>(before - old_tail.begin());
  n_unchanged_ = n_kept + n_same;
  for (size_t i = 0; i < n_same; ++i) blocks_[n_kept + i].colours = std::move(old_tail[i].colours);
  colour_code(blocks_, n_unchanged_, n_same < old_tail.size() ? &old_tail[n_same] : nullptr);
}

void MarkdownDocument::reset() {
  text_.clear();
  blocks_.clear();
  cuts_.clear();
  definitions_.clear();
  footnotes_.clear();
  n_parsed_ = 0;
  scanner_ = {};
  parsed_ = {};
  scanned_ = tail_ = finished_end_ = n_finished_ = 0;
}

void MarkdownDocument::scan_new_lines() {
  for (size_t end = text_.find('\n', scanned_); end != std::string::npos; end = text_.find('\n', scanned_)) {
    if (scanner_.begins_block(std::string_view(text_).substr(scanned_, end - scanned_)) && scanned_ > tail_) {
      cuts_.push_back(tail_);
      tail_ = scanned_;
    }
    scanned_ = end + 1;
  }
  // A link's target or a footnote that was not known yet may change any text above it.
  size_t first = cuts_.size();
  while (first > 0 && cuts_[first - 1] >= finished_end_) --first;
  const bool knows_more = definitions_ != scanner_.definitions() || footnotes_ != scanner_.footnotes();
  if (knows_more && may_parse_again()) {
    definitions_ = scanner_.definitions();
    footnotes_ = scanner_.footnotes();
    parsed_ = {};
    blocks_.clear();
    n_unchanged_ = 0;
    first = 0;
  }
  for (; first < cuts_.size(); ++first) {
    const size_t end = first + 1 < cuts_.size() ? cuts_[first + 1] : tail_;
    parsed_ = parse_markdown(input(cuts_[first], std::string_view(text_).substr(0, end)), blocks_);
    n_parsed_ += end - cuts_[first];
  }
  finished_end_ = tail_;
  n_finished_ = blocks_.size();
}

void MarkdownDocument::parse_tail(bool streaming) {
  const std::string_view tail = std::string_view(text_).substr(tail_);
  const std::string settled = streaming ? settled_tail(tail) : std::string();
  ParseInput last = input(tail_, text_);
  if (streaming) last.text = settled;
  last.unfinished = streaming;
  parse_markdown(last, blocks_);
}

// Many definitions in a growing text would have it parsed as often: some wait for its end.
bool MarkdownDocument::may_parse_again() const {
  constexpr size_t kTimes = 8, kAlways = 100'000;  // bytes
  return !streaming_ || n_parsed_ < kTimes * text_.size() + kAlways;
}

// text: up to the stretch's end.
ParseInput MarkdownDocument::input(size_t begin, std::string_view text) const {
  return {.text = text.substr(begin),
          .source = source_ + begin,
          .definitions = definitions_,
          .footnotes = footnotes_,
          .before = parsed_,
          .max_grown = ParseInput::kGrowth * text_.size() + ParseInput::kFreeGrowth};
}

}  // namespace warpchat::gui
