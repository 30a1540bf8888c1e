// The greedy choice: the index of the largest logit of each column.
#pragma once
#include <cstdint>
#include <string>

#include "ptx/kernel.h"

namespace warpchat {

struct ArgmaxSpec {
  uint32_t n;  // logits of a column
  uint32_t columns = 1;
};

// Of equal logits the lowest index wins (-0 equals +0); NaN never wins, and a column of nothing but NaN gives 0.
// Name: argmax_151936_c1. Parameters: logits f32 [columns, n], out u32 [columns], scratch u8 [argmax_scratch_bytes],
// all zeros before the first launch and left so by each, and n_columns u32 if columns > 1: at most `columns`; what lies
// beyond is neither read nor written. Throws Error for n = 0.
ptx::Kernel argmax(const ArgmaxSpec& spec, ptx::Target target);
std::string name_of(const ArgmaxSpec& spec);

uint64_t argmax_scratch_bytes(const ArgmaxSpec& spec);

}  // namespace warpchat
