// Anchors are kept apart from what is matched: a part is four expressions, by whether it must begin with the text and
// whether it must end with it.
#include "engine/grammar/pattern.h"

#include <array>
#include <optional>
#include <string>

#include "models/error.h"
#include "models/text_format.h"
#include "models/utf8.h"

namespace warpchat::grammar {

namespace {

constexpr uint32_t kMaxCount = 1'000'000'000;
constexpr int kMaxNesting = 250;

CharacterSet digits() { return {U'0', U'9'}; }

CharacterSet word_characters() {
  CharacterSet set(U'a', U'z');
  set.add(U'A', U'Z');
  set.add(digits());
  set.add(U'_', U'_');
  return set;
}

CharacterSet line_ends() { return CharacterSet::of(U"\n\r\u2028\u2029"); }

CharacterSet spaces() {
  CharacterSet set = line_ends();
  set.add(CharacterSet::of(U"\t\v\f \u00A0\u1680\u202F\u205F\u3000\uFEFF"));
  set.add(0x2000, 0x200A);
  return set;
}

struct Part {
  std::array<Expr, 4> by_anchors = {kNothing, kNothing, kNothing, kNothing};  // bit 0: begins the text; bit 1: ends it
  bool is_plain() const { return by_anchors[1] == kNothing && by_anchors[2] == kNothing && by_anchors[3] == kNothing; }
};

class PatternParser {
 public:
  PatternParser(Characters& characters, std::string_view pattern)
      : characters_(characters), expressions_(characters.expressions()), pattern_(pattern) {}

  Expr parse() {
    const Part part = alternatives();
    if (at_ < pattern_.size()) fail("an unmatched )");
    const Expr any = expressions_.repeat(characters_.any(), 0, kUnbounded);
    std::vector<Expr> found;
    for (uint32_t anchors = 0; anchors < 4; ++anchors)
      found.push_back(expressions_.concat(
          {anchors & 1 ? kEmptyText : any, part.by_anchors[anchors], anchors & 2 ? kEmptyText : any}));
    return expressions_.any_of(std::move(found));
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error("the pattern " + printable(pattern_) + " has " + what + " (byte " + std::to_string(at_) + ")");
  }
  bool is_at(std::string_view text) const { return pattern_.substr(at_).starts_with(text); }
  bool skip(std::string_view text) {
    if (!is_at(text)) return false;
    at_ += text.size();
    return true;
  }
  char32_t next() {
    if (at_ >= pattern_.size()) fail("an unexpected end");
    return next_code_point(pattern_, at_);
  }

  Part plain(Expr e) const { return {{e, kNothing, kNothing, kNothing}}; }
  Part characters(const CharacterSet& set) { return plain(characters_.one_of(set)); }

  // A part that must end the text is followed by nothing, one that must begin it comes after nothing.
  Part sequence(const Part& a, const Part& b) {
    Part joined;
    for (uint32_t i = 0; i < 4; ++i) {
      for (uint32_t j = 0; j < 4; ++j) {
        Expr first = a.by_anchors[i], second = b.by_anchors[j];
        if (j & 1) first = expressions_.is_nullable(first) ? kEmptyText : kNothing;
        if (i & 2) second = expressions_.is_nullable(second) ? kEmptyText : kNothing;
        Expr& at = joined.by_anchors[i | j];
        at = expressions_.either(at, expressions_.concat(first, second));
      }
    }
    return joined;
  }

  Part either(const Part& a, const Part& b) {
    Part joined;
    for (uint32_t i = 0; i < 4; ++i) joined.by_anchors[i] = expressions_.either(a.by_anchors[i], b.by_anchors[i]);
    return joined;
  }

  Part alternatives() {
    if (++nesting_ > kMaxNesting) fail("too many nested groups");
    Part all = terms();
    while (skip("|")) all = either(all, terms());
    --nesting_;
    return all;
  }

