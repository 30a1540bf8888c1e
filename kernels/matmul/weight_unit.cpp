#include "kernels/matmul/weight_unit.h"

#include <cassert>

#include "models/block_types.h"

namespace warpchat {

using namespace ptx;

namespace {

constexpr UnitFormat kUnitFormats[] = {
    // type, name, signed codes, zero, scales per unit, has minimum, table of code values, small scales
    {TensorType::kF32, "f32", false, 0, 0, false},
    {TensorType::kF16, "f16", false, 0, 0, false},
    {TensorType::kBF16, "bf16", false, 0, 0, false},
    {TensorType::kQ4_0, "q40", false, 8, 1, false},
    {TensorType::kQ4_1, "q41", false, 0, 1, true},
    {TensorType::kQ5_0, "q50", false, 16, 1, false},
    {TensorType::kQ5_1, "q51", false, 0, 1, true},
    {TensorType::kQ8_0, "q80", true, 0, 1, false},
    {TensorType::kQ2_K, "q2k", false, 0, 2, true, nullptr, true},
    {TensorType::kQ3_K, "q3k", false, 4, 2, false, nullptr, true},
    {TensorType::kQ4_K, "q4k", false, 0, 1, true, nullptr, true},
    {TensorType::kQ5_K, "q5k", false, 0, 1, true, nullptr, true},
    {TensorType::kQ6_K, "q6k", false, 32, 2, false},
    {TensorType::kIQ4_NL, "iq4nl", true, 0, 1, false, kIQ4Values},
    {TensorType::kIQ4_XS, "iq4xs", true, 0, 1, false, kIQ4Values},
    {TensorType::kMXFP4, "mxfp4", true, 0, 1, false, kMXFP4Values},
    {TensorType::kIQ2Expanded, "iq2", true, 0, 2, false, kIQ2Values, true},
    {TensorType::kIQ3XXSExpanded, "iq3xxs", true, 0, 2, false, kIQ3XXSValues, true},
    {TensorType::kIQ3SExpanded, "iq3s", true, 0, 2, false, kIQ3SValues, true},
};
static_assert(has_every_format<KernelBlocks>(kUnitFormats));

// `bits` repeated in every byte.
constexpr uint32_t in_each_byte(uint32_t bits) { return bits * 0x01010101u; }

// w shifted left by `left` bits; negative: right.
Reg<b32> shifted(const Reg<b32>& w, int left) {
  if (left == 0) return w;
  return left > 0 ? w << static_cast<uint32_t>(left) : w >> static_cast<uint32_t>(-left);
}

// Word j of `bits`-bit codes from a stream's words, moved to bit `to` of every byte.
Reg<b32> code_bits(const std::vector<Reg<b32>>& words, int bits, int j, int to) {
  if (bits == 8) return words[j];
  const int n_words = bits, word = bits == 4 ? j % 4 : j / (8 / n_words),
            at = bits == 4 ? j / 4 * 4 : j % (8 / n_words) * bits;
  return shifted(words[word], to - at) & in_each_byte(((1u << bits) - 1) << to);
}

Reg<f32> number(Builder& b, const Reg<s32>& x) { return b.convert<f32>(x); }

template <class Values, class V>
void append(Values& to, const V& values) {
  for (int i = 0; i < values.size(); ++i) to.push_back(values[i]);
}

}  // namespace

const UnitFormat& unit_format(TensorType type) { return row_of(kUnitFormats, type); }

// One prmt selects among eight bytes by the nibbles' low three bits. A third prmt uses the top bits to choose between
// the two table halves: its selector i is byte i of the first half, or of the second.
NibbleNumbers look_up_nibbles(Builder& b, const int8_t* table, const Reg<b32>& nibbles) {
  const auto word_of_table = [&](int first) {
    uint32_t word = 0;
    for (int i = 0; i < 4; ++i) word |= uint32_t{static_cast<uint8_t>(table[first + i])} << (8 * i);
    return In<u32>(word);
  };
  const Reg<u32> places = (nibbles & 0x77777777u).as<u32>();
  const Reg<u32> halves = ((nibbles >> 1 & 0x44444444u) | 0x32103210u).as<u32>();
  std::vector<Reg<u32>> numbers;  // of bytes 0 and 1, then 2 and 3; each low nibble before its high one
  for (uint32_t shift : {0u, 16u}) {
    const Reg<u32> place = shift == 0 ? places : places >> shift;
    const Reg<u32> first = b.prmt(word_of_table(0), word_of_table(4), place);
    const Reg<u32> second = b.prmt(word_of_table(8), word_of_table(12), place);
    numbers.push_back(b.prmt(first, second, shift == 0 ? halves : halves >> shift));
  }
  return {b.prmt(numbers[0], numbers[1], 0x6420u).as<b32>(), b.prmt(numbers[0], numbers[1], 0x7531u).as<b32>()};
}

bool is_float(TensorType type) { return unit_format(type).n_scales == 0; }

// Streams are indexed in elements of a unit's size, so that an address is one instruction.
UnitPlace place_unit(const Global<u8>& row, const PackedStreams& streams, const Reg<u32>& unit) {
  Global<b32> low = streams.low_bits == 2 ? (row.as<b64>() + unit).as<b32>() : (row + unit * 16).as<b32>();
  Global<u8> high = row + streams.high;
  std::vector<Global<b32>> high_place;
  if (streams.high_bits == 2) high_place.push_back((high.as<b64>() + unit).as<b32>());
  if (streams.high_bits == 1) high_place.push_back(high.as<b32>() + unit);
  return {place_scales(row + streams.heads, row + streams.scales, streams, unit), low, high_place};
}

ScalesPlace place_scales(const Global<u8>& heads, const Global<u8>& scales, const PackedStreams& streams,
                         const Reg<u32>& unit) {
  ScalesPlace place;
  if (streams.head_bytes != 0) {
    Reg<u32> block = streams.units_per_head == 1 ? unit : unit >> 3;
    place.heads.push_back(streams.head_bytes == 4 ? (heads.as<f16x2>() + block).as<ptx::f16>()
                                                  : heads.as<ptx::f16>() + block);
  }
  if (streams.scale_bytes == 1) place.scales.push_back(scales + unit);
  if (streams.scale_bytes == 2) place.scales.push_back((scales.as<u16>() + unit).as<u8>());
  return place;
}

void load_scales(TensorType type, const PackedStreams& streams, const ScalesPlace& place, uint64_t offset,
                 LoadedUnit& unit) {
  // Short reads share a sector with the lane's next ones, so L1 should keep them.
  for (const auto& heads : place.heads) {
    if (streams.head_bytes == 4)
      append(unit.head, (heads + offset / 2).load<2>({}, kReadOnly));
    else
      unit.head.push_back((heads + offset / 2).load({}, kReadOnly));
  }
  for (const auto& scales : place.scales) {
    if (streams.scale_bytes == 1)
      unit.scales.push_back((scales + offset).load({}, kReadOnly).as<s32>());
    else if (type == TensorType::kQ6_K)
      append(unit.scales, (scales + offset).as<s8>().load<2>({}, kReadOnly));
    else
      append(unit.scales, (scales + offset).load<2>({}, kReadOnly).as<s32>());
  }
}

RawUnitSize raw_unit_size(const PackedStreams& streams) {
  const uint32_t low = streams.low_bits == 2 ? 2 : streams.low_bits == 8 ? 8 : 4;
  return {low, streams.high_bits + (streams.head_bytes == 4) + (streams.scale_bytes == 1),
          uint32_t{streams.head_bytes == 2} + (streams.scale_bytes == 2)};
}

namespace {

// The words of both kinds of codes, 16 bytes of them at once.
void load_codes(const PackedStreams& streams, const UnitPlace& place, uint64_t offset, std::vector<Reg<b32>>& low_words,
                std::vector<Reg<b32>>& high_words) {
  Global<b32> low = place.low + offset / 4;
  if (streams.low_bits == 2)
    append(low_words, low.load<2>({}, kReadOnce));
  else
    append(low_words, low.load<4>({}, kReadOnce));
  if (streams.low_bits == 8) append(low_words, low.load<4>(streams.n_units * uint64_t{4}, kReadOnce));
  for (const auto& high : place.high) {
    if (streams.high_bits == 2)
      append(high_words, (high + offset / 4).load<2>({}, kReadOnce));
    else
      high_words.push_back((high + offset / 4).load({}, kReadOnce));
  }
}

}  // namespace

LoadedUnit load_unit(TensorType type, const PackedStreams& streams, const UnitPlace& place, uint64_t offset) {
  LoadedUnit unit;
  load_codes(streams, place, offset, unit.low, unit.high);
  load_scales(type, streams, place, offset, unit);
  return unit;
}

RawUnit load_raw_unit(const PackedStreams& streams, const UnitPlace& place, uint64_t offset) {
  RawUnit unit;
  load_codes(streams, place, offset, unit.low, unit.others);
  // As in load_scales().
  for (const auto& heads : place.heads) {
    if (streams.head_bytes == 4)
      unit.others.push_back((heads + offset / 2).as<b32>().load({}, kReadOnly));
    else
      unit.halves.push_back((heads + offset / 2).as<b16>().load({}, kReadOnly));
  }
  for (const auto& scales : place.scales) {
    if (streams.scale_bytes == 1)
      unit.others.push_back((scales + offset).load({}, kReadOnly).as<b32>());
    else
      unit.halves.push_back((scales + offset).as<b16>().load({}, kReadOnly));
  }
  assert(unit.low.size() == raw_unit_size(streams).low && unit.others.size() == raw_unit_size(streams).others &&
         unit.halves.size() == raw_unit_size(streams).halves);
  return unit;
}

LoadedUnit unpack(Builder& b, TensorType type, const PackedStreams& streams, const RawUnit& raw) {
  LoadedUnit unit{raw.low, {}, {}, {}};
  auto word = raw.others.begin();
  auto half = raw.halves.begin();
  for (uint32_t i = 0; i < streams.high_bits; ++i) unit.high.push_back(*word++);
  if (streams.head_bytes == 4)
    append(unit.head, b.split<ptx::f16>(*word++));
  else if (streams.head_bytes == 2)
    unit.head.push_back((half++)->as<ptx::f16>());
  if (streams.scale_bytes == 1) {
    unit.scales.push_back(word->as<s32>());
  } else if (streams.scale_bytes == 2) {
    const Reg<u32> both = b.convert<u32>(half->as<u16>());
    if (type == TensorType::kQ6_K) {  // signed
      unit.scales.push_back((both << 24).as<s32>() >> 24);
      unit.scales.push_back((both << 16).as<s32>() >> 24);
    } else {
      unit.scales.push_back((both & 0xffu).as<s32>());
      unit.scales.push_back((both >> 8).as<s32>());
    }
  }
  return unit;
}

namespace {

// For the formats that IQ2 and IQ3 expand to.
Reg<f32> divided_head(TensorType type, const Reg<f32>& head) {
  const int divisor = KernelBlocks::visit(type, [](auto block) {
    if constexpr (requires { block.kDivisor; }) return block.kDivisor;
    return 0;
  });
  return divisor == 1 ? head : head * (1.0f / static_cast<float>(divisor));
}

}  // namespace

void decode_scales(Builder& b, TensorType type, const LoadedUnit& unit, DecodedCodes& out) {
  std::vector<Reg<f32>> head;
  for (const auto& half : unit.head) head.push_back(b.convert<f32>(half));
  switch (type) {
    case TensorType::kQ4_1:
    case TensorType::kQ5_1:  // d, m
      out.scales.push_back(head[0]);
      out.lowest.push_back(head[1]);
      return;
    case TensorType::kQ4_K:
    case TensorType::kQ5_K:  // d * scale, -dmin * min
      out.scales.push_back(head[0] * number(b, unit.scales[0]));
      out.lowest.push_back(head[1] * number(b, -unit.scales[1]));
      return;
    case TensorType::kQ2_K:  // the same, as nibbles
      for (const Reg<s32>& nibbles : unit.scales) {
        out.scales.push_back(head[0] * number(b, nibbles & 15));
        out.lowest.push_back(head[1] * number(b, -(nibbles >> 4)));
      }
      return;
    case TensorType::kQ3_K:
    case TensorType::kIQ4_XS:  // d * (scale - 32)
      for (const Reg<s32>& scale : unit.scales) out.scales.push_back(head[0] * number(b, scale - 32));
      return;
    case TensorType::kQ6_K:  // d * scale
      for (const Reg<s32>& scale : unit.scales) out.scales.push_back(head[0] * number(b, scale));
      return;
    case TensorType::kQ4_0:
    case TensorType::kQ5_0:
    case TensorType::kQ8_0:
    case TensorType::kIQ4_NL:  // d
      out.scales.push_back(head[0]);
      return;
    case TensorType::kMXFP4: {  // half of 2^(e - 127), which is subnormal for e = 0
      const Reg<u32> power = b.max(unit.scales[0].as<u32>() << 23, 0x00400000u);
      out.scales.push_back(power.as<f32>() * 0.5f);
      return;
    }
    case TensorType::kIQ2Expanded:
    case TensorType::kIQ3XXSExpanded:
    case TensorType::kIQ3SExpanded: {  // d / divisor * (2 * scale + 1), as nibbles
      const Reg<f32> d = divided_head(type, head[0]);
      const Reg<s32> nibbles = unit.scales[0];
      out.scales.push_back(d * number(b, (nibbles & 15) * 2 + 1));
      out.scales.push_back(d * number(b, (nibbles >> 4) * 2 + 1));
      return;
    }
    case TensorType::kF32:
    case TensorType::kF16:
    case TensorType::kBF16:
    case TensorType::kIQ2_XXS:
    case TensorType::kIQ2_XS:
    case TensorType::kIQ2_S:
    case TensorType::kIQ3_XXS:
    case TensorType::kIQ3_S:
      assert(false && "a format without scales, or one that kernels do not read");
  }
}

WholeScales decode_whole_scales(Builder& b, TensorType type, const LoadedUnit& unit) {
  assert(unit_format(type).has_small_scales);
  const Reg<f32> d = b.convert<f32>(unit.head[0]);
  const auto raw = [&](size_t i) { return unit.scales[i].as<u32>(); };
  const auto minimum = [&] { return b.convert<f32>(unit.head[1]); };
  switch (type) {
    case TensorType::kQ4_K:
    case TensorType::kQ5_K:
      return {{raw(0)}, {raw(1)}, d, {minimum()}};
    case TensorType::kQ2_K: {  // nibbles
      const Reg<u32> first = raw(0) & 15, second = raw(1) & 15, lowest = raw(0) >> 4;
      return {{first, second}, {lowest, raw(1) >> 4}, d, {minimum()}};
    }
    case TensorType::kQ3_K:
      return {{raw(0), raw(1)}, {}, d, {}};  // each has zero_of_scales() added
    default: {                               // expanded IQ2 and IQ3, as nibbles
      const Reg<u32> first = (raw(0) & 15) * 2 + 1;
      return {{first, (raw(0) >> 4) * 2 + 1}, {}, divided_head(type, d), {}};
    }
  }
}

DecodedCodes decode_codes(Builder& b, TensorType type, const PackedStreams& streams, const LoadedUnit& unit) {
  DecodedCodes out;
  if (const int8_t* table = unit_format(type).table) {
    std::vector<NibbleNumbers> numbers;
    for (const Reg<b32>& word : unit.low) numbers.push_back(look_up_nibbles(b, table, word));
    for (const NibbleNumbers& pair : numbers) out.codes.push_back(pair.low);
    for (const NibbleNumbers& pair : numbers) out.codes.push_back(pair.high);
    decode_scales(b, type, unit, out);
    return out;
  }
  const int low_bits = static_cast<int>(streams.low_bits), high_bits = static_cast<int>(streams.high_bits);
  for (int j = 0; j < 8; ++j) {
    Reg<b32> low = code_bits(unit.low, low_bits, j, 0);
    out.codes.push_back(high_bits == 0 ? low : low | code_bits(unit.high, high_bits, j, low_bits));
  }
  decode_scales(b, type, unit, out);
  return out;
}

namespace {

// Code words j (of the first or the last 16 weights) of a lane, moved to bit `to` of every byte.
Reg<b32> part_bits(const std::vector<Reg<b32>>& words, uint32_t bits, int j, uint32_t to, const Reg<u32>& part,
                   const Reg<u32>& two_parts) {
  const auto masked = [&](const Reg<b32>& w) {
    Reg<b32> code = w & in_each_byte((1u << bits) - 1);
    return to == 0 ? code : code << to;
  };
  if (bits == 8) return words[j];
  if (bits == 4) return masked(j == 0 ? words[0] : words[0] >> 4);
  if (bits == 2) return masked(words[j] >> two_parts);
  return masked(words[0] >> (j == 0 ? part : part + 4));
}

}  // namespace

PartCodes decode_part(Builder& b, TensorType type, const PackedStreams& streams, const LoadedUnit& unit,
                      const Reg<u32>& part, const Reg<u32>& two_parts) {
  if (const int8_t* table = unit_format(type).table) {
    const NibbleNumbers numbers = look_up_nibbles(b, table, unit.low[0]);
    return {numbers.low, numbers.high};
  }
  const auto codes = [&](int half) {
    Reg<b32> low = part_bits(unit.low, streams.low_bits, half, 0, part, two_parts);
    if (streams.high_bits == 0) return low;
    return low | part_bits(unit.high, streams.high_bits, half, streams.low_bits, part, two_parts);
  };
  const Reg<b32> front = codes(0);
  return {front, codes(1)};
}

std::vector<Reg<f32>> decode_floats(Builder& b, TensorType type, const LoadedUnit& unit) {
  std::vector<Reg<f32>> weights;
  for (const Reg<b32>& word : unit.low) {
    if (type == TensorType::kF32) {
      weights.push_back(word.as<f32>());
    } else if (type == TensorType::kF16) {
      Vec<f32, 2> pair = b.widen(word.as<f16x2>());
      for (int i = 0; i < 2; ++i) weights.push_back(pair[i]);
    } else {  // bfloat16 is the upper half of an f32
      weights.push_back((word << 16).as<f32>());
      weights.push_back((word & 0xffff0000u).as<f32>());
    }
  }
  return weights;
}

}  // namespace warpchat
