#include "kernels/matmul/gemm_weights.h"

#include <algorithm>

#include "kernels/matmul/f16_activations.h"

namespace warpchat {

using namespace ptx;

namespace {

// f16x2 bits of -1024 minus the code of weight 0, twice; signed codes have their sign bit flipped.
uint32_t minus_zero_bits(TensorType type) {
  const UnitFormat& format = unit_format(type);
  return 0xe400e400u + (format.has_signed_codes ? 128 : format.zero) * 0x10001u;
}

Reg<u32> blocks_of(const PackedStreams& block, const Reg<u32>& k) {
  const uint32_t values = block.unit_weights * block.units_per_head;
  return ((k + (values - 1)) / values).named("row_blocks");
}

// packed_bytes_per_row in 16-byte units.
Reg<u32> row_sixteens(const PackedStreams& block, const Reg<u32>& n_blocks) {
  return ((n_blocks * block.end + 15) / 16).named("row_sixteens");
}

// Appends n_words words starting at `from`.
void append_words(std::vector<Reg<b32>>& to, const Global<b32>& from, uint32_t n_words) {
  const auto append = [&](const auto& words) {
    for (int i = 0; i < words.size(); ++i) to.push_back(words[i]);
  };
  if (n_words == 1) return to.push_back(from.load({}, kReadOnly));
  if (n_words == 2) return append(from.load<2>({}, kReadOnly));
  append(from.load<4>({}, kReadOnly));
}

// n in [0, 1023] as two equal f16: n - 1024 plus 1024 and the offset in `thousand`.
Reg<f16x2> twice_as_halves(Builder& b, const Reg<u32>& n, const Reg<f16x2>& thousand) {
  return b.mad(n, 0x10001u, 0x64006400u).as<f16x2>() - thousand;
}

template <class T>
void append_or_assign(Builder& b, std::vector<Var<T>>& to, size_t i, const Reg<T>& value) {
  if (i == to.size())
    to.push_back(b.var("ahead", value));
  else
    to[i] = value;
}
template <class T>
std::vector<Reg<T>> as_they_are(const std::vector<Var<T>>& vars) {
  return {vars.begin(), vars.end()};
}

// Before sm_80 registers hold one unit of weights; a block of 12 warps, alone on a multiprocessor, can hold a whole
// tile's.
uint32_t units_of_turn(const GemmPlan& plan, TensorType type, Target target) {
  if (!unit_format(type).has_small_scales || !runs(target, sm_80)) return 1;
  return plan.warps == 12 ? kGemmTileUnits : 2;
}

}  // namespace

GemmWeights::GemmWeights(Builder& b, const GemmPlan& plan, TensorType type, const Global<u8>& matrix, const Reg<u32>& k,
                         const Reg<u32>& row, const std::optional<Reg<u64>>& rows_before)
    : b_(b),
      type_(type),
      format_(unit_format(type)),
      n_rows_(plan.rows_per_warp / 8),
      units_at_once_(units_of_turn(plan, type, b.target())),
      streams_(packed_streams(type, traits(type).block_weights)),
      part_((b.lane() & 3).named("part")),
      two_parts_(part_ * 2),
      minus_zero_(Reg<u32>(b.var("minus_zero_code", minus_zero_bits(type))).as<f16x2>()),
      zero_scale_(Reg<u32>(b.var("zero_scale", 0x64006400u + zero_of_scales(type) * 0x10001u)).as<f16x2>()),
      n_blocks_(blocks_of(streams_, k)),
      row_sixteens_(row_sixteens(streams_, n_blocks_)),
      eight_rows_(wide(row_sixteens_ * (16 * 8))),
      row_((rows_before ? matrix + *rows_before * wide(row_sixteens_) * 16 : matrix) +
           b.mul_wide(row, row_sixteens_) * 16),
      small_(stream(std::min(streams_.heads, streams_.scales))) {}

// The lane's row number `row`.
template <class T>
Global<T> GemmWeights::of_row(const Global<T>& first, size_t row) const {
  if (row == 0) return first;
  return (first.template as<u8>() + (row == 1 ? eight_rows_ : eight_rows_ * row)).template as<T>();
}

GemmWeights::Bytes GemmWeights::stream(uint64_t offset) const { return offset == 0 ? row_ : row_ + n_blocks_ * offset; }

// Clamps a unit to the row; beyond its end the columns are zero.
Reg<u32> GemmWeights::inside(const Reg<u32>& unit) const { return is_whole() ? unit : b_.min(unit, n_blocks_ - 1); }

// Addresses of the lane's words of a unit in its first row.
std::vector<Global<u8>> GemmWeights::low_places(const Reg<u32>& unit) const {
  if (streams_.low_bits == 2) return {(row_.as<b64>() + unit).as<u8>()};
  if (streams_.low_bits == 16) {
    const auto quad = [&](uint32_t first) {  // columns are zero beyond k
      return (row_.as<b64>() + b_.min(unit * 8 + part_ + first, n_blocks_ * 2 - 1)).as<u8>();
    };
    const Bytes first = quad(0);
    return {first, quad(4)};
  }
  const Bytes word = (row_.as<b32>() + b_.mad(unit, 4, part_)).as<u8>();
  if (streams_.low_bits == 8) return {word, word + n_blocks_ * 16};
  return {word};
}

// The four lanes of a row prefetch two sectors each; with four rows, one row each.
void GemmWeights::ask_ahead(const Reg<u32>& unit) const {
  constexpr uint32_t kSectorBytes = 32;
  const uint32_t lanes = 4 / n_rows_;
  const Bytes own = row_ + eight_rows_ * wide(lanes == 1 ? part_ : part_ / lanes);
  const auto ask = [&](const Bytes& from, uint32_t bytes) {
    const bool shares = lanes > 1 && bytes > kSectorBytes;
    const Bytes first = shares ? from + part_ % lanes * kSectorBytes : from;
    for (uint32_t at = 0; at < bytes; at += kSectorBytes * (shares ? lanes : 1)) b_.prefetch_l2(first + at);
  };
  const auto ask_stream = [&](uint64_t offset, uint32_t unit_bytes) {
    if (unit_bytes > 0)
      ask(own + (offset == 0 ? unit * unit_bytes : b_.mad(unit, unit_bytes, n_blocks_ * offset)),
          unit_bytes * kGemmTileUnits);
  };
  if (type_ == TensorType::kF16) return ask_stream(0, 64);
  ask_stream(0, std::min(streams_.low_bits, 4u) * 4);
  if (streams_.low_bits == 8) ask_stream(16, 16);
  ask_stream(streams_.high, streams_.high_bits * 4);
  ask_stream(streams_.scales, streams_.scale_bytes);
  if (streams_.head_bytes > 0)
    b_.prefetch_l2(own + n_blocks_ * streams_.heads + unit / streams_.units_per_head * streams_.head_bytes);
}

void GemmWeights::begin(const Reg<u32>& first_unit) {
  ask_numbers(first_unit);
  begin_turn(first_unit);
  ask_units();
}

void GemmWeights::begin_turn(const Reg<u32>& next) {
  asked_.emplace(next);
  low_.clear();
  if (is_whole())
    for (const Bytes& place : low_places(*asked_)) low_.push_back(place);
}

// Loads the lane's unit of each row, without low codes.
void GemmWeights::ask_numbers(const Reg<u32>& first_unit) {
  if (type_ == TensorType::kF16) return;
  Reg<u32> unit = inside(first_unit + part_);
  const uint64_t first = std::min(streams_.heads, streams_.scales);
  const auto from_small = [&](uint64_t offset) {
    return offset == first ? small_ : small_ + n_blocks_ * (offset - first);
  };
  const Bytes heads = from_small(streams_.heads);
  const ScalesPlace place = place_scales(heads, from_small(streams_.scales), streams_, unit);
  const Bytes high = streams_.high_bits == 0 ? row_ : stream(streams_.high) + unit * (streams_.high_bits * 4);
  numbers_.resize(n_rows_);
  for (size_t row = 0; row < n_rows_; ++row) {
    ScalesPlace own;
    for (const auto& own_heads : place.heads) own.heads.push_back(of_row(own_heads, row));
    for (const auto& scales : place.scales) own.scales.push_back(of_row(scales, row));
    LoadedUnit loaded;
    load_scales(type_, streams_, own, 0, loaded);
    if (streams_.high_bits > 0) append_words(loaded.high, of_row(high, row).as<b32>(), streams_.high_bits);
    Numbers& words = numbers_[row];
    for (size_t i = 0; i < loaded.head.size(); ++i) append_or_assign(b_, words.head, i, loaded.head[i]);
    for (size_t i = 0; i < loaded.scales.size(); ++i) append_or_assign(b_, words.scales, i, loaded.scales[i]);
    for (size_t i = 0; i < loaded.high.size(); ++i) append_or_assign(b_, words.high, i, loaded.high[i]);
  }
}

void GemmWeights::ask_units() {
  const uint32_t low_words = streams_.low_bits == 16 || streams_.low_bits == 2 ? 2 : 1;
  const uint32_t low_bytes = std::min(streams_.low_bits, 4u) * 4;
  codes_.resize(units_at_once() * n_rows_);
  for (uint32_t number = 0; number < units_at_once(); ++number) {
    std::vector<Bytes> low = low_;
    if (!is_whole()) {
      const Reg<u32> of_turn = number == 0 ? *asked_ : *asked_ + number;
      const Reg<u32> unit = type_ == TensorType::kF16 ? of_turn : inside(of_turn);
      for (const Bytes& place : low_places(unit)) low.push_back(place);
    }
    for (size_t row = 0; row < n_rows_; ++row) {
      std::vector<Reg<b32>> loaded;
      for (const Bytes& place : low) {
        const Global<b32> of_first = of_row(place, row).as<b32>();
        append_words(loaded, is_whole() && number > 0 ? of_first + number * low_bytes / 4 : of_first, low_words);
      }
      std::vector<Var<b32>>& words = codes_[number * n_rows_ + row];
      for (size_t i = 0; i < loaded.size(); ++i) append_or_assign(b_, words, i, loaded[i]);
    }
  }
}

std::vector<RowFactors> GemmWeights::numbers(const Reg<u32>& next) {
  std::vector<RowFactors> all(n_rows_);
  scales_.clear();
  if (type_ != TensorType::kF16) {
    for (size_t row = 0; row < n_rows_; ++row) {
      const Numbers& words = numbers_[row];
      scales_.push_back(
          decode({{}, as_they_are(words.high), as_they_are(words.head), as_they_are(words.scales)}, all[row]));
    }
  }
  ask_numbers(next);
  return all;
}

GemmWeights::UnitScales GemmWeights::decode(const LoadedUnit& unit, RowFactors& numbers) const {
  UnitScales own;
  for (const Reg<b32>& word : unit.high) own.high.push_back(word);
  if (format_.has_small_scales) {
    const WholeScales whole = decode_whole_scales(b_, type_, unit);
    for (const Reg<u32>& scale : whole.scales) own.small.push_back(twice_as_halves(b_, scale, zero_scale_));
    numbers.factor.push_back(whole.factor);
    for (const Reg<u32>& lowest : whole.lowest) numbers.lowest.push_back(twice_as_halves(b_, lowest, zero_scale_));
    for (const Reg<f32>& minimum : whole.minimum)
      numbers.lowest_factor.push_back(minimum * -static_cast<float>(kHalfMeanValues));
    return own;
  }
  DecodedCodes decoded;
  decode_scales(b_, type_, unit, decoded);
  for (const Reg<f32>& scale : decoded.scales) own.scales.push_back(scale);
  if (!format_.has_lowest) return own;
  const Reg<b16> lowest = unit.head[1].as<b16>();
  numbers.lowest.push_back(b_.join<b32>(lowest, lowest).as<f16x2>());
  numbers.lowest_factor.push_back(b_.var("values_of_a_mean", static_cast<float>(kHalfMeanValues)));
  return own;
}

std::vector<WeightPart> GemmWeights::unit(uint32_t number, const Reg<u32>& of_tile) {
  std::vector<WeightPart> parts;
  for (size_t row = 0; row < n_rows_; ++row) {
    const auto of_lane = [&](const Reg<b32>& x) { return b_.shuffle(x, of_tile, {}, 4); };
    LoadedUnit loaded{as_they_are(codes_[number * n_rows_ + row]), {}, {}, {}};
    WeightPart& part = parts.emplace_back();
    std::vector<Reg<f16x2>> small;
    if (!scales_.empty()) {
      const UnitScales& scales = scales_[row];
      for (const Reg<b32>& word : scales.high) loaded.high.push_back(of_lane(word));
      for (const Reg<f16x2>& scale : scales.small) small.push_back(of_lane(scale.as<b32>()).as<f16x2>());
      for (const Reg<f32>& scale : scales.scales) part.scales.push_back(of_lane(scale.as<b32>()).as<f32>());
    }
    for (const Reg<f16x2>& pair : pairs_of(loaded, small)) part.pairs.push_back(pair);
  }
  return parts;
}

// scales: per part of the unit, multiplied into its weights; or none.
std::vector<Reg<f16x2>> GemmWeights::pairs_of(const LoadedUnit& unit, const std::vector<Reg<f16x2>>& scales) const {
  std::vector<Reg<f16x2>> pairs;
  if (type_ == TensorType::kF16) {
    for (const Reg<b32>& word : unit.low) pairs.push_back(word.as<f16x2>());
    return pairs;
  }
  const PartCodes codes = decode_part(b_, type_, streams_, unit, part_, two_parts_);
  const bool is_signed = format_.has_signed_codes, starts_at_zero = format_.zero == 0 && !is_signed;
  std::vector<Reg<f16x2>> starts;  // 1024 times each scale, to be subtracted; exact, since scales are below 64
  if (starts_at_zero)
    for (const Reg<f16x2>& scale : scales) starts.push_back(scale * minus_zero_);
  for (const Reg<b32>& four : {codes.front, codes.back}) {
    Reg<u32> word = (is_signed ? four ^ 0x80808080u : four).as<u32>();
    const size_t which = pairs.empty() ? 0 : scales.size() - 1;
    for (uint32_t selector : {0x4140u, 0x4342u}) {
      // A byte combined with the exponent of 1024 is the f16 1024 + byte.
      const Reg<f16x2> code = b_.prmt(word, 0x64646464u, selector).as<f16x2>();
      if (scales.empty())
        pairs.push_back(code + minus_zero_);
      else
        pairs.push_back(starts.empty() ? (code + minus_zero_) * scales[which]
                                       : b_.fma(code, scales[which], starts[which]));
    }
  }
  return pairs;
}

}  // namespace warpchat
