// A set becomes a tree by bytes or digits, whose equal branches are one, since equal expressions are.
#include "engine/grammar/characters.h"

#include <array>

#include "models/utf8.h"

namespace warpchat::grammar {

namespace {

constexpr std::array<std::pair<char, char32_t>, 8> kShortEscapes = {
    {{'"', U'"'}, {'\\', U'\\'}, {'/', U'/'}, {'b', 8}, {'f', 12}, {'n', 10}, {'r', 13}, {'t', 9}}};

ByteSet hex_digit(uint32_t value) {
  ByteSet set;
  set.insert(static_cast<uint8_t>("0123456789abcdef"[value]));
  set.insert(static_cast<uint8_t>("0123456789ABCDEF"[value]));
  return set;
}

// Alternatives that begin with one byte each, those with the same rest together.
class Branches {
 public:
  explicit Branches(Expressions& expressions) : expressions_(expressions) {}
  void add(const ByteSet& bytes, Expr rest) {
    if (rest == kNothing) return;
    ByteSet& known = by_rest_[rest];
    known = known | bytes;
  }
  Expr joined() const {
    std::vector<Expr> parts;
    for (const auto& [rest, bytes] : by_rest_) parts.push_back(expressions_.concat(expressions_.bytes(bytes), rest));
    return expressions_.any_of(std::move(parts));
  }

