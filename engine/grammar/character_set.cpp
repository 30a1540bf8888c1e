// Properties are PCRE2's, which the tokenisers need anyway: one search through all characters finds the ranges.
#define PCRE2_CODE_UNIT_WIDTH 8
#include "engine/grammar/character_set.h"

#include <pcre2.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "models/error.h"
#include "models/text_format.h"
#include "models/utf8.h"

namespace warpchat::grammar {

namespace {

constexpr char32_t kFirstSurrogate = 0xD800, kLastSurrogate = 0xDFFF;

// Long names of general categories, which PCRE2 lacks.
const std::map<std::string, std::string, std::less<>>& category_names() {
  static const std::map<std::string, std::string, std::less<>> names = {{"Letter", "L"},
                                                                        {"Cased_Letter", "L&"},
                                                                        {"LC", "L&"},
                                                                        {"Uppercase_Letter", "Lu"},
                                                                        {"Lowercase_Letter", "Ll"},
                                                                        {"Titlecase_Letter", "Lt"},
                                                                        {"Modifier_Letter", "Lm"},
                                                                        {"Other_Letter", "Lo"},
                                                                        {"Mark", "M"},
                                                                        {"Combining_Mark", "M"},
                                                                        {"Nonspacing_Mark", "Mn"},
                                                                        {"Spacing_Mark", "Mc"},
                                                                        {"Enclosing_Mark", "Me"},
                                                                        {"Number", "N"},
                                                                        {"Decimal_Number", "Nd"},
                                                                        {"digit", "Nd"},
                                                                        {"Letter_Number", "Nl"},
                                                                        {"Other_Number", "No"},
                                                                        {"Punctuation", "P"},
                                                                        {"punct", "P"},
                                                                        {"Connector_Punctuation", "Pc"},
                                                                        {"Dash_Punctuation", "Pd"},
                                                                        {"Open_Punctuation", "Ps"},
                                                                        {"Close_Punctuation", "Pe"},
                                                                        {"Initial_Punctuation", "Pi"},
                                                                        {"Final_Punctuation", "Pf"},
                                                                        {"Other_Punctuation", "Po"},
                                                                        {"Symbol", "S"},
                                                                        {"Math_Symbol", "Sm"},
                                                                        {"Currency_Symbol", "Sc"},
                                                                        {"Modifier_Symbol", "Sk"},
                                                                        {"Other_Symbol", "So"},
                                                                        {"Separator", "Z"},
                                                                        {"Space_Separator", "Zs"},
                                                                        {"Line_Separator", "Zl"},
                                                                        {"Paragraph_Separator", "Zp"},
                                                                        {"Other", "C"},
                                                                        {"Control", "Cc"},
                                                                        {"cntrl", "Cc"},
                                                                        {"Format", "Cf"},
                                                                        {"Private_Use", "Co"},
                                                                        {"Unassigned", "Cn"}};
  return names;
}

// The name that PCRE2 has; empty: none.
std::string pcre_name(std::string_view name) {
  const size_t equals = name.find('=');
  if (equals != std::string_view::npos) {
    const std::string_view key = name.substr(0, equals), value = name.substr(equals + 1);
    if (key == "General_Category" || key == "gc") return pcre_name(value);
    const bool is_script = key == "Script" || key == "sc" || key == "Script_Extensions" || key == "scx";
    return is_script && value.size() > 2 ? std::string(value) : "";
  }
  const auto found = category_names().find(name);
  return found != category_names().end() ? found->second : name.size() <= 2 ? std::string(name) : "";
}

bool is_property_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '&' || (c >= '0' && c <= '9');
  });
}

// All characters in UTF-8.
const std::string& all_characters() {
  static const std::string text = [] {
    std::string characters;
    for (char32_t c = 0; c <= kLastCharacter; ++c)
      if (c < kFirstSurrogate || c > kLastSurrogate) append_utf8(c, characters);
    return characters;
  }();
  return text;
}

using PcreCode = std::unique_ptr<pcre2_code, decltype(&pcre2_code_free)>;

CharacterSet search_characters(const PcreCode& code) {
  const std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)> match(
      pcre2_match_data_create_from_pattern(code.get(), nullptr), pcre2_match_data_free);
  const std::string& text = all_characters();
  CharacterSet set;
  for (size_t at = 0; at < text.size();) {
    const int result = pcre2_match(code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), at,
                                   PCRE2_NO_UTF_CHECK, match.get(), nullptr);
    if (result < 0) break;
    const size_t* found = pcre2_get_ovector_pointer(match.get());
    size_t first = found[0], last = character_start(text, found[1] - 1);
    const char32_t from = next_code_point(text, first);
    set.add(from, next_code_point(text, last));
    at = found[1];
  }
  return set;
}

}  // namespace

CharacterSet CharacterSet::of(std::u32string_view characters) {
  CharacterSet set;
  for (char32_t c : characters) set.add(c, c);
  return set;
}

void CharacterSet::add(char32_t from, char32_t to) {
  to = std::min(to, kLastCharacter);
  if (from > to) return;
  if (from <= kLastSurrogate && to >= kFirstSurrogate) {
    if (from < kFirstSurrogate) add(from, kFirstSurrogate - 1);
    if (to > kLastSurrogate) add(kLastSurrogate + 1, to);
    return;
  }
  const auto first = std::ranges::find_if(ranges_, [&](const Range& range) { return range.to + 1 >= from; });
  auto last = first;
  for (; last != ranges_.end() && last->from <= to + 1; ++last) {
    from = std::min(from, last->from);
    to = std::max(to, last->to);
  }
  ranges_.insert(ranges_.erase(first, last), Range{from, to});
}

void CharacterSet::add(const CharacterSet& other) {
  for (const Range& range : other.ranges_) add(range.from, range.to);
}

CharacterSet CharacterSet::complement() const {
  CharacterSet set;
  char32_t next = 0;
  for (const Range& range : ranges_) {
    if (range.from > next) set.add(next, range.from - 1);
    next = range.to + 1;
  }
  if (next <= kLastCharacter) set.add(next, kLastCharacter);
  return set;
}

uint32_t CharacterSet::count(char32_t from, char32_t to) const {
  auto range = std::ranges::lower_bound(ranges_, from, {}, &Range::to);
  uint32_t n = 0;
  for (; range != ranges_.end() && range->from <= to; ++range)
    n += std::min(range->to, to) - std::max(range->from, from) + 1;
  return n;
}

CharacterSet characters_with_property(std::string_view name) {
  if (name == "Any") return CharacterSet::all();
  if (name == "ASCII") return {0, 0x7F};
  if (name == "Assigned") return characters_with_property("Cn").complement();
  const std::string property = pcre_name(name);
  const auto fail = [&] { return Error("\\p{" + printable(name) + "} is no known property"); };
  if (!is_property_name(property)) throw fail();
  const std::string pattern = "\\p{" + property + "}+";
  int error = 0;
  size_t offset = 0;
  const PcreCode code(
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), PCRE2_UTF, &error, &offset, nullptr),
      pcre2_code_free);
  if (!code) throw fail();
  return search_characters(code);
}

}  // namespace warpchat::grammar
