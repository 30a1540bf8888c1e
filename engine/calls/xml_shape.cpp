#include "engine/calls/xml_shape.h"

#include <array>

#include "models/ascii.h"

namespace warpchat::calls {

XmlShape::Step XmlShape::step(std::string_view text, size_t at) {
  switch (state_) {
    case State::kName:
    case State::kParameter:
      return name_step(text[at], at);
    case State::kBetween:
    case State::kTag:
      return tag_step(text, at);
    case State::kValue:
    case State::kValueTag:
      return value_step(text, at);
    case State::kBehindValue:
    case State::kBehindValueTag:
    case State::kBehindFunction:
    case State::kBehindFunctionTag:
      return behind_step(text, at);
  }
  return Step::kBreaks;
}

// kBeginning: of one of them.
XmlShape::Tag XmlShape::tag_at(std::string_view text, size_t from, size_t at) const {
  constexpr std::array kTags = {kParameterOpen, kParameterClose, kFunctionClose, kCallClose};  // in the order of Tag
  const std::string_view read = text.substr(from, at + 1 - from);
  for (size_t i = 0; i < kTags.size(); ++i) {
    if (read == kTags[i]) return static_cast<Tag>(i);
    if (kTags[i].starts_with(read)) return Tag::kBeginning;
  }
  return Tag::kNone;
}

XmlShape::Step XmlShape::name_step(char c, size_t at) {
  tag_from_ = at;
  if (c == '\n' || c == '<') return Step::kBreaks;
  if (c != '>') return Step::kGoesOn;
  if (state_ == State::kName) {
    name_.to = at;
    state_ = State::kBetween;
    return Step::kName;
  }
  open_parameter_.to = at;
  open_value_ = {at + 1, 0};
  state_ = State::kValue;
  return Step::kGoesOn;
}

XmlShape::Step XmlShape::tag_step(std::string_view text, size_t at) {
  if (state_ == State::kBetween) {
    if (is_blank(text[at])) return Step::kGoesOn;
    tag_from_ = at;
    state_ = State::kTag;
  }
  switch (tag_at(text, tag_from_, at)) {
    case Tag::kParameter:
      open_parameter_ = {at + 1, 0};
      state_ = State::kParameter;
      return Step::kGoesOn;
    case Tag::kEndOfParameter:  // some models close a parameter twice
      state_ = State::kBetween;
      return Step::kGoesOn;
    case Tag::kEndOfFunction:
    case Tag::kEndOfCall:
      return Step::kEnds;
    case Tag::kBeginning:
      return Step::kGoesOn;
    case Tag::kNone:
      break;
  }
  return Step::kBreaks;
}

XmlShape::Step XmlShape::back_to_value(char c, size_t at) {
  tag_from_ = at;
  state_ = c == '<' ? State::kValueTag : State::kValue;
  return Step::kGoesOn;
}

XmlShape::Step XmlShape::value_step(std::string_view text, size_t at) {
  if (state_ == State::kValue) return back_to_value(text[at], at);
  switch (tag_at(text, tag_from_, at)) {
    case Tag::kEndOfParameter:
      open_value_.to = tag_from_;
      state_ = State::kBehindValue;
      return Step::kGoesOn;
    case Tag::kEndOfFunction:
      state_ = State::kBehindFunction;
      return Step::kGoesOn;
    case Tag::kBeginning:
      return Step::kGoesOn;
    default:
      return back_to_value(text[at], at);
  }
}

// Behind </parameter> or </function> in a value: what follows decides whether it was the value's end.
XmlShape::Step XmlShape::behind_step(std::string_view text, size_t at) {
  const bool is_value = state_ == State::kBehindValue || state_ == State::kBehindValueTag;
  if (state_ == State::kBehindValue || state_ == State::kBehindFunction) {
    if (is_blank(text[at])) return Step::kGoesOn;
    tag_from_ = at;
    state_ = is_value ? State::kBehindValueTag : State::kBehindFunctionTag;
  }
  const Tag tag = tag_at(text, tag_from_, at);
  if (tag == Tag::kBeginning) return Step::kGoesOn;
  if (tag == Tag::kNone) return back_to_value(text[at], at);
  if (!is_value) {
    if (tag == Tag::kEndOfCall) return Step::kBreaksAndEnds;
    return value_step(text, at);
  }
  parameter_ = open_parameter_;
  value_ = open_value_;
  if (tag == Tag::kEndOfFunction || tag == Tag::kEndOfCall) return Step::kLastEnds;
  open_parameter_ = {at + 1, 0};
  state_ = tag == Tag::kParameter ? State::kParameter : State::kBetween;
  return Step::kValue;
}

}  // namespace warpchat::calls
