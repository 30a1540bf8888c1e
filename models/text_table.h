// Tables for people to read, in a font whose letters are equally wide.
#pragma once
#include <string>
#include <vector>

namespace warpchat {

using TextTable = std::vector<std::vector<std::string>>;  // rows of cells, of which the first is the head

// A line per row: the first column is aligned to the left, the others to the right.
std::string aligned(const TextTable& table);

}  // namespace warpchat
