// Layout of one value in a formatted string: fill, alignment, sign, width, precision and conversion.
#pragma once
#include <string>

#include "models/chat_template/value.h"

namespace warpchat::jinja {

constexpr int64_t kMaxWidth = 1'000'000;

struct FormatSpec {
  std::string fill = " ";  // one character
  char align = 0;          // < > ^ =, or 0 for the type's default
  char sign = '-';         // for positive numbers: none, + or space
  bool alternate = false;  // 0x before hexadecimal
  int64_t width = 0;       // in code points
  char grouping = 0;       // , or _
  int64_t precision = -1;  // -1: not given
  char conversion = 0;
};

std::string format_integer(int64_t number, const FormatSpec& spec);                  // conversions d b o x X
std::string format_real(double number, const FormatSpec& spec);                      // conversions e E f F g G n %
TracedText format_text(const TracedText& text, const FormatSpec& spec, char align);  // cut to the precision
// Joins and pads a number's sign, prefix and digits.
std::string lay_out_number(bool negative, const std::string& prefix, const std::string& digits, const FormatSpec& spec);
double to_real(const Value& v);  // Fault for anything but a number

}  // namespace warpchat::jinja