 private:
  Expressions& expressions_;
  std::map<Expr, ByteSet> by_rest_;
};

ByteSet byte_range(uint32_t from, uint32_t to) { return ByteSet::range(static_cast<int>(from), static_cast<int>(to)); }

// What a JSON string may hold as it is.
CharacterSet unescaped(const CharacterSet& set) {
  CharacterSet others = set.complement();
  others.add(0, 0x1F);
  others.add(CharacterSet::of(U"\"\\"));
  return others.complement();
}

}  // namespace

Characters::Characters(Expressions& expressions, Encoding encoding)
    : expressions_(expressions), encoding_(encoding), any_(one_of(CharacterSet::all())) {
  if (encoding == Encoding::kJsonString) expressions.set_character(any_);
}

Expr Characters::one_of(const CharacterSet& set) {
  if (encoding_ == Encoding::kRaw) return raw(set);
  const Expr e = expressions_.either(raw(unescaped(set)), escapes(set));
  if (e != kNothing) expressions_.mark_as_character(e);
  return e;
}

Expr Characters::character(char32_t c) {
  const auto [known, is_new] = known_.try_emplace(c, kNothing);
  if (is_new) known->second = one_of(CharacterSet(c, c));
  return known->second;
}

Expr Characters::text(std::u32string_view text) {
  Expr e = kEmptyText;
  for (size_t i = text.size(); i-- > 0;) e = expressions_.concat(character(text[i]), e);
  return e;
}

// The last n_bytes bytes of the characters from `from`.
Expr Characters::continuation(const CharacterSet& set, char32_t from, int n_bytes) {
  if (n_bytes == 0) return set.contains(from) ? kEmptyText : kNothing;
  const char32_t n = char32_t{1} << (6 * n_bytes), n_found = set.count(from, from + n - 1);
  if (n_found == 0) return kNothing;
  if (n_found == n) {
    const Expr byte = expressions_.bytes(byte_range(0x80, 0xBF));
    Expr e = kEmptyText;
    for (int i = 0; i < n_bytes; ++i) e = expressions_.concat(byte, e);
    return e;
  }
  Branches branches(expressions_);
  for (uint32_t i = 0; i < 64; ++i)
    branches.add(byte_range(0x80 + i, 0x80 + i), continuation(set, from + i * (n / 64), n_bytes - 1));
  return branches.joined();
}

Expr Characters::raw(const CharacterSet& set) {
  Branches branches(expressions_);
  for (uint32_t byte = 0; byte < 0x80; ++byte) branches.add(byte_range(byte, byte), continuation(set, byte, 0));
  // Characters of a shorter form are not there: each set that is asked begins where the shorter form ends.
  const auto add_leads = [&](uint32_t lead, uint32_t n_leads, int n_bytes, char32_t shortest) {
    const CharacterSet shorter = shortest == 0 ? CharacterSet() : CharacterSet(0, shortest - 1);
    CharacterSet others = set.complement();
    others.add(shorter);
    const CharacterSet in_form = others.complement();
    for (uint32_t i = 0; i < n_leads; ++i)
      branches.add(byte_range(lead + i, lead + i), continuation(in_form, i << (6 * n_bytes), n_bytes));
  };
  add_leads(0xC0, 0x20, 1, 0x80);
  add_leads(0xE0, 0x10, 2, 0x800);
  add_leads(0xF0, 0x05, 3, 0x10000);
  return branches.joined();
}

Expr Characters::hex_digits(const CharacterSet& set, char32_t from, int n_digits) {
  if (n_digits == 0) return set.contains(from) ? kEmptyText : kNothing;
  const char32_t n = char32_t{1} << (4 * n_digits), n_found = set.count(from, from + n - 1);
  if (n_found == 0) return kNothing;
  if (n_found == n) {
    const Expr digit = expressions_.bytes(byte_range('0', '9') | byte_range('A', 'F') | byte_range('a', 'f'));
    return expressions_.repeat(digit, static_cast<uint32_t>(n_digits), static_cast<uint32_t>(n_digits));
  }
  Branches branches(expressions_);
  for (uint32_t i = 0; i < 16; ++i) branches.add(hex_digit(i), hex_digits(set, from + i * (n / 16), n_digits - 1));
  return branches.joined();
}

// Two bits and two digits of the high surrogate, then those of the low one. from: the character of lower digits 0.
Expr Characters::surrogates(const CharacterSet& set, char32_t from, size_t level) {
  constexpr std::array<int, 6> kBits = {2, 4, 4, 2, 4, 4};
  if (level == kBits.size()) return set.contains(from) ? kEmptyText : kNothing;
  int n_bits = 0;
  for (size_t i = level; i < kBits.size(); ++i) n_bits += kBits[i];
  const char32_t n = char32_t{1} << n_bits, step = n >> kBits[level];
  const char32_t n_found = set.count(from, from + n - 1);
  if (n_found == 0) return kNothing;
  const bool is_full = n_found == n;
  const uint32_t first_digit = level == 0 ? 8 : level == 3 ? 12 : 0;
  Branches branches(expressions_);
  ByteSet digits;
  for (uint32_t i = 0; i < uint32_t{1} << kBits[level]; ++i) {
    digits = digits | hex_digit(first_digit + i);
    if (!is_full) branches.add(hex_digit(first_digit + i), surrogates(set, from + i * step, level + 1));
  }
  if (is_full) branches.add(digits, surrogates(set, from, level + 1));
  const Expr e = branches.joined();
  if (e == kNothing || level % 3 != 0) return e;
  ByteSet d = hex_digit(13);
  const Expr prefix =
      level == 0 ? expressions_.bytes(d) : expressions_.concat(expressions_.text("\\u"), expressions_.bytes(d));
  return expressions_.concat(prefix, e);
}

Expr Characters::escapes(const CharacterSet& set) {
  ByteSet letters;
  for (const auto& [letter, character] : kShortEscapes)
    if (set.contains(character)) letters.insert(static_cast<uint8_t>(letter));
  Expr units = hex_digits(set, 0, 4);
  if (set.count(0x10000, kLastCharacter) > 0) units = expressions_.either(units, surrogates(set, 0x10000, 0));
  const Expr numbered = expressions_.concat(expressions_.byte('u'), units);
  return expressions_.concat(expressions_.byte('\\'), expressions_.either(expressions_.bytes(letters), numbered));
}

Expr Characters::any_text_of(const std::vector<std::pair<std::u32string, Expr>>& texts) {
  std::vector<std::vector<Expr>> open(1);  // by depth: alternatives so far below the last text's beginning
  std::u32string last;
  const auto fold_to = [&](size_t depth) {
    while (open.size() > depth + 1) {
      const Expr rest = expressions_.any_of(std::move(open.back()));
      open.pop_back();
      open.back().push_back(expressions_.concat(character(last[open.size() - 1]), rest));
    }
  };
  for (const auto& [text, tail] : texts) {
    size_t common = 0;
    while (common < std::min(text.size(), last.size()) && text[common] == last[common]) ++common;
    fold_to(common);
    open.resize(text.size() + 1);
    open.back().push_back(tail);
    last = text;
  }
  fold_to(0);
  return expressions_.any_of(std::move(open[0]));
}

std::u32string characters_of(std::string_view text) {
  std::u32string characters;
  const std::string valid = replace_invalid_utf8(text);
  for (size_t at = 0; at < valid.size();) characters += next_code_point(valid, at);
  return characters;
}

}  // namespace warpchat::grammar
