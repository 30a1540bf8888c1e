// Numbers as people write them, for flags and /set alike.
#pragma once
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>

#include "models/error.h"
#include "models/number_in.h"

namespace warpchat {

constexpr double kNoUpperBound = 2147483647;

// Error "takes a whole number from 0 on, found 'abc'" unless all of the text is a number in the range.
template <class T>
T parse_number(std::string_view text, double from, double to) {
  const std::optional<T> value = number_in<T>(text);
  if (value && static_cast<double>(*value) >= from && static_cast<double>(*value) <= to) return *value;
  char range[64];
  std::snprintf(range, sizeof range, to == kNoUpperBound ? "%.16g on" : "%.16g to %.16g", from, to);
  throw Error(std::string("takes a ") + (std::is_integral_v<T> ? "whole " : "") + "number from " + range + ", found '" +
              std::string(text) + "'");
}

}  // namespace warpchat
