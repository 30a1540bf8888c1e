// Tables in a monospaced font.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

namespace warpchat {

using TextTable = std::vector<std::vector<std::string>>;  // rows of cells; the first is the header

// One line per row; the first column is left-aligned, others right-aligned.
inline std::string aligned(const TextTable& table) {
  std::vector<size_t> widths(table.at(0).size(), 0);
  for (const auto& row : table)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const auto& row : table) {
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string blanks(widths[i] - row[i].size(), ' ');
      text += i == 0 ? row[i] + blanks : "  " + blanks + row[i];
    }
    text += "\n";
  }
  return text;
}

}  // namespace warpchat
