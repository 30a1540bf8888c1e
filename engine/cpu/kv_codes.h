// Keys and values in q8_0: 32 neighbouring values of a row (fewer at its end) are codes times a scale. The scale is
// rounded to fp16 as in kernels/attention/kv_cache.h, and stored as a float.
#pragma once
#include <algorithm>
#include <cmath>

#include "engine/cpu/kernels/kernels.h"
#include "kernels/attention/kv_cache.h"
#include "models/half.h"
#include "models/k_quantise.h"

namespace warpchat {

// body(group, scale, first value, count, 1 / scale)
template <class F>
void for_code_groups(const float* row, uint32_t head_dim, const F& body) {
  constexpr float kMax = 127 * KvLayout::kMaxScale;
  for (uint32_t first = 0; first < head_dim; first += kCodeGroup) {
    const uint32_t n = std::min(kCodeGroup, head_dim - first);
    float max = 0;
    for (uint32_t i = first; i < first + n && !std::isnan(max); ++i)
      max = std::isnan(row[i]) ? row[i] : std::max(max, std::fabs(row[i]));
    const float scale = to_float(to_f16((max > kMax ? kMax : max) / 127));
    body(first / kCodeGroup, scale, first, n, scale == 0 ? 0 : 1 / scale);
  }
}

// position: below 64. key, value: [head_dim]. Clamps values to 65,024. A NaN makes its group's scale NaN.
inline void store_key_codes(const HeadTile& tile, uint32_t position, const float* key) {
  const uint64_t block = position / kKeyBlock, lane = position % kKeyBlock;
  const HeadCodes& to = tile.key_codes;
  for_code_groups(key, tile.head_dim, [&](uint32_t group, float scale, uint32_t first, uint32_t n, float inverse) {
    to.scales[(block * code_groups(tile.head_dim) + group) * kKeyBlock + lane] = scale;
    for (uint32_t d = first; d < first + n; ++d)
      to.codes[(block * tile.head_dim + d) * kKeyBlock + lane] =
          static_cast<int8_t>(nearest(key[d] * inverse, -127, 127));
  });
}

inline void store_value_codes(const HeadTile& tile, uint32_t position, const float* value) {
  const HeadCodes& to = tile.value_codes;
  for_code_groups(value, tile.head_dim, [&](uint32_t group, float scale, uint32_t first, uint32_t n, float inverse) {
    to.scales[uint64_t{position} * code_groups(tile.head_dim) + group] = scale;
    for (uint32_t d = first; d < first + n; ++d)
      to.codes[uint64_t{position} * tile.value_stride + d] =
          static_cast<int8_t>(nearest(value[d] * inverse, -127, 127));
  });
}

}  // namespace warpchat
