// Calls in an answer's text: once one has named a tool of ours, its arguments keep to the tool's schema up to the
// call's end. The name is never forced.
#pragma once
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/calls/call_parser.h"
#include "engine/grammar/token_masks.h"

namespace warpchat {

class HeldCalls {
 public:
  HeldCalls(CallFormat format, std::vector<CallTool> tools, const grammar::TokenTrie& trie);

  // A place in the text. One that was kept may be returned to.
  struct Place {
    CallParser::Snapshot parser = {};
    size_t n_bytes = 0;      // given to the parser
    bool has_begun = false;  // a call is before it, or open
    int32_t held = -1;       // which of the constraints holds the open call; -1: none
    grammar::State state = grammar::kRejected;
  };
  Place begin() const { return {.parser = parser_.snapshot()}; }

  bool is_held(const Place& place) const { return place.held >= 0; }
  std::span<const uint32_t> mask(const Place& place);  // where it is held; without tokens that end the answer
  std::string forced_bytes(const Place& place, size_t max_bytes);
  std::string expected(const Place& place);
  void accept(Place& place, std::string_view text, bool is_marker);  // marker: a control token's text
  void go_back(const Place& place) { parser_.restore(place.parser); }

  std::string_view opener() const { return call_opener(format_); }

 private:
  struct Held {
    std::unique_ptr<grammar::Constraint> constraint;  // null: the tool's schema cannot be held
    std::unique_ptr<grammar::TokenMasks> masks;
  };
  int32_t held_for(std::string_view name, CallFormat format);
  void begin_arguments(Place& place, const CallPiece& name, std::string_view text);

  const CallFormat format_;
  const std::vector<CallTool> tools_;
  const grammar::TokenTrie& trie_;
  CallParser parser_;
  std::vector<Held> held_;
  std::map<std::pair<std::string, CallFormat>, int32_t> held_ids_;
};

}  // namespace warpchat
