// chat kernels --gpu: what a model of a GPU says about a decoder's kernels, as tables.
#pragma once
#include <cstdint>
#include <string>

#include "kernels/shapes.h"
#include "models/text_table.h"

namespace warpchat {

constexpr uint32_t kPromptColumns = 512;  // of a pass, as by default

// Tokens per second by every set of constants; by the named one (empty: expected) where the time of a token goes, one
// sequence at four positions, several, prompts. UsageError for an unknown GPU or set.
std::string predicted_speeds(const std::string& name, const ModelShape& shape, const std::string& gpu,
                             const std::string& constants);

}  // namespace warpchat
