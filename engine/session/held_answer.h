// An answer that keeps to a form from its first byte to its end, or whose calls keep to their tools' schemas, or both:
// it then has a call or the form. A thought before it is free, but for the answer's end; up to two line breaks behind
// the thought are free, too, since models write them and readers drop them.
#pragma once
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/grammar/token_masks.h"
#include "engine/reasoning_splitter.h"
#include "engine/sequences/token_constraint.h"
#include "engine/session/held_calls.h"
#include "engine/session/model_thoughts.h"
#include "models/tokenizer/tokenizer.h"

namespace warpchat {

// A model's tokens by their texts. Its masks are for one thread at a time.
class AnswerVocabulary {
 public:
  explicit AnswerVocabulary(const Tokenizer& of);

  const Tokenizer& tokenizer;
  const grammar::TokenTrie trie;

  static constexpr uint32_t kMaxLineBreaks = 2;
  std::span<const Token> line_breaks(uint32_t n) const { return line_breaks_[n - 1]; }  // tokens of n; 1 or 2

  // The tokens of bytes that must follow, as far as no longer token could stand in their place and reach further.
  std::vector<Token> certain_tokens(std::string_view bytes) const;

  // For marks of thoughts that are plain text here, of which n bytes are written.
  std::span<const uint32_t> opening(std::string_view mark, size_t n);   // the next bytes of the mark
  std::span<const uint32_t> thinking(std::string_view mark, size_t n);  // all but the end, and text behind the mark

 private:
  using Masks = std::map<std::pair<std::string_view, size_t>, std::vector<uint32_t>>;
  std::array<std::vector<Token>, kMaxLineBreaks> line_breaks_;
  Masks opening_, thinking_;
};

class HeldAnswer final : public TokenConstraint {
 public:
  // Where the answer goes on: behind the prompt, or behind the text of an unfinished answer.
  struct Begin {
    ModelThoughts thoughts = {};  // no marks: all text is the answer's
    ReasoningSplitter::State state = ReasoningSplitter::State::kAnswer;
    bool has_thought = false;
    std::string text = {};  // of the answer so far, without its thought
  };
  // constraint: null without a form. calls: null without tools. vocabulary: outlives it. Error if the text so far does
  // not keep to the form.
  HeldAnswer(std::unique_ptr<grammar::Constraint> constraint, std::unique_ptr<HeldCalls> calls,
             AnswerVocabulary& vocabulary, Begin begin);

  bool is_free() const override { return !constraint_ && !in_held_call(places_.back()); }
  std::span<const uint32_t> mask() override;
  bool is_over() override;
  void accept(Token token) override;
  void undo(size_t n_tokens) override;
  std::vector<Token> forced() override;

 private:
  enum class Phase : uint8_t { kOpening, kThinking, kBehindThought, kText };
  struct Place {
    Phase phase;
    grammar::State state;   // of the text, if it is one
    uint32_t n_mark = 0;    // kOpening, kThinking: bytes of a plain mark so far, or tokens
    uint32_t n_breaks = 0;  // kBehindThought: line breaks so far
    uint32_t n_opener = 0;  // kText, with a form and tools: bytes of a call's opener so far, which began the text
    HeldCalls::Place calls = {};
    std::shared_ptr<const std::vector<Token>> forced = nullptr;  // tokens of text that has one way to go on
    size_t n_forced = 0;                                         // of them so far
    bool is_forced() const { return forced != nullptr && n_forced < forced->size(); }
  };

  Phase first_phase() const;
  bool in_held_call(const Place& place) const { return calls_ && calls_->is_held(place.calls); }
  bool may_open_call(const Place& place) const;
  bool has_called(const Place& place) const;  // the form no longer counts
  bool has_plain_marks() const { return !begin_.thoughts.has_tokens(); }
  void accept_opening(Place& place, Token token, std::string_view text);
  void accept_thought(Place& place, Token token, std::string_view text);
  void accept_text(Place& place, Token token, std::string_view text);
  void accept_form(Place& place, std::string_view text);
  void find_forced(Place& place);
  void allow_text(grammar::State state);
  void allow_form(const Place& place);
  void allow_call(const Place& place);
  void allow_opening(const Place& place);
  void allow_thought(const Place& place);
  void allow_line_breaks(const Place& place);

  const std::unique_ptr<grammar::Constraint> constraint_;
  const std::unique_ptr<HeldCalls> calls_;
  AnswerVocabulary& vocabulary_;
  std::optional<grammar::TokenMasks> masks_;  // of the form
  const Begin begin_;
  std::deque<Place> places_;  // before each of the last tokens, and now
  std::vector<uint32_t> mask_;
};

}  // namespace warpchat
