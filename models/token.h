// Id of a vocabulary's token: 0 .. n_vocab-1; -1: none.
#pragma once
#include <cstdint>

namespace warpchat {
using Token = int32_t;
}
