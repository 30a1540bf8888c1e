// Keys and values in q8_0: 32 neighbouring values of a row (fewer at its end) are codes times a scale. The scale is
// rounded to fp16 as in kernels/attention/kv_cache.h, and stored as a float.
#pragma once
#include "engine/cpu/kernels/kernels.h"

namespace warpchat {

// position: below 64. key, value: [head_dim]. Clamps values to 65,024. A NaN makes its group's scale NaN.
void store_key_codes(const HeadTile& tile, uint32_t position, const float* key);
void store_value_codes(const HeadTile& tile, uint32_t position, const float* value);

}  // namespace warpchat
