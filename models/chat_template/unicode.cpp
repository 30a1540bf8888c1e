#include "models/chat_template/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <iterator>

#include "models/chat_template/special_casing.h"

namespace warpchat::jinja {
namespace {

utf8proc_category_t category(char32_t c) { return utf8proc_category(static_cast<utf8proc_int32_t>(c)); }
char32_t simple_upper(char32_t c) { return static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(c))); }
char32_t simple_lower(char32_t c) { return static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))); }
char32_t simple_title(char32_t c) { return static_cast<char32_t>(utf8proc_totitle(static_cast<utf8proc_int32_t>(c))); }

using Run = char32_t[2];  // first and last code point

template <size_t n>
bool in_runs(const Run (&runs)[n], char32_t c) {
  return std::any_of(std::begin(runs), std::end(runs), [c](const Run& run) { return c >= run[0] && c <= run[1]; });
}

bool is_cased(char32_t c) { return is_upper(c) || is_lower(c) || category(c) == UTF8PROC_CATEGORY_LT; }

template <size_t n>
const SpecialCase* find_special(const SpecialCase (&table)[n], char32_t c) {
  const auto* row =
      std::lower_bound(std::begin(table), std::end(table), c,
                       [](const SpecialCase& special, char32_t letter) { return special.letter < letter; });
  return row != std::end(table) && row->letter == c ? row : nullptr;
}

void append_upper(std::u32string& out, char32_t c) {
  if (const SpecialCase* special = find_special(kSpecialUpper, c)) {
    out += special->mapped;
  } else {
    out += simple_upper(c);
  }
}

void append_title(std::u32string& out, char32_t c) {
  constexpr char32_t kSharpS = 0xDF;  // utf8proc has a one-to-one title case, Unicode has "Ss"
  const SpecialCase* upper = find_special(kSpecialUpper, c);
  if (const SpecialCase* special = find_special(kSpecialTitle, c)) {
    out += special->mapped;
  } else if (upper && (c == kSharpS || (simple_title(c) == c && category(c) != UTF8PROC_CATEGORY_LT))) {
    out += upper->mapped[0];
    for (char32_t rest : upper->mapped.substr(1)) out += simple_lower(rest);
  } else {
    out += simple_title(c);
  }
}

// Unicode's Case_Ignorable: by category, and its few punctuation marks (UAX 29 MidLetter, MidNumLet, Single_Quote).
bool is_case_ignorable(char32_t c) {
  constexpr std::u32string_view kMarks =
      U"'.:\u00B7\u0387\u055F\u05F4\u2018\u2019\u2024\u2027\uFE13\uFE52\uFE55\uFF07\uFF0E\uFF1A";
  switch (category(c)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
      return true;
    default:
      return kMarks.find(c) != std::u32string_view::npos;
  }
}

// A capital sigma is final after a letter, without a letter following.
bool is_final_sigma(std::u32string_view text, size_t at) {
  size_t before = at;
  while (before > 0 && is_case_ignorable(text[before - 1])) --before;
  if (before == 0 || !is_cased(text[before - 1])) return false;
  size_t after = at + 1;
  while (after < text.size() && is_case_ignorable(text[after])) ++after;
  return after == text.size() || !is_cased(text[after]);
}

void append_lower(std::u32string& out, std::u32string_view text, size_t at) {
  constexpr char32_t kSigma = 0x3A3, kFinalSigma = 0x3C2, kDottedI = 0x130;
  if (text[at] == kSigma && is_final_sigma(text, at)) {
    out += kFinalSigma;
  } else if (text[at] == kDottedI) {
    out += U"i\u0307";
  } else {
    out += simple_lower(text[at]);
  }
}

}  // namespace

std::u32string decode(std::string_view text) {
  std::u32string code_points;
  code_points.reserve(text.size());
  for (size_t at = 0; at < text.size();) code_points += next_code_point(text, at);
  return code_points;
}

std::string encode(std::u32string_view code_points) {
  std::string text;
  text.reserve(code_points.size());
  for (char32_t c : code_points) append_utf8(c, text);
  return text;
}

size_t count_code_points(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return !continues_character(c); }));
}

size_t offset_of(std::string_view text, size_t n) {
  size_t at = 0;
  for (; n > 0 && at < text.size(); --n) next_code_point(text, at);
  return at;
}

bool is_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F);
  return c == 0x85 || category(c) == UTF8PROC_CATEGORY_ZS || c == 0x2028 || c == 0x2029;
}

