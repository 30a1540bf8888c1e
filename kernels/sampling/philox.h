// Counter-based random numbers: Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1,
// 2, 3", SC 2011.
#pragma once
#include "ptx/builder.h"

namespace warpchat {

// The first 64 of the 128 random bits for counter {counter, 0, 0, 0}; the first word is the low one.
ptx::Reg<ptx::u64> philox(ptx::Builder& b, const ptx::Reg<ptx::u64>& key, const ptx::Reg<ptx::u32>& counter);

}  // namespace warpchat
