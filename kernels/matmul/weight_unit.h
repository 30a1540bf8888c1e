// One unit of a packed row in registers: how products and the embedding read weights.
//   load_unit     the unit's bytes, 16 of the codes at once
//   decode_codes  quantised formats: weight = scale * (code - zero) + lowest
//   decode_floats F32, F16, BF16: the weights themselves
#pragma once
#include <vector>

#include "kernels/matmul/weight_layout.h"
#include "ptx/builder.h"

namespace warpchat {

// How to convert a format's bytes to numbers.
struct UnitFormat {
  TensorType type;
  const char* name;  // in kernels' names: "q4k"
  bool has_signed_codes;
  int zero;           // code of weight 0, if has_lowest is false
  uint32_t n_scales;  // per unit; each covers 32 / n_scales weights
  bool has_lowest;
  const int8_t* table = nullptr;  // [16]: values of 4-bit codes; null: codes are the values
  // Sub-scales are integers times one number per 256 weights, and an integer times a code is exact in f16.
  bool has_small_scales = false;
};
const UnitFormat& unit_format(TensorType type);
bool is_float(TensorType type);

// Registers with a unit's bytes.
struct LoadedUnit {
  std::vector<ptx::Reg<ptx::b32>> low, high;
  std::vector<ptx::Reg<ptx::f16>> head;
  std::vector<ptx::Reg<ptx::s32>> scales;
};

// Addresses of a lane's unit, computed once; the lane's rows are at constant offsets.
struct ScalesPlace {
  std::vector<ptx::Global<ptx::f16>> heads;  // one or none, like the others
  std::vector<ptx::Global<ptx::u8>> scales;
};
struct UnitPlace : ScalesPlace {
  ptx::Global<ptx::b32> low;
  std::vector<ptx::Global<ptx::b32>> high;
};
// row: first byte of a packed row; unit: below streams.n_units.
UnitPlace place_unit(const ptx::Global<ptx::u8>& row, const PackedStreams& streams, const ptx::Reg<ptx::u32>& unit);

// offset: bytes from the placed row to the row to read, a multiple of 16.
LoadedUnit load_unit(TensorType type, const PackedStreams& streams, const UnitPlace& place, uint64_t offset);

// A unit as its loads leave it. No instruction waits for them before unpack(), so it can be kept while other work goes
// on; load_unit() takes a few instructions fewer.
struct RawUnit {
  std::vector<ptx::Reg<ptx::b32>> low, others;  // low codes; high ones, two heads, a scale of one byte
  std::vector<ptx::Reg<ptx::b16>> halves;       // one head, scales of two bytes
};
struct RawUnitSize {
  uint32_t low, others, halves;
};
RawUnitSize raw_unit_size(const PackedStreams& streams);
RawUnit load_raw_unit(const PackedStreams& streams, const UnitPlace& place, uint64_t offset);
LoadedUnit unpack(ptx::Builder& b, TensorType type, const PackedStreams& streams, const RawUnit& raw);

struct DecodedCodes {
  std::vector<ptx::Reg<ptx::b32>> codes;           // 8 words; byte b of word j is weight 4 j + b, after table lookup
  std::vector<ptx::Reg<ptx::f32>> scales, lowest;  // n_scales of the format, or none
};
DecodedCodes decode_codes(ptx::Builder& b, TensorType type, const PackedStreams& streams, const LoadedUnit& unit);

// The functions above restricted to scales, for callers that read codes in another order. heads, scales: first bytes of
// the row's streams, if the format has them.
ScalesPlace place_scales(const ptx::Global<ptx::u8>& heads, const ptx::Global<ptx::u8>& scales,
                         const PackedStreams& streams, const ptx::Reg<ptx::u32>& unit);
void load_scales(TensorType type, const PackedStreams& streams, const ScalesPlace& place, uint64_t offset,
                 LoadedUnit& unit);
void decode_scales(ptx::Builder& b, TensorType type, const LoadedUnit& unit, DecodedCodes& out);

// Formats with small scales: a unit's integer sub-scales, and the factor of the whole block.
struct WholeScales {
  std::vector<ptx::Reg<ptx::u32>> scales;  // n_scales, each with zero_of_scales() added
  std::vector<ptx::Reg<ptx::u32>> lowest;  // n_scales, negated, or none
  ptx::Reg<ptx::f32> factor;
  std::vector<ptx::Reg<ptx::f32>> minimum;  // factor on `lowest`: one, or none
};
constexpr uint32_t zero_of_scales(TensorType type) { return type == TensorType::kQ3_K ? 32 : 0; }
WholeScales decode_whole_scales(ptx::Builder& b, TensorType type, const LoadedUnit& unit);

// Table values, one byte each, for the low and the high nibbles of a word's bytes.
struct NibbleNumbers {
  ptx::Reg<ptx::b32> low, high;
};
NibbleNumbers look_up_nibbles(ptx::Builder& b, const int8_t* table, const ptx::Reg<ptx::b32>& nibbles);

// A unit shared by four lanes, as in mma fragments: lane `part` = t has weights 4 t to 4 t + 3 and 16 + 4 t to 16 + 4 t
// + 3. unit: only the low and high words that hold them: one word of 4-bit codes, two of 8-bit codes, all words of
// narrower codes.
struct PartCodes {
  ptx::Reg<ptx::b32> front, back;
};
PartCodes decode_part(ptx::Builder& b, TensorType type, const PackedStreams& streams, const LoadedUnit& unit,
                      const ptx::Reg<ptx::u32>& part, const ptx::Reg<ptx::u32>& two_parts);

std::vector<ptx::Reg<ptx::f32>> decode_floats(ptx::Builder& b, TensorType type, const LoadedUnit& unit);

}  // namespace warpchat
