// Random texts, the same for the same seed on every machine, for tests of what must hold for any text. Pieces that mean
// something to a parser follow each other, repeat, and are cut. WARPCHAT_FULL_TESTS makes many more rounds.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/utf8.h"

namespace warpchat {

inline size_t fuzz_rounds(size_t few, size_t many) {
  return std::getenv("WARPCHAT_FULL_TESTS") != nullptr ? many : few;
}

class FuzzText {
 public:
  explicit FuzzText(uint32_t seed) : random_(seed) {}

  size_t below(size_t n) { return random_() % n; }

  // Pieces in any order. Now and then one of them many times, or all so far once more.
  std::string of(std::span<const std::string_view> pieces, size_t max_bytes) {
    std::string text;
    for (size_t n = 1 + below(40); n-- > 0 && text.size() < max_bytes;) {
      const std::string_view piece = pieces[below(pieces.size())];
      const size_t chance = below(20), n_times = chance == 0 ? 1 + below(200) : chance < 4 ? 1 + below(8) : 1;
      for (size_t i = 0; i < n_times && text.size() < max_bytes; ++i) text += piece;
      if (chance == 19 && 2 * text.size() < max_bytes) text += std::string(text);
    }
    return text;
  }

  // The text in pieces of whole characters, most of them short.
  std::vector<std::string_view> split(std::string_view text) {
    std::vector<std::string_view> parts;
    const size_t max = below(4) == 0 ? 200 : 8;
    while (!text.empty()) {
      size_t n = std::min(1 + below(max), text.size());
      while (n < text.size() && continues_character(text[n])) ++n;
      parts.push_back(text.substr(0, n));
      text.remove_prefix(n);
    }
    return parts;
  }

  // Some bytes replaced, taken out, doubled or cut off. letters: what replaces them.
  std::string changed(std::string text, std::string_view letters) {
    for (size_t n = 1 + below(4); n-- > 0 && !text.empty();) {
      const size_t at = below(text.size()), length = std::min(1 + below(below(4) == 0 ? 100 : 3), text.size() - at);
      switch (below(4)) {
        case 0:
          text[at] = letters[below(letters.size())];
          break;
        case 1:
          text.erase(at, length);
          break;
        case 2:
          text.insert(at, std::string(text, at, length));
          break;
        default:
          if (below(4) == 0) text.resize(at);
      }
    }
    return text;
  }

 private:
  std::mt19937 random_;
};

}  // namespace warpchat
