// best[j][i]: the best score of the letters up to j where letter j is the text's character i.
#include "app/gui/text/fuzzy_match.h"

#include <algorithm>
#include <cstdint>

#include "engine/store/find_text.h"

namespace warpchat::gui {

namespace {

constexpr size_t kMaxMatched = 200, kMaxWanted = 40;  // characters that count
constexpr int kNotThere = -1'000'000;
constexpr int kLetter = 4, kNextTo = 10, kWordBegin = 12, kTextBegin = 4, kApart = 3;
constexpr int kLengthPerPoint = 24;  // characters of a text that cost one point

struct Character {
  int32_t small;
  size_t begin, end;  // bytes
  bool begins_word;
};

bool is_between_words(int32_t letter) {
  return letter >= 0 && letter < 0x80 && !(letter >= 'a' && letter <= 'z') && !(letter >= '0' && letter <= '9');
}

std::vector<Character> characters_of(std::string_view text, size_t max) {
  std::vector<Character> all;
  bool begins_word = true;
  for (size_t at = 0; at < text.size() && all.size() < max;) {
    const SmallLetter letter = small_letter_at(text, at);
    all.push_back({letter.small, at, at + letter.bytes, begins_word && !is_between_words(letter.small)});
    begins_word = is_between_words(letter.small);
    at += letter.bytes;
  }
  return all;
}

bool has_in_order(const std::vector<Character>& text, const std::vector<Character>& wanted) {
  size_t n = 0;
  for (size_t i = 0; i < text.size() && n < wanted.size(); ++i)
    if (text[i].small == wanted[n].small) ++n;
  return n == wanted.size();
}

struct Table {
  std::vector<int> scores;
  std::vector<size_t> before;  // the place of the letter before
  size_t columns;
  int& score(size_t letter, size_t at) { return scores[letter * columns + at]; }
  size_t& came_from(size_t letter, size_t at) { return before[letter * columns + at]; }
};

void fill_row(Table& table, size_t j, const std::vector<Character>& text, int32_t letter) {
  int best_before = kNotThere;  // of the letter before, with a gap
  size_t best_at = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (j > 0 && i > 1 && table.score(j - 1, i - 2) > best_before)
      best_before = table.score(j - 1, i - 2), best_at = i - 2;
    if (text[i].small != letter) continue;
    const int own = kLetter + (text[i].begins_word ? kWordBegin : 0) + (i == 0 ? kTextBegin : 0);
    if (j == 0) {
      table.score(j, i) = own;
      continue;
    }
    const int next_to = i > 0 ? table.score(j - 1, i - 1) + kNextTo : kNotThere, apart = best_before - kApart;
    table.came_from(j, i) = next_to >= apart ? i - 1 : best_at;
    if (std::max(next_to, apart) > 0) table.score(j, i) = std::max(next_to, apart) + own;
  }
}

}  // namespace

std::optional<FuzzyMatch> fuzzy_match(std::string_view text, std::string_view wanted) {
  const std::vector<Character> characters = characters_of(text, kMaxMatched);
  std::vector<Character> letters = characters_of(wanted, kMaxWanted);
  std::erase_if(letters, [](const Character& c) { return c.small == ' '; });
  if (letters.empty()) return FuzzyMatch{};
  if (!has_in_order(characters, letters)) return std::nullopt;
  const size_t columns = characters.size();
  Table table{std::vector<int>(letters.size() * columns, kNotThere), std::vector<size_t>(letters.size() * columns),
              columns};
  for (size_t j = 0; j < letters.size(); ++j) fill_row(table, j, characters, letters[j].small);
  const size_t last = letters.size() - 1;
  size_t at = 0;
  for (size_t i = 1; i < columns; ++i)
    if (table.score(last, i) > table.score(last, at)) at = i;
  FuzzyMatch match{.score = table.score(last, at) - static_cast<int>(columns) / kLengthPerPoint, .marks = {}};
  for (size_t j = last;; --j) {
    const Character& found = characters[at];
    if (!match.marks.empty() && match.marks.back().first == found.end)
      match.marks.back().first = found.begin;
    else
      match.marks.emplace_back(found.begin, found.end);
    if (j == 0) break;
    at = table.came_from(j, at);
  }
  std::ranges::reverse(match.marks);
  return match;
}

}  // namespace warpchat::gui
