// Follows the answer's tokens: the mark that opens a thought, the thought to its closing mark, then the text.
#include "engine/session/held_answer.h"

#include <algorithm>

#include "models/error.h"

namespace warpchat {

namespace {

constexpr size_t kMaxForcedBytes = 64;
constexpr size_t kKeptPlaces = 64;  // more than a draft has tokens

// Bytes of the mark that are written at the end of a text, if n were before it. mark: its first byte is not repeated.
size_t follow_mark(std::string_view mark, size_t n, char byte) {
  return mark[n] == byte ? n + 1 : mark.front() == byte ? 1 : 0;
}

// Bytes of the text up to the mark's end, and what is written of the mark if it does not end there.
struct FollowedMark {
  size_t end = std::string_view::npos, n_written;
};
FollowedMark follow_mark(std::string_view mark, size_t n, std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    n = follow_mark(mark, n, text[i]);
    if (n == mark.size()) return {i + 1, n};
  }
  return {.n_written = n};
}

void add_mask(std::vector<uint32_t>& mask, std::span<const uint32_t> more) {
  for (size_t i = 0; i < mask.size(); ++i) mask[i] |= more[i];
}

}  // namespace

AnswerVocabulary::AnswerVocabulary(const Tokenizer& of) : tokenizer(of), trie(grammar::TokenTrie::of(of)) {
  for (Token token = 0; static_cast<uint32_t>(token) < trie.n_tokens(); ++token) {
    const std::string text = tokenizer.piece(token);
    const bool is_breaks = !text.empty() && text.find_first_not_of('\n') == text.npos;
    if (is_breaks && text.size() <= kMaxLineBreaks) line_breaks_[text.size() - 1].push_back(token);
  }
}

std::span<const uint32_t> AnswerVocabulary::opening(std::string_view mark, size_t n) {
  std::vector<uint32_t>& mask = opening_[{mark, n}];
  if (!mask.empty()) return mask;
  mask.resize(trie.n_words());
  for (Token token = 0; static_cast<uint32_t>(token) < trie.n_tokens(); ++token) {
    const std::string text = tokenizer.piece(token);
    if (!text.empty() && mark.substr(n).starts_with(text)) allow(mask, token);
  }
  return mask;
}

std::span<const uint32_t> AnswerVocabulary::thinking(std::string_view mark, size_t n) {
  std::vector<uint32_t>& mask = thinking_[{mark, n}];
  if (!mask.empty()) return mask;
  mask.resize(trie.n_words());
  for (Token token = 0; static_cast<uint32_t>(token) < trie.n_tokens(); ++token) {
    const std::string text = tokenizer.piece(token);
    const size_t end = follow_mark(mark, n, text).end;
    if ((end == text.npos || end == text.size()) && !tokenizer.ends_generation(token)) allow(mask, token);
  }
  return mask;
}

std::vector<Token> AnswerVocabulary::certain_tokens(std::string_view bytes) const {
  std::vector<Token> tokens = tokenizer.encode(bytes, /*parse_special=*/false, /*add_bos=*/false);
  size_t n = 0;
  for (; n < tokens.size(); ++n) {
    const std::string text = tokenizer.piece(tokens[n]);
    // Where a tokenizer inserts a space, the tokens are no longer those of the bytes.
    if (!bytes.starts_with(text) || text.size() == bytes.size() || trie.has_longer(bytes)) break;
    bytes.remove_prefix(text.size());
  }
  tokens.resize(n);
  return tokens;
}

HeldAnswer::HeldAnswer(std::unique_ptr<grammar::Constraint> constraint, std::unique_ptr<HeldCalls> calls,
                       AnswerVocabulary& vocabulary, Begin begin)
    : constraint_(std::move(constraint)),
      calls_(std::move(calls)),
      vocabulary_(vocabulary),
      begin_(std::move(begin)),
      mask_(vocabulary.trie.n_words()) {
  Place first{.phase = first_phase(), .state = grammar::kRejected};
  if (constraint_) {
    masks_.emplace(*constraint_, vocabulary.trie);
    first.state = constraint_->advance(constraint_->start(), begin_.text);
    if (first.state == grammar::kRejected) {
      const grammar::Constraint::Verdict verdict = constraint_->check(begin_.text);
      throw Error("the answer so far does not keep to its form: at byte " + std::to_string(verdict.at) +
                  " it should go on with " + verdict.expected + "; let it be written anew");
    }
  }
  if (calls_) {
    first.calls = calls_->begin();
    calls_->accept(first.calls, begin_.text, /*is_marker=*/false);
  }
  find_forced(first);
  places_.push_back(std::move(first));
}

