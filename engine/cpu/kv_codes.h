// Keys and values as q8_0 in the CPU's cache: 32 neighbouring values of a row, or what is left of it, are codes times a
// scale, which is rounded to fp16 as kernels/kv_cache.h has it, and kept as a float.
#pragma once
#include "engine/cpu/kernels/kernels.h"

namespace warpchat {

// position: below 64. key, value: [head_dim]. Larger values than 65,024 are clamped to it; a NaN makes its group's
// scale one.
void store_key_codes(const HeadTile& tile, uint32_t position, const float* key);
void store_value_codes(const HeadTile& tile, uint32_t position, const float* value);

}  // namespace warpchat
