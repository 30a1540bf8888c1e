// A KV cache on the host: rows quantised as the contract says, what they stand for in double, and the device's bytes,
// of which those that no row has written count as never written.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "emulated_kernel.h"
#include "kernels/kv_cache.h"
#include "models/half.h"
#include "models/quant_blocks.h"
#include "models/quantise.h"

namespace warpchat {

class KvImage {
 public:
  explicit KvImage(const KvLayout& shape) : layout(shape), bytes(shape.n_bytes(), 0xff), written(shape.n_bytes()) {}

  // values: [head_dim]
  void set(uint32_t head, uint32_t position, std::span<const float> values) {
    const uint64_t row = uint64_t{head} * layout.max_positions + position;
    const uint32_t d = layout.head_dim;
    if (layout.type == KvType::kF16) {
      for (uint32_t i = 0; i < d; ++i) put(2 * (row * d + i), to_f16(values[i]));
      return;
    }
    const uint64_t scales = layout.scales_offset() + 2 * row * layout.scales_per_row();
    for (uint32_t group = 0; group < layout.scales_per_row(); ++group) {
      float block[KvLayout::kGroup] = {};  // zeros beyond the row
      const float most = KvLayout::kMostScale * 127;
      for (uint32_t i = group * 32; i < std::min(d, group * 32 + 32); ++i)
        block[i % 32] = std::min(std::max(values[i], -most), most);
      BlockQ8_0 quantised;
      std::memcpy(&quantised, quantise_row(TensorType::kQ8_0, block).data(), sizeof quantised);
      put(scales + 2 * group, quantised.d);
      for (uint32_t i = group * 32; i < std::min(d, group * 32 + 32); ++i)
        put(row * d + i, static_cast<uint8_t>(quantised.qs[i % 32] + KvLayout::kBias));
    }
  }

  // What value i of a row stands for.
  double at(uint32_t head, uint32_t position, uint32_t i) const {
    const uint64_t row = uint64_t{head} * layout.max_positions + position;
    if (layout.type == KvType::kF16) return to_float(get<f16>(2 * (row * layout.head_dim + i)));
    const uint64_t scale = layout.scales_offset() + 2 * (row * layout.scales_per_row() + i / KvLayout::kGroup);
    return (get<uint8_t>(row * layout.head_dim + i) - KvLayout::kBias) * double{to_float(get<f16>(scale))};
  }

  // The address of a copy on the device.
  uint64_t upload(GuardedDevice& device) const {
    auto* to = device.poisoned<uint8_t>(bytes.size());
    for (size_t i = 0; i < bytes.size();) {
      size_t end = i;
      while (end < bytes.size() && written[end] == written[i]) ++end;
      if (written[i] != 0) {
        std::memcpy(to + i, &bytes[i], end - i);
        device.mark_initialised(to + i, end - i);
      }
      i = end;
    }
    return reinterpret_cast<uint64_t>(to);
  }

  KvLayout layout;
  std::vector<uint8_t> bytes, written;

 private:
  template <class T>
  void put(uint64_t offset, T value) {
    std::memcpy(&bytes[offset], &value, sizeof value);
    std::memset(&written[offset], 1, sizeof value);
  }
  template <class T>
  T get(uint64_t offset) const {
    T value;
    std::memcpy(&value, &bytes[offset], sizeof value);
    return value;
  }
};

}  // namespace warpchat