HeldAnswer::Phase HeldAnswer::first_phase() const {
  using enum ReasoningSplitter::State;
  if (begin_.state == kThinking) return Phase::kThinking;
  if (begin_.state == kUndecided && begin_.thoughts.marks != nullptr && !begin_.has_thought) return Phase::kOpening;
  return begin_.state == kAnswer && begin_.has_thought && begin_.text.empty() ? Phase::kBehindThought : Phase::kText;
}

std::span<const uint32_t> HeldAnswer::mask() {
  const Place& place = places_.back();
  const bool is_call = in_held_call(place);
  if (is_free() || (has_called(place) && !is_call)) return {};
  std::ranges::fill(mask_, 0);
  if (place.is_forced()) {
    allow(mask_, (*place.forced)[place.n_forced]);
    return mask_;
  }
  if (is_call)
    allow_call(place);
  else if (place.phase == Phase::kThinking)
    allow_thought(place);
  else
    allow_form(place);
  if (allows_none(mask_))
    throw Error("no token of this model can go on with the answer as its form wants it: with " +
                (is_call ? calls_->expected(place.calls) : constraint_->expected(place.state)));
  return mask_;
}

bool HeldAnswer::is_over() {
  const Place& place = places_.back();
  const bool is_form = constraint_ && place.phase == Phase::kText && !has_called(place) && !may_open_call(place);
  return is_form && constraint_->is_complete(place.state) && allows_none(masks_->mask(place.state));
}

void HeldAnswer::allow_form(const Place& place) {
  if (place.phase == Phase::kOpening) allow_opening(place);
  if (place.phase == Phase::kBehindThought) allow_line_breaks(place);
  const bool is_in_mark = place.phase == Phase::kOpening && !has_plain_marks() && place.n_mark > 0;
  if (!is_in_mark) allow_text(place.state);
  if (!is_in_mark && may_open_call(place)) add_mask(mask_, vocabulary_.opening(calls_->opener(), place.n_opener));
}

bool HeldAnswer::has_called(const Place& place) const {
  return calls_ && (place.calls.has_begun || (place.n_opener > 0 && place.n_opener == calls_->opener().size()));
}

// The opener stands at the beginning of the text.
bool HeldAnswer::may_open_call(const Place& place) const {
  const bool is_at_start = place.phase != Phase::kText || place.state == constraint_->start();
  return calls_ && !calls_->opener().empty() && (is_at_start || place.n_opener > 0);
}

void HeldAnswer::allow_call(const Place& place) {
  add_mask(mask_, calls_->mask(place.calls));
  for (const Token end : vocabulary_.tokenizer.end_of_generation()) forbid(mask_, end);
}

void HeldAnswer::allow_text(grammar::State state) {
  if (state == grammar::kRejected) return;
  add_mask(mask_, masks_->mask(state));
  for (const Token end : vocabulary_.tokenizer.end_of_generation())
    constraint_->is_complete(state) ? allow(mask_, end) : forbid(mask_, end);
}

void HeldAnswer::allow_opening(const Place& place) {
  const ModelThoughts& thoughts = begin_.thoughts;
  if (has_plain_marks())
    add_mask(mask_, vocabulary_.opening(thoughts.marks->open, place.n_mark));
  else
    allow(mask_, thoughts.open[place.n_mark]);
}

void HeldAnswer::allow_thought(const Place& place) {
  const ModelThoughts& thoughts = begin_.thoughts;
  if (has_plain_marks()) return add_mask(mask_, vocabulary_.thinking(thoughts.marks->close, place.n_mark));
  std::ranges::fill(mask_, UINT32_MAX);
  if (const uint32_t rest = vocabulary_.trie.n_tokens() % 32; rest > 0) mask_.back() = (uint32_t{1} << rest) - 1;
  for (const Token end : vocabulary_.tokenizer.end_of_generation()) forbid(mask_, end);
  for (const Token of_mark : thoughts.close) allow(mask_, of_mark);
}

void HeldAnswer::allow_line_breaks(const Place& place) {
  for (uint32_t n = 1; place.n_breaks + n <= AnswerVocabulary::kMaxLineBreaks; ++n)
    for (const Token token : vocabulary_.line_breaks(n)) allow(mask_, token);
}

void HeldAnswer::accept(Token token) {
  Place place = places_.back();
  const std::string text = vocabulary_.tokenizer.piece(token);
  if (place.phase == Phase::kThinking)
    accept_thought(place, token, text);
  else if (place.phase == Phase::kOpening)
    accept_opening(place, token, text);
  else
    accept_text(place, token, text);
  find_forced(place);
  places_.push_back(std::move(place));
  if (places_.size() > kKeptPlaces) places_.pop_front();
}

