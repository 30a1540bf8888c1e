#include "engine/session/held_calls.h"

#include <algorithm>

#include "engine/calls/call_constraint.h"
#include "models/error.h"

namespace warpchat {

HeldCalls::HeldCalls(CallFormat format, std::vector<CallTool> tools, const grammar::TokenTrie& trie)
    : format_(format), tools_(std::move(tools)), trie_(trie), parser_(format, tools_, /*id_seed=*/0) {}

std::span<const uint32_t> HeldCalls::mask(const Place& place) {
  return held_[static_cast<size_t>(place.held)].masks->mask(place.state);
}

std::string HeldCalls::forced_bytes(const Place& place, size_t max_bytes) {
  return held_[static_cast<size_t>(place.held)].constraint->forced_bytes(place.state, max_bytes);
}

std::string HeldCalls::expected(const Place& place) {
  return held_[static_cast<size_t>(place.held)].constraint->expected(place.state);
}

// Compiled when a call names the tool: most answers call few of many.
int32_t HeldCalls::held_for(std::string_view name, CallFormat format) {
  const auto tool = std::ranges::find(tools_, name, &CallTool::name);
  if (tool == tools_.end()) return -1;
  const auto [known, is_new] = held_ids_.try_emplace({tool->name, format}, -1);
  if (!is_new) return known->second;
  try {
    Held held;
    held.constraint = call_constraint(format, *tool);
    held.masks = std::make_unique<grammar::TokenMasks>(*held.constraint, trie_);
    held_.push_back(std::move(held));
    known->second = static_cast<int32_t>(held_.size()) - 1;
  } catch (const Error&) {  // the front end has logged it
  }
  return known->second;
}

// text: the last one given to the parser, in which the name ends.
void HeldCalls::begin_arguments(Place& place, const CallPiece& name, std::string_view text) {
  place.held = name.can_be_held ? held_for(name.text, name.format) : -1;
  if (place.held < 0) return;
  grammar::Constraint& constraint = *held_[static_cast<size_t>(place.held)].constraint;
  place.state = constraint.advance(constraint.start(), text.substr(text.size() - (place.n_bytes - name.end)));
  if (place.state == grammar::kRejected || constraint.is_complete(place.state)) place.held = -1;
}

void HeldCalls::accept(Place& place, std::string_view text, bool is_marker) {
  place.n_bytes += text.size();
  const std::vector<CallPiece> pieces = is_marker ? parser_.add_marker(text) : parser_.add(text);
  if (place.held >= 0) {
    grammar::Constraint& constraint = *held_[static_cast<size_t>(place.held)].constraint;
    place.state = constraint.advance(place.state, text);
    if (place.state == grammar::kRejected)
      throw Error("a token was chosen that the arguments of the call do not allow");
    if (constraint.is_complete(place.state)) place.held = -1;
  }
  for (const CallPiece& piece : pieces) {
    place.has_begun |= piece.kind == CallPiece::Kind::kBegin;
    if (piece.kind == CallPiece::Kind::kName) begin_arguments(place, piece, text);
    if (piece.kind == CallPiece::Kind::kCall) place.held = -1;
  }
  place.parser = parser_.snapshot();
}

}  // namespace warpchat
