// Characters as bytes of a text: either raw UTF-8, or also as what stands for them within a JSON string.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/grammar/character_set.h"
#include "engine/grammar/expressions.h"

namespace warpchat::grammar {

enum class Encoding {
  kRaw,        // UTF-8
  kJsonString  // UTF-8 but for quotes, backslashes and controls, or escapes: \n, \u000a, surrogate pairs
};

class Characters {
 public:
  // expressions must outlive it. A JSON string's any() is declared to expressions as their character.
  Characters(Expressions& expressions, Encoding encoding);

  Expr one_of(const CharacterSet& set);  // one character of the set
  Expr character(char32_t c);
  Expr text(std::u32string_view text);
  Expr any() const { return any_; }

  // Each text followed by its own expression, as a tree of common beginnings. texts: sorted, different.
  Expr any_text_of(const std::vector<std::pair<std::u32string, Expr>>& texts);

  Expressions& expressions() { return expressions_; }

 private:
  Expr raw(const CharacterSet& set);
  Expr continuation(const CharacterSet& set, char32_t from, int n_bytes);
  Expr escapes(const CharacterSet& set);
  Expr hex_digits(const CharacterSet& set, char32_t from, int n_digits);
  Expr surrogates(const CharacterSet& set, char32_t from, size_t level);

  Expressions& expressions_;
  const Encoding encoding_;
  Expr any_;
  std::map<char32_t, Expr> known_;
};

// A UTF-8 text's characters; invalid ones as U+FFFD.
std::u32string characters_of(std::string_view text);

}  // namespace warpchat::grammar
