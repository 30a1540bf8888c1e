#include "kernels/gemm_weights.h"

namespace warpchat {

using namespace ptx;

namespace {

// Code words j (of the first or the last 16 weights) of a lane, moved to bit `to` of every byte.
Reg<b32> code_bits(const std::vector<Reg<b32>>& words, uint32_t bits, int j, uint32_t to, const Reg<u32>& part,
                   const Reg<u32>& two_parts) {
  const auto masked = [&](const Reg<b32>& w) {
    Reg<b32> code = w & (((1u << bits) - 1) * 0x01010101u);
    return to == 0 ? code : code << to;
  };
  if (bits == 8) return words[j];
  if (bits == 4) return masked(j == 0 ? words[0] : words[0] >> 4);
  if (bits == 2) return masked(words[j] >> two_parts);
  return masked(words[0] >> (j == 0 ? part : part + 4));
}

// 1024 and the code of weight 0, twice; of signed codes with their sign bit flipped.
uint32_t zero_bits(TensorType type) {
  const UnitFormat& format = unit_format(type);
  return 0x64006400u + (format.has_signed_codes ? 128 : format.zero) * 0x10001u;
}

}  // namespace

GemmWeights::GemmWeights(Builder& b, const ProductMatrix& matrix)
    : b_(b),
      matrix_(matrix),
      part_((b.lane() & 3).named("part")),
      two_parts_(part_ * 2),
      zero_(Reg<u32>(b.var("zero_code", zero_bits(matrix.type))).as<f16x2>()) {}

std::vector<WeightPart> GemmWeights::load(const Global<u8>& row, const Reg<u32>& unit, uint32_t n_rows) const {
  const PackedStreams& streams = matrix_.streams;
  std::optional<Reg<u32>> own;  // the lane's own unit of eight halves; columns are 0 beyond k
  if (matrix_.type == TensorType::kF16) {
    Reg<u32> index = unit * 4 + part_;
    own.emplace(streams.n_units % 4 == 0 ? index : b_.min(index, streams.n_units - 1));
  }
  const UnitPlace whole = place_unit(row, streams, own ? *own : unit);
  const bool has_words = streams.low_bits == 4 || streams.low_bits == 8;
  const UnitPlace place{has_words ? whole.low + part_ : whole.low, whole.high, whole.heads, whole.scales};
  std::vector<LoadedUnit> loaded;
  for (uint32_t i = 0; i < n_rows; ++i) loaded.push_back(load_part(place, i * 8 * matrix_.row_bytes));
  std::vector<WeightPart> parts;
  for (const LoadedUnit& part : loaded) parts.push_back(decode_part(part));
  return parts;
}

LoadedUnit GemmWeights::load_part(const UnitPlace& place, uint64_t offset) const {
  const PackedStreams& streams = matrix_.streams;
  LoadedUnit unit;
  const auto load = [&](std::vector<Reg<b32>>& to, const Global<b32>& from, uint32_t n_words) {
    if (n_words == 1) return to.push_back(from.load({}, kReadOnly));
    if (n_words == 2) {
      Vec<b32, 2> two = from.load<2>({}, kReadOnly);
      for (int i = 0; i < 2; ++i) to.push_back(two[i]);
    } else {
      Vec<b32, 4> four = from.load<4>({}, kReadOnly);
      for (int i = 0; i < 4; ++i) to.push_back(four[i]);
    }
  };
  Global<b32> low = place.low + offset / 4;
  load(unit.low, low, streams.low_bits == 16 ? 4 : streams.low_bits == 2 ? 2 : 1);
  if (streams.low_bits == 8) load(unit.low, low + streams.n_units * uint64_t{4}, 1);
  for (const Global<b32>& high : place.high) load(unit.high, high + offset / 4, streams.high_bits);
  load_scales(matrix_.type, streams, place, offset, unit);
  return unit;
}

WeightPart GemmWeights::decode_part(const LoadedUnit& unit) const {
  WeightPart part;
  if (matrix_.type == TensorType::kF16) {
    for (const Reg<b32>& word : unit.low) part.pairs.push_back(word.as<f16x2>());
    return part;
  }
  for (int half : {0, 1}) append_halves(codes(unit, half), part.pairs);
  DecodedCodes scales;
  decode_scales(b_, matrix_.type, unit, scales);
  for (const Reg<f32>& scale : scales.scales) part.scales.push_back(scale);
  for (const Reg<f32>& lowest : scales.lowest) part.lowest.push_back(lowest);
  return part;
}

Reg<b32> GemmWeights::codes(const LoadedUnit& unit, int half) const {
  const PackedStreams& streams = matrix_.streams;
  Reg<b32> low = code_bits(unit.low, streams.low_bits, half, 0, part_, two_parts_);
  if (streams.high_bits == 0) return low;
  return low | code_bits(unit.high, streams.high_bits, half, streams.low_bits, part_, two_parts_);
}

// A byte below the exponent of 1024 is the half 1024 + byte.
void GemmWeights::append_halves(const Reg<b32>& codes, std::vector<Reg<f16x2>>& pairs) const {
  const bool is_signed = unit_format(matrix_.type).has_signed_codes;
  Reg<u32> word = (is_signed ? codes ^ 0x80808080u : codes).as<u32>();
  for (uint32_t selector : {0x4140u, 0x4342u})
    pairs.push_back(b_.prmt(word, 0x64646464u, selector).as<f16x2>() - zero_);
}

}  // namespace warpchat
