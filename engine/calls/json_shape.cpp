#include "engine/calls/json_shape.h"

#include "models/ascii.h"

namespace warpchat::calls {

namespace {

constexpr uint8_t kMaxDepth = 64;  // as JsonLimits: more is not read, and has one bit each in lists_

bool is_of_a_word(char c) { return is_letter_or_digit(c) || c == '-' || c == '+' || c == '.'; }

}  // namespace

JsonShape::Step JsonShape::step(std::string_view text, size_t at) {
  const char c = text[at];
  if (in_string_) {
    string_.to = last_ = at + 1;
    if (is_escaped_)
      is_escaped_ = false;
    else if (c == '\\')
      is_escaped_ = true;
    else if (c == '"')
      return end_string(text);
    return static_cast<unsigned char>(c) < 0x20 ? Step::kBreaks : Step::kGoesOn;
  }
  if (is_blank(c)) return Step::kGoesOn;
  if (c == '}' || c == ']') return close(c, at);
  if (c == ',') {
    if (depth_ == 1) end_value();
  } else if (c == ':') {
    if (depth_ == 1) is_value_ = true;
  } else {
    begin_value(at);
    if (depth_ == 1 && !is_value_ && c != '"') return Step::kBreaks;  // where a key stands
    if (c == '"') {
      in_string_ = true;
      string_ = {at, at + 1};
    } else if (c == '{' || c == '[') {
      if (depth_ == kMaxDepth) return Step::kBreaks;
      lists_ = lists_ << 1 | (c == '[' ? 1 : 0);
      ++depth_;
    } else if (!is_of_a_word(c)) {
      return Step::kBreaks;
    }
  }
  last_ = at + 1;
  return Step::kGoesOn;
}

JsonShape::Step JsonShape::end_string(std::string_view text) {
  in_string_ = false;
  if (depth_ != 1) return Step::kGoesOn;
  if (!is_value_) {
    const std::string_view key = string_.of(text);
    field_ = key == "\"name\""                                   ? Field::kName
             : key == "\"arguments\"" || key == "\"parameters\"" ? Field::kArguments
             : key == "\"id\""                                   ? Field::kId
                                                                 : Field::kOther;
    has_arguments_ |= field_ == Field::kArguments;
    return Step::kKey;
  }
  if (field_ != Field::kName || name_.is_known() || value_from_ != string_.from) return Step::kGoesOn;
  name_ = string_;
  return Step::kName;
}

JsonShape::Step JsonShape::close(char bracket, size_t at) {
  if (depth_ == 0 || (lists_ & 1) != (bracket == ']' ? 1 : 0)) return Step::kBreaks;
  if (depth_ == 1) end_value();
  lists_ >>= 1;
  --depth_;
  last_ = at + 1;
  return depth_ == 0 ? Step::kEnds : Step::kGoesOn;
}

void JsonShape::begin_value(size_t at) {
  if (depth_ != 1 || !is_value_ || has_value_) return;
  has_value_ = true;
  value_from_ = at;
}

void JsonShape::end_value() {
  const Range value{value_from_, last_};
  if (has_value_ && field_ == Field::kArguments && !arguments_.is_known()) arguments_ = value;
  if (has_value_ && field_ == Field::kId && !id_.is_known()) id_ = value;
  is_value_ = has_value_ = false;
  field_ = Field::kOther;
}

}  // namespace warpchat::calls
