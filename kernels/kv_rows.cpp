// A code becomes a number without a conversion: it is put below the exponent of a number whose last place counts ones,
// and that number is taken away again.
#include "kernels/kv_rows.h"

namespace warpchat {

using namespace ptx;

KvRows::KvRows(Builder& b, const KvLayout& cache, const Reg<u64>& address, const Reg<u64>& first_row)
    : b_(b),
      layout_(cache),
      cells_(b.pointer<u8>(address, KvLayout::kAlignment) +
             first_row * (cache.type == KvType::kF16 ? uint64_t{2} * cache.head_dim : cache.head_dim)) {
  if (cache.type == KvType::kF16) return;
  const Global<u8> start = b.pointer<u8>(address, KvLayout::kAlignment) + cache.scales_offset();
  scales_.emplace(start.as<ptx::f16>() + first_row * cache.scales_per_row());
}

Global<ptx::f16> KvRows::halves(const Reg<u32>& row) const {
  return cells_.as<ptx::f16>() + b_.mul_wide(row, layout_.head_dim);
}

Global<u8> KvRows::codes(const Reg<u32>& row) const { return cells_ + b_.mul_wide(row, layout_.head_dim); }

Global<ptx::f16> KvRows::scales(const Reg<u32>& row) const {
  return *scales_ + b_.mul_wide(row, layout_.scales_per_row());
}

Vec<f16x2, 2> codes_as_halves(Builder& b, const Reg<u32>& word) {
  constexpr uint32_t kExponents = 0x64646464;  // 1024 in each half, whose last place is 1
  const auto pair = [&](uint32_t selector) {
    return b.prmt(word, kExponents, selector).as<f16x2>() - (1024.0f + KvLayout::kBias);
  };
  const Reg<f16x2> low = pair(0x4140);
  return {low, pair(0x4342)};
}

Vec<f32, 4> codes_as_floats(Builder& b, const Reg<u32>& word) {
  constexpr uint32_t kExponent = 0x4b000000;  // 2^23, whose last place is 1
  const auto number = [&](uint32_t byte) {
    return b.prmt(word, kExponent, 0x7440 + byte).as<f32>() - (0x1p23f + KvLayout::kBias);
  };
  const Reg<f32> first = number(0), second = number(1), third = number(2);
  return {first, second, third, number(3)};
}

}  // namespace warpchat
