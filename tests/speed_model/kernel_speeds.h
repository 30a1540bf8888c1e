// What predict_speed prints: the speed model's predictions for a model's kernels, as tables.
#pragma once
#include <string>

#include "kernels/shapes.h"
#include "tests/speed_model/speed_model.h"

namespace warpchat {

// Tokens per second with every set of constants. With the given set: where a token's time goes, one sequence in four
// contexts, several sequences, and prompts. name: the model's; frozen: a row of known_gpus().
std::string predicted_speeds(const std::string& name, const ModelShape& shape, const GpuTraits& frozen,
                             ConstantSet constants);

}  // namespace warpchat