  // Joined from the end, since expressions nest to the right.
  Part terms() {
    std::vector<Part> parts;
    while (at_ < pattern_.size() && pattern_[at_] != '|' && pattern_[at_] != ')') parts.push_back(repeated(atom()));
    Part all = plain(kEmptyText);
    for (size_t i = parts.size(); i-- > 0;) all = sequence(parts[i], all);
    return all;
  }

  std::optional<uint32_t> number() {
    const size_t from = at_;
    uint64_t value = 0;
    for (; at_ < pattern_.size() && pattern_[at_] >= '0' && pattern_[at_] <= '9'; ++at_)
      value = std::min<uint64_t>(value * 10 + static_cast<uint64_t>(pattern_[at_] - '0'), uint64_t{kMaxCount} + 1);
    if (at_ == from) return std::nullopt;
    if (value > kMaxCount) fail("a count above " + grouped(kMaxCount));
    return static_cast<uint32_t>(value);
  }

  // What stands in braces; false: it is no count, and a brace is a character.
  bool counts(uint32_t& min, uint32_t& max) {
    const size_t from = at_;
    ++at_;
    const auto low = number();
    if (low) {
      min = max = *low;
      if (skip(",")) max = number().value_or(kUnbounded);
      if (skip("}")) {
        if (min > max) fail("a repetition with more at least than at most");
        return true;
      }
    }
    at_ = from;
    return false;
  }

  Part repeated(const Part& part) {
    uint32_t min = 1, max = 1;
    if (skip("*"))
      min = 0, max = kUnbounded;
    else if (skip("+"))
      max = kUnbounded;
    else if (skip("?"))
      min = 0;
    else if (!is_at("{") || !counts(min, max))
      return part;
    skip("?");  // laziness changes nothing about which texts match
    if (is_at("*") || is_at("+") || is_at("?")) fail("a repetition of a repetition");
    if (part.is_plain()) return plain(expressions_.repeat(part.by_anchors[0], min, max));
    if (min == 0 && max == 1) return either(part, plain(kEmptyText));
    fail("an anchor within a repetition");
  }

  Part atom() {
    if (skip("^")) return {{kNothing, kEmptyText, kNothing, kNothing}};
    if (skip("$")) return {{kNothing, kNothing, kEmptyText, kNothing}};
    if (skip("(")) return group();
    if (skip("[")) return characters(bracket());
    if (skip(".")) return characters(line_ends().complement());
    if (is_at("*") || is_at("+") || is_at("?")) fail("a repetition of nothing");
    if (is_at("{")) {
      uint32_t min = 0, max = 0;
      if (counts(min, max)) fail("a repetition of nothing");
    }
    if (skip("\\")) return characters(escape(/*in_bracket=*/false));
    return plain(characters_.character(next()));
  }

  Part group() {
    if (skip("?")) {
      for (const char* look : {"=", "!", "<=", "<!"})
        if (is_at(look)) fail("look-around, which is not supported: (?" + std::string(look));
      if (skip("<")) {
        while (at_ < pattern_.size() && pattern_[at_] != '>') ++at_;
        if (!skip(">")) fail("a name of a group without its end");
      } else if (!skip(":")) {
        fail("an unknown kind of group: (?");
      }
    }
    const Part inner = alternatives();
    if (!skip(")")) fail("a group without its end");
    return inner;
  }

  char32_t hex(int n_digits) {
    char32_t value = 0;
    for (int i = 0; i < n_digits; ++i) {
      const char c = at_ < pattern_.size() ? pattern_[at_++] : ' ';
      const size_t digit = std::string_view("0123456789abcdefABCDEF").find(c);
      if (digit == std::string_view::npos) fail("an incomplete hexadecimal escape");
      value = value * 16 + static_cast<char32_t>(digit < 16 ? digit : digit - 6);
    }
    return value;
  }

  char32_t unicode_escape() {
    if (skip("{")) {
      char32_t value = 0;
      while (!skip("}")) {
        value = value * 16 + hex(1);
        if (value > kLastCharacter) fail("an escape beyond the last character");
      }
      return value;
    }
    const char32_t unit = hex(4);
    if (unit >= 0xD800 && unit <= 0xDBFF && skip("\\u")) {
      const char32_t low = hex(4);
      if (low < 0xDC00 || low > 0xDFFF) fail("a lone surrogate");
      return 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
    }
    return unit;
  }

