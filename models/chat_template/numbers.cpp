#include "models/chat_template/numbers.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "models/ascii.h"
#include "models/chat_template/unicode.h"
#include "models/chat_template/value.h"

namespace warpchat::jinja {
namespace {

bool is_decimal_digit(char c) { return c >= '0' && c <= '9'; }

// Removes the sign; true: negative.
bool take_sign(std::string_view& text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  return negative;
}

// Removes underscores, each of which must be between two alphanumerics.
std::optional<std::string> without_underscores(std::string_view text) {
  const auto is_alphanumeric = [](char c) {
    return is_decimal_digit(c) || (lower_case(c) >= 'a' && lower_case(c) <= 'z');
  };
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      out += lower_case(text[i]);
    } else if (i == 0 || i + 1 == text.size() || !is_alphanumeric(text[i - 1]) || !is_alphanumeric(text[i + 1])) {
      return std::nullopt;
    }
  }
  return out;
}

// Base of a prefix (0x, 0o, 0b), which is removed if it matches the requested base.
int64_t take_prefix(std::string& digits, int64_t base) {
  constexpr std::string_view kLetters = "box";
  constexpr int64_t kBases[] = {2, 8, 16};
  const size_t i = digits.size() > 2 && digits[0] == '0' ? kLetters.find(digits[1]) : std::string_view::npos;
  if (i < 3 && (base == 0 || base == kBases[i])) {
    digits.erase(0, 2);
    return kBases[i];
  }
  return base == 0 ? 10 : base;
}

bool is_real_notation(const std::string& text) {
  size_t at = 0;
  const auto digits = [&] {
    const size_t start = at;
    while (at < text.size() && is_decimal_digit(text[at])) ++at;
    return at - start;
  };
  size_t n = digits();
  if (at < text.size() && text[at] == '.') {
    ++at;
    n += digits();
  }
  if (n == 0) return false;
  if (at < text.size() && text[at] == 'e') {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (digits() == 0) return false;
  }
  return at == text.size();
}

}  // namespace

std::optional<int64_t> parse_integer(std::string_view text, int64_t base) {
  if (base != 0 && (base < 2 || base > 36)) return std::nullopt;
  text = strip_left(strip_right(text));
  const bool negative = take_sign(text);
  std::optional<std::string> digits = without_underscores(text);
  if (!digits) return std::nullopt;
  base = take_prefix(*digits, base);
  uint64_t magnitude = 0;
  const auto [end, error] =
      std::from_chars(digits->data(), digits->data() + digits->size(), magnitude, static_cast<int>(base));
  if (error == std::errc::invalid_argument || end != digits->data() + digits->size()) return std::nullopt;
  const uint64_t limit = static_cast<uint64_t>(INT64_MAX) + (negative ? 1 : 0);
  if (error == std::errc::result_out_of_range || magnitude > limit) throw Fault("an int is beyond 64 bits");
  return static_cast<int64_t>(negative ? 0 - magnitude : magnitude);
}

std::optional<double> parse_real(std::string_view text) {
  text = strip_left(strip_right(text));
  const bool negative = take_sign(text);
  const std::optional<std::string> digits = without_underscores(text);
  if (!digits) return std::nullopt;
  double x = 0;
  if (*digits == "inf" || *digits == "infinity") {
    x = std::numeric_limits<double>::infinity();
  } else if (*digits == "nan") {
    x = std::numeric_limits<double>::quiet_NaN();
  } else if (!is_real_notation(*digits)) {
    return std::nullopt;
  } else if (std::from_chars(digits->data(), digits->data() + digits->size(), x).ec != std::errc()) {
    const bool is_tiny = digits->find("e-") != std::string::npos || digits->starts_with("0.");
    x = is_tiny ? 0.0 : std::numeric_limits<double>::infinity();
  }
  return negative ? -x : x;
}

}  // namespace warpchat::jinja
