// chat kernels --gpu: what a model of a GPU says about a decoder's kernels, as tables.
#pragma once
#include <string>
#include <vector>

#include "kernels/shapes.h"

namespace warpchat {

using TextTable = std::vector<std::vector<std::string>>;  // rows of cells, the first a head
std::string aligned(const TextTable& table);              // the first column to the left, the others to the right

// Time per kernel, then tokens per second at three positions. UsageError for a GPU that is not known.
std::string predicted_speeds(const std::string& name, const ModelShape& shape, const std::string& gpu);

}  // namespace warpchat
