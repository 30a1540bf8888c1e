// Codes are dequantised without a conversion: the code becomes the low bits of a float whose unit in the last place is
// 1, and that float's value is subtracted.
#include "kernels/attention/kv_rows.h"

namespace warpchat {

using namespace ptx;

Global<u32> page_table(Builder& b, const Global<u64>& tables, const Index& column) {
  return b.pointer<u32>(tables.load(column, kReadOnly), 4);
}

KvRows::KvRows(Builder& b, const KvLayout& layout, const Global<u8>& pages, const Reg<u32>& head)
    : b_(b), layout_(layout), cells_(pages + b.mul_wide(head, kPagePositions * layout.cells_bytes())) {
  if (layout.type != KvType::kQ8_0) return;
  scales_.emplace((pages + layout.scales_offset()).as<ptx::f16>() +
                  b.mul_wide(head, kPagePositions * layout.scales_per_row()));
}

KvRows KvRows::in_page(const Reg<u32>& page) const {
  Reg<u64> offset = b_.mul_wide(page, static_cast<uint32_t>(layout_.n_bytes()));
  if (!scales_) return {b_, layout_, cells_ + offset, {}};
  return {b_, layout_, cells_ + offset, (scales_->as<u8>() + offset).as<ptx::f16>()};
}

KvRows KvRows::from_row(const Reg<u32>& row) const {
  if (!scales_) return {b_, layout_, codes(row), {}};
  return {b_, layout_, codes(row), scales(row)};
}

KvRows KvRows::from_value(const Reg<u32>& value) const {
  if (has_floats()) return {b_, layout_, (floats() + value).as<u8>(), {}};
  if (!scales_) return {b_, layout_, (cells_.as<ptx::f16>() + value).as<u8>(), {}};
  return {b_, layout_, cells_ + value, *scales_ + value / KvLayout::kGroup};
}

Global<f32> KvRows::floats(const Reg<u32>& row) const { return codes(row).as<f32>(); }

Global<ptx::f16> KvRows::halves(const Reg<u32>& row) const { return codes(row).as<ptx::f16>(); }

Global<u8> KvRows::codes(const Reg<u32>& row) const { return cells_ + b_.mul_wide(row, layout_.cells_bytes()); }

Global<ptx::f16> KvRows::scales(const Reg<u32>& row) const {
  return *scales_ + b_.mul_wide(row, layout_.scales_per_row());
}

// Packs four codes: the nearest integers in -127 to 127, plus the bias. Ties round up, as in models/k_quantise.h.
Reg<u32> packed(Builder& b, const std::vector<Reg<f32>>& values, size_t first, const Reg<f32>& inverse) {
  std::vector<Reg<u32>> codes;
  // Negative values clamp to zero.
  for (size_t i = first; i < first + 4; ++i)
    codes.push_back(b.convert<u32>(b.min(values[i] * inverse, 127.0f) + 127.0f + 0.5f));
  Reg<u32> low = b.prmt(codes[0], codes[1], 0x0040), high = b.prmt(codes[2], codes[3], 0x0040);
  return b.prmt(low, high, 0x5410) + 0x01010101u * (KvLayout::kBias - 127);
}

// Takes the maximum magnitude over the bits, where NaN is largest, so a NaN makes the scale NaN.
void store_codes(Builder& b, const KvRows& row, const std::vector<Reg<f32>>& values) {
  constexpr uint32_t kLanes = KvLayout::kGroup / 8;  // per scale
  constexpr float kMax = 127 * KvLayout::kMaxScale;
  Var<u32> bits = b.var("max", 0u);
  for (const Reg<f32>& value : values) bits = b.max(bits, value.as<u32>() & 0x7fffffffu);
  for (uint32_t distance = 1; distance < kLanes; distance *= 2) bits = b.max(bits, b.shuffle_xor(bits, distance));
  Reg<f32> max = Reg<u32>(bits).as<f32>();
  Reg<ptx::f16> scale = b.convert<ptx::f16>(b.div(b.select(max > kMax, kMax, max), 127.0f));
  Reg<f32> stored = b.convert<f32>(scale);
  Reg<f32> inverse = b.select(stored == 0.0f, 0.0f, b.rcp(stored));
  Reg<u32> first = packed(b, values, 0, inverse), second = packed(b, values, 4, inverse);
  b.if_(b.lane() < row.layout().head_dim / 8, [&] { row.codes().as<u32>().store(b.lane() * 2, {first, second}); });
  Reg<u32> group = b.lane() / kLanes;
  b.if_(group * kLanes == b.lane() && group < row.layout().scales_per_row(), [&] { row.scales().store(group, scale); });
}

Vec<f16x2, 2> codes_as_halves(Builder& b, const Reg<u32>& word) {
  constexpr uint32_t kExponents = 0x64646464;  // 1024 in each f16; unit in the last place 1
  const auto pair = [&](uint32_t selector) {
    return b.prmt(word, kExponents, selector).as<f16x2>() - (1024.0f + KvLayout::kBias);
  };
  const Reg<f16x2> low = pair(0x4140);
  return {low, pair(0x4342)};
}

}  // namespace warpchat
