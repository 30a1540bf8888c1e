// Tables in a monospaced font.
#pragma once
#include <string>
#include <vector>

namespace warpchat {

using TextTable = std::vector<std::vector<std::string>>;  // rows of cells; the first is the header

// One line per row; the first column is left-aligned, others right-aligned.
std::string aligned(const TextTable& table);

}  // namespace warpchat