bool is_line_end(char32_t c) {
  return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

bool is_printable(char32_t c) {
  if (c == ' ') return true;
  const utf8proc_category_t of = category(c);
  return of != UTF8PROC_CATEGORY_CN && !(of >= UTF8PROC_CATEGORY_ZS && of <= UTF8PROC_CATEGORY_CO);
}

bool is_letter(char32_t c) {
  const utf8proc_category_t of = category(c);
  return of >= UTF8PROC_CATEGORY_LU && of <= UTF8PROC_CATEGORY_LO;
}

bool is_decimal(char32_t c) { return category(c) == UTF8PROC_CATEGORY_ND; }

bool is_digit(char32_t c) {
  // Numeric_Type=Digit: superscripts, subscripts, circled and other single digits.
  static constexpr Run kRuns[] = {{0xB2, 0xB3},       {0xB9, 0xB9},       {0x1369, 0x1371},   {0x19DA, 0x19DA},
                                  {0x2070, 0x2070},   {0x2074, 0x2079},   {0x2080, 0x2089},   {0x2460, 0x2468},
                                  {0x2474, 0x247C},   {0x2488, 0x2490},   {0x24EA, 0x24EA},   {0x24F5, 0x24FD},
                                  {0x24FF, 0x24FF},   {0x2776, 0x277E},   {0x2780, 0x2788},   {0x278A, 0x2792},
                                  {0x10A40, 0x10A43}, {0x10E60, 0x10E68}, {0x11052, 0x1105A}, {0x1F100, 0x1F10A}};
  return is_decimal(c) || in_runs(kRuns, c);
}

bool is_upper(char32_t c) {
  // Other_Uppercase: Roman numerals, circled and squared letters.
  static constexpr Run kRuns[] = {
      {0x2160, 0x216F}, {0x24B6, 0x24CF}, {0x1F130, 0x1F149}, {0x1F150, 0x1F169}, {0x1F170, 0x1F189}};
  return category(c) == UTF8PROC_CATEGORY_LU || in_runs(kRuns, c);
}

bool is_lower(char32_t c) {
  // Other_Lowercase: modifier letters, Roman numerals, circled letters.
  static constexpr Run kRuns[] = {{0xAA, 0xAA},       {0xBA, 0xBA},       {0x2B0, 0x2B8},     {0x2C0, 0x2C1},
                                  {0x2E0, 0x2E4},     {0x345, 0x345},     {0x37A, 0x37A},     {0x1D2C, 0x1D6A},
                                  {0x1D78, 0x1D78},   {0x1D9B, 0x1DBF},   {0x2071, 0x2071},   {0x207F, 0x207F},
                                  {0x2090, 0x209C},   {0x2170, 0x217F},   {0x24D0, 0x24E9},   {0x2C7C, 0x2C7D},
                                  {0xA69C, 0xA69D},   {0xA770, 0xA770},   {0xA7F8, 0xA7F9},   {0xAB5C, 0xAB5F},
                                  {0x10780, 0x10780}, {0x10783, 0x10785}, {0x10787, 0x107B0}, {0x107B2, 0x107BA}};
  return category(c) == UTF8PROC_CATEGORY_LL || in_runs(kRuns, c);
}

bool is_letter_or_number(char32_t c) {
  const utf8proc_category_t of = category(c);
  return is_letter(c) || (of >= UTF8PROC_CATEGORY_ND && of <= UTF8PROC_CATEGORY_NO);
}

bool is_word(char32_t c) {
  const utf8proc_category_t of = category(c);
  return c == '_' || (of >= UTF8PROC_CATEGORY_LU && of <= UTF8PROC_CATEGORY_NO);
}

std::string to_upper(std::string_view text) {
  std::u32string out;
  for (char32_t c : decode(text)) append_upper(out, c);
  return encode(out);
}

std::string to_lower(std::string_view text) {
  const std::u32string from = decode(text);
  std::u32string out;
  for (size_t i = 0; i < from.size(); ++i) append_lower(out, from, i);
  return encode(out);
}

std::string to_title(std::string_view text) {
  const std::u32string from = decode(text);
  std::u32string out;
  bool in_word = false;
  for (size_t i = 0; i < from.size(); ++i) {
    if (in_word) {
      append_lower(out, from, i);
    } else {
      append_title(out, from[i]);
    }
    in_word = is_cased(from[i]);
  }
  return encode(out);
}

std::string capitalize(std::string_view text) {
  const std::u32string from = decode(text);
  std::u32string out;
  if (!from.empty()) append_title(out, from[0]);
  for (size_t i = 1; i < from.size(); ++i) append_lower(out, from, i);
  return encode(out);
}

std::string swap_case(std::string_view text) {
  const std::u32string from = decode(text);
  std::u32string out;
  for (size_t i = 0; i < from.size(); ++i) {
    if (is_upper(from[i])) {
      append_lower(out, from, i);
    } else if (is_lower(from[i])) {
      append_upper(out, from[i]);
    } else {
      out += from[i];
    }
  }
  return encode(out);
}

std::string_view strip_left(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t start = at;
    if (!is_space(next_code_point(text, at))) return text.substr(start);
  }
  return {};
}

std::string_view strip_right(std::string_view text) {
  while (!text.empty()) {
    size_t start = text.size() - 1;
    while (continues_character(text[start])) --start;
    size_t end = start;
    if (!is_space(next_code_point(text, end))) break;
    text = text.substr(0, start);
  }
  return text;
}

}  // namespace warpchat::jinja
