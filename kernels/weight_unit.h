// One unit of a packed row in registers: what every product, and the embedding, reads weights through.
//   load_unit     the unit's bytes, 16 of the codes at once
//   decode_codes  quantised formats: weight = scale * (code - zero) + lowest
//   decode_floats F32, F16, BF16: the weights themselves
#pragma once
#include <vector>

#include "kernels/weight_layout.h"
#include "ptx/builder.h"

namespace warpchat {

// How a format's bytes are numbers.
struct UnitFormat {
  TensorType type;
  const char* name;  // in kernels' names: "q4k"
  bool has_signed_codes;
  int zero;           // the code of weight 0, where there is no lowest
  uint32_t n_scales;  // of a unit: each of 32 / n_scales weights
  bool has_lowest;
  const int8_t* table = nullptr;  // [16]: the numbers that 4-bit codes stand for; null: codes are the numbers
  // Scales are whole numbers times one number of each 256 weights, and such a number times a code is exact in a half.
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

// Where a lane's unit lies: computed once for all rows of the lane, which are constant distances apart.
struct ScalesPlace {
  std::vector<ptx::Global<ptx::f16>> heads;  // one or none, as of the others
  std::vector<ptx::Global<ptx::u8>> scales;
};
struct UnitPlace : ScalesPlace {
  ptx::Global<ptx::b32> low;
  std::vector<ptx::Global<ptx::b32>> high;
};
// row: the first byte of a packed row; unit: below streams.n_units
UnitPlace place_unit(const ptx::Global<ptx::u8>& row, const PackedStreams& streams, const ptx::Reg<ptx::u32>& unit);

// `offset`: bytes from the placed row to the one to read, a multiple of 16.
LoadedUnit load_unit(TensorType type, const PackedStreams& streams, const UnitPlace& place, uint64_t offset);

struct DecodedCodes {
  std::vector<ptx::Reg<ptx::b32>> codes;           // 8 words, byte b of word j is weight 4 j + b; of tables the numbers
  std::vector<ptx::Reg<ptx::f32>> scales, lowest;  // n_scales of the format, or none
};
DecodedCodes decode_codes(ptx::Builder& b, TensorType type, const PackedStreams& streams, const LoadedUnit& unit);

// The parts of the above that know scales alone, for who takes the codes in another order. heads, scales: the first
// bytes of the row's streams, those that the format has.
ScalesPlace place_scales(const ptx::Global<ptx::u8>& heads, const ptx::Global<ptx::u8>& scales,
                         const PackedStreams& streams, const ptx::Reg<ptx::u32>& unit);
void load_scales(TensorType type, const PackedStreams& streams, const ScalesPlace& place, uint64_t offset,
                 LoadedUnit& unit);
void decode_scales(ptx::Builder& b, TensorType type, const LoadedUnit& unit, DecodedCodes& out);

// Of formats with small scales the whole numbers of a unit, and what all of the block's are to be multiplied by.
struct WholeScales {
  std::vector<ptx::Reg<ptx::u32>> scales;  // n_scales, each zero_of_scales() more than it is
  std::vector<ptx::Reg<ptx::u32>> lowest;  // n_scales, negated, or none
  ptx::Reg<ptx::f32> factor;
  std::vector<ptx::Reg<ptx::f32>> minimum;  // what lowest is to be multiplied by: one, or none
};
constexpr uint32_t zero_of_scales(TensorType type) { return type == TensorType::kQ3_K ? 32 : 0; }
WholeScales decode_whole_scales(ptx::Builder& b, TensorType type, const LoadedUnit& unit);

// The table's numbers, a byte each, for the low and for the high nibbles of a word's bytes.
struct NibbleNumbers {
  ptx::Reg<ptx::b32> low, high;
};
NibbleNumbers look_up_nibbles(ptx::Builder& b, const int8_t* table, const ptx::Reg<ptx::b32>& nibbles);

// A unit shared by four lanes, as fragments of mma have it: lane t, `part`, has weights 4 t to 4 t + 3 and 16 + 4 t to
// 16 + 4 t + 3. unit: low and high words that have them: the lane's one of 4-bit and its two of 8-bit codes, all of
// fewer bits.
struct PartCodes {
  ptx::Reg<ptx::b32> front, back;
};
PartCodes decode_part(ptx::Builder& b, TensorType type, const PackedStreams& streams, const LoadedUnit& unit,
                      const ptx::Reg<ptx::u32>& part, const ptx::Reg<ptx::u32>& two_parts);

std::vector<ptx::Reg<ptx::f32>> decode_floats(ptx::Builder& b, TensorType type, const LoadedUnit& unit);

}  // namespace warpchat
