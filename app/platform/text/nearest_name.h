// What was probably meant by an unknown name of a flag or a command.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "models/ascii.h"

namespace warpchat {

// Letters to change, insert, remove or swap with their neighbour (optimal string alignment).
inline size_t letters_apart(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i)
    for (size_t j = 1; j <= b.size(); ++j) {
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      const bool swaps = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swaps) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

// The name that is the fewest letters apart: one of three letters at most, and two in all. Else the only name that
// begins with what was typed. Dashes, slashes and upper case do not count. Empty: none.
inline std::string nearest_name(std::string_view typed, const std::vector<std::string>& names) {
  constexpr size_t kMaxLetters = 64, kMaxApart = 2, kMinBeginning = 3;
  const auto letters_of = [](std::string_view name) {
    return lower_case(name.substr(std::min(name.find_first_not_of("-/"), name.size())));
  };
  const std::string wanted = letters_of(typed);
  if (wanted.size() > kMaxLetters) return "";
  size_t nearest = std::min(wanted.size() / 3, kMaxApart) + 1, n_longer = 0;
  std::string found, longer;
  for (const std::string& name : names) {
    const std::string letters = letters_of(name);
    if (const size_t apart = letters_apart(wanted, letters); apart < nearest) nearest = apart, found = name;
    if (letters.starts_with(wanted)) ++n_longer, longer = name;
  }
  return found.empty() && n_longer == 1 && wanted.size() >= kMinBeginning ? longer : found;
}

inline std::string perhaps_meant(const std::string& name) { return name.empty() ? "" : "; perhaps you mean " + name; }

}  // namespace warpchat
