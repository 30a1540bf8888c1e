// The id of a token of a model's vocabulary: 0 .. n_vocab-1; -1 where there is none.
#pragma once
#include <cstdint>

namespace warpchat {
using Token = int32_t;
}