  CharacterSet property(bool is_complement) {
    if (!skip("{")) fail("\\p without {");
    const size_t end = pattern_.find('}', at_);
    if (end == std::string_view::npos) fail("\\p{ without }");
    const CharacterSet set = characters_with_property(pattern_.substr(at_, end - at_));
    at_ = end + 1;
    return is_complement ? set.complement() : set;
  }

  // What follows a backslash.
  CharacterSet escape(bool in_bracket) {
    const char32_t c = next();
    const auto one = [](char32_t character) { return CharacterSet(character, character); };
    switch (c) {
      case U'd':
        return digits();
      case U'D':
        return digits().complement();
      case U'w':
        return word_characters();
      case U'W':
        return word_characters().complement();
      case U's':
        return spaces();
      case U'S':
        return spaces().complement();
      case U'p':
        return property(false);
      case U'P':
        return property(true);
      case U'n':
        return one(U'\n');
      case U'r':
        return one(U'\r');
      case U't':
        return one(U'\t');
      case U'v':
        return one(U'\v');
      case U'f':
        return one(U'\f');
      case U'x':
        return one(hex(2));
      case U'u':
        return one(unicode_escape());
      case U'0':
        if (at_ < pattern_.size() && pattern_[at_] >= '0' && pattern_[at_] <= '9') fail("an octal escape");
        return one(0);
      case U'c': {
        const char32_t letter = next();
        if ((letter | 0x20) < U'a' || (letter | 0x20) > U'z') fail("a control escape without a letter");
        return one(letter % 32);
      }
      case U'b':
        if (in_bracket) return one(8);
        fail("a word boundary, which is not supported: \\b");
      case U'B':
        fail("a word boundary, which is not supported: \\B");
      case U'k':
        fail("a back-reference, which is not supported: \\k");
      default:
        break;
    }
    if (c >= U'1' && c <= U'9')
      fail("a back-reference, which is not supported: \\" + std::string(1, static_cast<char>(c)));
    if (c < 0x80 && word_characters().contains(c) && c != U'_')
      fail("an unknown escape: \\" + std::string(1, static_cast<char>(c)));
    return one(c);
  }

  CharacterSet bracket_item() {
    if (skip("\\")) return escape(/*in_bracket=*/true);
    const char32_t c = next();
    return {c, c};
  }

  static std::optional<char32_t> single(const CharacterSet& set) {
    if (set.ranges().size() != 1 || set.ranges()[0].from != set.ranges()[0].to) return std::nullopt;
    return set.ranges()[0].from;
  }

  CharacterSet bracket() {
    const bool is_complement = skip("^");
    CharacterSet set;
    while (!skip("]")) {
      if (at_ >= pattern_.size()) fail("a character class without its end");
      const CharacterSet from = bracket_item();
      if (is_at("-") && !is_at("-]")) {
        ++at_;
        const CharacterSet to = bracket_item();
        const auto first = single(from), last = single(to);
        if (first && last) {
          if (*first > *last) fail("a range of characters that ends before it begins");
          set.add(*first, *last);
          continue;
        }
        set.add(U'-', U'-');  // beside a class, a minus is a character
        set.add(to);
      }
      set.add(from);
    }
    return is_complement ? set.complement() : set;
  }

  Characters& characters_;
  Expressions& expressions_;
  std::string_view pattern_;
  size_t at_ = 0;
  int nesting_ = 0;
};

}  // namespace

Expr search_pattern(Characters& characters, std::string_view pattern) {
  if (const size_t at = find_invalid_utf8(pattern); at != std::string_view::npos)
    throw Error("the pattern is not valid UTF-8 (byte " + std::to_string(at) + ")");
  return PatternParser(characters, pattern).parse();
}

}  // namespace warpchat::grammar