void HeldAnswer::accept_opening(Place& place, Token token, std::string_view text) {
  const ModelThoughts& thoughts = begin_.thoughts;
  const std::string_view mark = thoughts.marks->open;
  const bool goes_on = has_plain_marks() ? !text.empty() && mark.substr(place.n_mark).starts_with(text)
                                         : token == thoughts.open[place.n_mark];
  if (!goes_on) {  // what was written of a plain mark is text
    if (calls_ && has_plain_marks()) calls_->accept(place.calls, mark.substr(0, place.n_mark), /*is_marker=*/false);
    return accept_text(place, token, text);
  }
  place.n_mark += has_plain_marks() ? static_cast<uint32_t>(text.size()) : 1;
  if (place.n_mark == (has_plain_marks() ? mark.size() : thoughts.open.size())) {
    place = {.phase = Phase::kThinking, .state = place.state, .calls = std::move(place.calls)};
  } else if (has_plain_marks()) {
    if (constraint_) place.state = constraint_->advance(place.state, text);
    const bool may_open = calls_ && calls_->opener().starts_with(mark.substr(0, place.n_mark));
    place.n_opener = may_open ? place.n_mark : 0;
  }
}

void HeldAnswer::accept_thought(Place& place, Token token, std::string_view text) {
  const std::vector<Token>& close = begin_.thoughts.close;
  if (has_plain_marks()) {
    const FollowedMark followed = follow_mark(begin_.thoughts.marks->close, place.n_mark, text);
    place.n_mark = static_cast<uint32_t>(followed.n_written);
    if (followed.end == text.npos) return;
  } else {
    place.n_mark = token == close[place.n_mark] ? place.n_mark + 1 : token == close.front() ? 1 : 0;
    if (place.n_mark < close.size()) return;
  }
  place = {.phase = Phase::kBehindThought,
           .state = constraint_ ? constraint_->start() : grammar::kRejected,
           .calls = std::move(place.calls)};
}

void HeldAnswer::accept_text(Place& place, Token token, std::string_view text) {
  const auto is_break = [&] { return place.phase == Phase::kBehindThought && text.starts_with('\n'); };
  for (; is_break() && place.n_breaks < AnswerVocabulary::kMaxLineBreaks; ++place.n_breaks) text.remove_prefix(1);
  const Tokenizer& tokenizer = vocabulary_.tokenizer;
  const bool is_marker = calls_ && text.empty() && tokenizer.is_control(token) && !tokenizer.ends_generation(token);
  const std::string marker = is_marker ? tokenizer.piece(token, /*with_control=*/true) : "";
  if (is_marker) text = marker;
  if (text.empty()) return;
  place.phase = Phase::kText;
  place.n_forced += place.is_forced();
  if (constraint_ && !has_called(place)) accept_form(place, text);
  if (calls_) calls_->accept(place.calls, text, is_marker);
}

// The text of the form, or the opener of a call, or what may still become either.
void HeldAnswer::accept_form(Place& place, std::string_view text) {
  const std::string_view opener = calls_ ? calls_->opener().substr(place.n_opener) : "";
  const bool opens = !opener.empty() && may_open_call(place) && opener.starts_with(text);
  place.n_opener = opens ? place.n_opener + static_cast<uint32_t>(text.size()) : 0;
  place.state = constraint_->advance(place.state, text);
  if (place.state == grammar::kRejected && !opens)
    throw Error("a token was chosen that the form of the answer does not allow");
}

void HeldAnswer::undo(size_t n_tokens) {
  places_.erase(places_.end() - static_cast<std::ptrdiff_t>(n_tokens), places_.end());
  if (calls_ && n_tokens > 0) calls_->go_back(places_.back().calls);
}

// Where the text has one way to go on, it is written in the tokens that a tokenizer makes of it: a model knows no
// others.
void HeldAnswer::find_forced(Place& place) {
  if (place.is_forced()) return;
  place.forced.reset();
  place.n_forced = 0;
  const bool is_form =
      constraint_ && place.phase == Phase::kText && !has_called(place) && place.n_opener == 0 && !may_open_call(place);
  if (!in_held_call(place) && !is_form) return;
  const std::string bytes = in_held_call(place) ? calls_->forced_bytes(place.calls, kMaxForcedBytes)
                                                : constraint_->forced_bytes(place.state, kMaxForcedBytes);
  if (bytes.size() < 2) return;
  std::vector<Token> tokens = vocabulary_.certain_tokens(bytes);
  if (!tokens.empty()) place.forced = std::make_shared<const std::vector<Token>>(std::move(tokens));
}

std::vector<Token> HeldAnswer::forced() {
  const Place& place = places_.back();
  if (!place.is_forced()) return {};
  return {place.forced->begin() + static_cast<std::ptrdiff_t>(place.n_forced), place.forced->end()};
}

}  // namespace warpchat
