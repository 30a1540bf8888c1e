#include "models/chat_template/format_spec.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "models/chat_template/arguments.h"
#include "models/chat_template/unicode.h"

namespace warpchat::jinja {
namespace {

TracedText pad(const TracedText& text, const FormatSpec& spec, char align, size_t sign_length = 0) {
  const int64_t missing = std::max<int64_t>(spec.width - static_cast<int64_t>(count_code_points(text.bytes)), 0);
  const int64_t before = align == '<' ? 0 : align == '^' ? missing / 2 : missing;
  const size_t start = align == '=' ? sign_length : 0;  // where fill before the text starts
  TracedText out = text.cut(0, start);
  for (int64_t i = 0; i < before; ++i) out.append(spec.fill);
  out.append(text, start, text.bytes.size());
  for (int64_t i = before; i < missing; ++i) out.append(spec.fill);
  return out;
}

std::string group_digits(const std::string& digits, char separator, size_t size) {
  std::string out;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % size == 0) out += separator;
    out += digits[i];
  }
  return out;
}

}  // namespace

std::string lay_out_number(bool negative, const std::string& prefix, const std::string& digits,
                           const FormatSpec& spec) {
  const std::string sign = negative ? "-" : spec.sign == '-' ? "" : std::string(1, spec.sign);
  const TracedText number = own_text(sign + prefix + digits);
  return pad(number, spec, spec.align ? spec.align : '>', sign.size() + prefix.size()).bytes;
}

std::string format_integer(int64_t number, const FormatSpec& spec) {
  const uint64_t base = spec.conversion == 'x' || spec.conversion == 'X' ? 16
                        : spec.conversion == 'o'                         ? 8
                        : spec.conversion == 'b'                         ? 2
                                                                         : 10;
  const char* letters = spec.conversion == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
  std::string digits;
  uint64_t rest = number < 0 ? 0 - static_cast<uint64_t>(number) : static_cast<uint64_t>(number);
  do {
    digits += letters[rest % base];
    rest /= base;
  } while (rest > 0);
  std::reverse(digits.begin(), digits.end());
  if (spec.precision > static_cast<int64_t>(digits.size())) {  // for % only: minimum number of digits
    digits.insert(0, static_cast<size_t>(spec.precision) - digits.size(), '0');
  }
  if (spec.grouping) digits = group_digits(digits, spec.grouping, base == 10 ? 3 : 4);
  const std::string prefix = spec.alternate && base != 10 ? std::string("0") + spec.conversion : "";
  return lay_out_number(number < 0, prefix, digits, spec);
}

std::string format_real(double number, const FormatSpec& spec) {
  const bool percent = spec.conversion == '%';
  const char conversion = percent ? 'f' : spec.conversion == 'n' ? 'g' : spec.conversion;
  const char form[] = {'%', '.', '*', conversion, 0};
  const int precision = spec.precision < 0 ? 6 : static_cast<int>(std::min<int64_t>(spec.precision, 400));
  char buffer[800];  // 309 digits before the point, 400 after
  std::snprintf(buffer, sizeof buffer, form, precision, std::fabs(percent ? number * 100 : number));
  std::string digits = buffer;
  if (spec.grouping) {
    const size_t end = std::min(digits.find_first_not_of("0123456789"), digits.size());
    digits = group_digits(digits.substr(0, end), spec.grouping, 3) + digits.substr(end);
  }
  if (percent) digits += '%';
  return lay_out_number(std::signbit(number) && !std::isnan(number), "", digits, spec);
}

TracedText format_text(const TracedText& text, const FormatSpec& spec, char align) {
  const bool is_cut = spec.precision >= 0;
  const size_t end = is_cut ? offset_of(text.bytes, static_cast<size_t>(spec.precision)) : text.bytes.size();
  return pad(text.cut(0, end), spec, spec.align ? spec.align : align);
}

double to_real(const Value& v) {
  return v.real() ? *v.real() : static_cast<double>(to_integer(v, "a formatted number"));
}

}  // namespace warpchat::jinja
