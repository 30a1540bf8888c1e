// ggml's quantised blocks as they lie in a GGUF file. Field names are ggml's.
#pragma once
#include <cstddef>
#include <cstdint>

#include "models/half.h"

namespace warpchat {
}  // namespace warpchat
