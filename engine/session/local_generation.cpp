// One event for each token, even without text.
#include "engine/session/local_generation.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace warpchat {

namespace {

void append(auto& parts, auto more) {
  for (auto& part : more) parts.push_back({std::move(part.text), part.thinking, part.was_thought});
}

}  // namespace

LocalGeneration::~LocalGeneration() {
  answering_->stop();
  while (!has_ended_) next_event(std::chrono::hours(1));
}

void LocalGeneration::read_messages(const BuiltPrompt& prompt, Reading reading) {
  thoughts_ = prompt.thoughts;
  splitter_.emplace(thoughts_.text_marks(), prompt.begin, reading.finds_unopened);
  tools_ = std::move(reading.tools);
  call_format_ = prompt.call_format;
  if (call_format_ == CallFormat::kNone || tools_.empty()) return;
  calls_.emplace(call_format_, tools_, /*id_seed=*/prompt.tokens.size());
  calls_->add(prompt.begun);
}

std::optional<Event> LocalGeneration::next_event(std::chrono::milliseconds timeout) {
  if (events_.empty()) {
    if (has_ended_) return std::nullopt;
    std::optional<AnswerStep> step = answering_->next(timeout);
    if (!step) return std::nullopt;
    std::visit([this](auto& one) { push_event(one); }, *step);
  }
  Event event = std::move(events_.front());
  events_.pop_front();
  return event;
}

void LocalGeneration::push_event(const NextToken& next) {
  held_.push_back(next.token);
  add(read_held(/*is_end=*/false), next.token, next.seconds);
}

void LocalGeneration::push_event(GenerationEnd& end) {
  has_ended_ = true;
  Parts parts = read_held(/*is_end=*/true);
  // An answer that was cut within a character makes it anew when it is continued.
  if (end.reason == EndReason::kEndOfText) append(parts, split(detokenizer_.flush()));
  if (splitter_) append(parts, splitter_->finish());
  end.reasoning_ended = splitter_ && splitter_->has_ended_thought();
  if (!parts.empty()) add(std::move(parts), -1, 0);
  if (calls_) add_calls(calls_->finish());
  events_.push_back(std::move(end));
}

LocalGeneration::Pieces LocalGeneration::split(std::string text) {
  if (splitter_) return splitter_->add(text);
  return text.empty() ? Pieces() : Pieces{{std::move(text), false}};
}

// Some vocabularies have the marks of calls as control tokens.
bool LocalGeneration::is_marker(Token token) const {
  return calls_ && !splitter_->thinking() && tokenizer_.is_control(token) && !tokenizer_.ends_generation(token);
}

// Reads the tokens that wait, except those that may become a mark of several tokens.
LocalGeneration::Parts LocalGeneration::read_held(bool is_end) {
  Parts parts;
  while (!held_.empty()) {
    const bool opens = held_ == thoughts_.open, closes = held_ == thoughts_.close;
    if (!opens && !closes && !is_end && (begins(thoughts_.open) || begins(thoughts_.close))) break;
    const size_t n = opens || closes ? held_.size() : 1;
    std::string text;
    for (size_t i = 0; i < n; ++i) text += detokenizer_.add(held_[i]);
    const bool marks_call = !opens && !closes && is_marker(held_.front());
    const std::string marker = marks_call ? tokenizer_.piece(held_.front(), /*with_control=*/true) : "";
    held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(n));
    append(parts, opens ? splitter_->open(text) : closes ? splitter_->close(text) : split(std::move(text)));
    if (marks_call) parts.push_back({.text = marker, .is_marker = true});
  }
  return parts;
}

bool LocalGeneration::begins(const std::vector<Token>& mark) const {
  return held_.size() < mark.size() && std::equal(held_.begin(), held_.end(), mark.begin());
}

// A token that spans reasoning and answer counts for the first.
void LocalGeneration::add(Parts parts, Token token, double seconds) {
  token_ = token, seconds_ = seconds;
  const size_t n_before = events_.size();
  for (Part& part : parts) {
    if (part.was_thought) {
      events_.push_back(Reclassified{true});
      n_calls_ = 0;  // a call within a thought is none
      if (calls_) calls_.emplace(call_format_, tools_, /*id_seed=*/events_.size());
    } else if (calls_ && !part.thinking) {
      add_calls(part.is_marker ? calls_->add_marker(part.text) : calls_->add(part.text));
    } else {
      add_text(std::move(part.text), part.thinking);
    }
  }
  const auto is_text = [](const Event& event) { return std::holds_alternative<TextDelta>(event); };
  const auto first = events_.begin() + static_cast<std::ptrdiff_t>(n_before);
  if (std::none_of(first, events_.end(), is_text)) add_text("", splitter_ && splitter_->thinking());
}

void LocalGeneration::add_text(std::string text, bool thinking) {
  events_.push_back(TextDelta{std::move(text), std::exchange(token_, -1), std::exchange(seconds_, 0), thinking});
}

void LocalGeneration::add_calls(std::vector<CallPiece> pieces) {
  for (CallPiece& piece : pieces) {
    switch (piece.kind) {
      case CallPiece::Kind::kText:
        add_text(std::move(piece.text), /*thinking=*/false);
        break;
      case CallPiece::Kind::kBegin:
        events_.push_back(ToolCallDelta{.index = n_calls_});
        break;
      case CallPiece::Kind::kName:
        events_.push_back(ToolCallDelta{.index = n_calls_, .name = std::move(piece.text)});
        is_named_ = true;
        break;
      case CallPiece::Kind::kCall: {
        ParsedCall& call = piece.call;
        const std::string name = std::exchange(is_named_, false) ? "" : std::move(call.name);
        events_.push_back(
            ToolCallDelta{n_calls_++, std::move(call.id), name, std::move(call.arguments), std::move(call.error)});
      }
    }
  }
}

}  // namespace warpchat
