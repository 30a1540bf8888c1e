// Works on the text, not on parsed values: these are doubles, have no positions, and need a whole text.
#include "engine/remote/json_spelling.h"

#include <algorithm>
#include <charconv>

#include "models/ascii.h"

namespace warpchat {

namespace {

constexpr int kMaxZeros = 40;  // that take the place of an exponent

bool is_digit(char c) { return c >= '0' && c <= '9'; }

size_t end_of_string(std::string_view text, size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return std::min(at + 1, text.size());
}

struct Number {
  bool is_negative = false;
  std::string_view whole, fraction;
  int exponent = 0;
};

// False: the word is no number of JSON, or has an exponent out of range.
bool read_number(std::string_view word, Number& number) {
  const auto digits = [&word] {
    const size_t n = static_cast<size_t>(std::ranges::find_if_not(word, is_digit) - word.begin());
    const std::string_view found = word.substr(0, n);
    word.remove_prefix(n);
    return found;
  };
  const auto skip = [&word](std::string_view any) {
    const bool has_one = !word.empty() && any.find(word.front()) != std::string_view::npos;
    if (has_one) word.remove_prefix(1);
    return has_one;
  };
  number.is_negative = skip("-");
  number.whole = digits();
  if (number.whole.empty() || (number.whole.size() > 1 && number.whole.front() == '0')) return false;
  if (skip(".") && (number.fraction = digits()).empty()) return false;
  if (!skip("eE")) return word.empty();
  if (!word.starts_with("+-") && word.starts_with('+')) word.remove_prefix(1);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number.exponent);
  return error == std::errc() && end == word.data() + word.size();
}

// "1.0" and "10e-1" become "1". A number with many zeros, and what is none, stays as it is.
std::string spelled_number(std::string_view word) {
  Number number;
  if (!read_number(word, number)) return std::string(word);
  std::string digits = std::string(number.whole) + std::string(number.fraction);
  const auto n_whole = static_cast<int64_t>(number.whole.size()) + number.exponent;
  const auto n_digits = static_cast<int64_t>(digits.size());
  if (n_whole > n_digits + kMaxZeros || n_whole < -kMaxZeros) return std::string(word);
  if (n_whole > n_digits) digits.append(static_cast<size_t>(n_whole - n_digits), '0');
  if (n_whole < 0) digits.insert(0, static_cast<size_t>(-n_whole), '0');
  const auto point = static_cast<size_t>(std::max<int64_t>(n_whole, 0));
  std::string whole = digits.substr(0, point), fraction = digits.substr(point);
  whole.erase(0, std::min(whole.find_first_not_of('0'), whole.size()));
  fraction.erase(fraction.find_last_not_of('0') + 1);
  if (whole.empty()) whole = "0";
  if (whole == "0" && fraction.empty()) return whole;
  return (number.is_negative ? "-" : "") + whole + (fraction.empty() ? "" : "." + fraction);
}

bool is_of_word(char c) { return is_word_character(c) || c == '.' || c == '+' || c == '-'; }

size_t end_of_token(std::string_view text, size_t at) {
  if (text[at] == '"') return end_of_string(text, at);
  const size_t end = static_cast<size_t>(
      std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), is_of_word) - text.begin());
  return std::max(end, at + 1);
}

}  // namespace

SpelledJson spell_json(std::string_view text, bool is_cut) {
  SpelledJson spelled;
  size_t n_spelled = 0;  // bytes of the original
  const auto put = [&](std::string_view token, size_t at, bool is_same) {
    for (size_t i = 0; i < token.size(); ++i) spelled.positions.push_back(at + (is_same ? i : 0));
    spelled.text += token;
  };
  for (size_t at = 0; at < text.size();) {
    if (is_blank(text[at])) {
      ++at;
      continue;
    }
    const size_t end = end_of_token(text, at);
    const std::string_view token = text.substr(at, end - at);
    const bool is_number = is_digit(token.front()) || token.front() == '-';
    if (is_number && is_cut && end == text.size()) break;
    const bool parts_words = n_spelled < at && n_spelled > 0 && is_of_word(text[n_spelled - 1]) && is_of_word(text[at]);
    if (parts_words) put(" ", n_spelled, true);  // "1 2" is not 12
    const std::string number = is_number ? spelled_number(token) : std::string();
    is_number ? put(number, at, number == token) : put(token, at, true);
    n_spelled = at = end;
  }
  spelled.positions.push_back(n_spelled);
  return spelled;
}

}  // namespace warpchat
