// Follows a call in XML as it grows: its name, its parameters and its end.
// A value ends at a </parameter> behind which, blanks apart, another tag of the call stands. Any other </parameter> is
// part of it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/calls/markup.h"

namespace warpchat::calls {

class XmlShape {
 public:
  XmlShape() = default;
  explicit XmlShape(size_t name_from) { name_.from = name_from; }

  enum class Step : uint8_t {
    kGoesOn,
    kName,      // the call's name has ended
    kValue,     // a parameter's value has ended, before the tag that has just been read
    kLastEnds,  // the same, and with it the call
    kEnds,      // the call has, with this character
    kBreaks,
    kBreaksAndEnds  // the call's last tags stand within a value
  };
  // The character of text at `at`. Characters follow each other from name_from on, behind <function=.
  Step step(std::string_view text, size_t at);

  Range name() const { return name_; }
  size_t tag_from() const { return tag_from_; }   // where what has broken the call begins
  Range parameter() const { return parameter_; }  // the name of the last one whose value has ended
  Range value() const { return value_; }          // its value, which may be empty

 private:
  enum class State : uint8_t {
    kName,
    kBetween,
    kTag,
    kParameter,
    kValue,
    kValueTag,
    kBehindValue,
    kBehindValueTag,
    kBehindFunction,
    kBehindFunctionTag
  };
  enum class Tag : uint8_t { kParameter, kEndOfParameter, kEndOfFunction, kEndOfCall, kBeginning, kNone };

  Tag tag_at(std::string_view text, size_t from, size_t at) const;
  Step name_step(char c, size_t at);
  Step tag_step(std::string_view text, size_t at);
  Step value_step(std::string_view text, size_t at);
  Step behind_step(std::string_view text, size_t at);
  Step back_to_value(char c, size_t at);

  State state_ = State::kName;
  size_t tag_from_ = 0;
  Range name_, parameter_, value_;
  Range open_parameter_, open_value_;  // of the one that is being read
};

}  // namespace warpchat::calls
