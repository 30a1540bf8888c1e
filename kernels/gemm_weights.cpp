#include "kernels/gemm_weights.h"

namespace warpchat {

using namespace ptx;

namespace {

// 1024 and the code of weight 0, twice; of signed codes with their sign bit flipped.
uint32_t zero_bits(TensorType type) {
  const UnitFormat& format = unit_format(type);
  return 0x64006400u + (format.has_signed_codes ? 128 : format.zero) * 0x10001u;
}

Reg<u32> blocks_of(const PackedStreams& block, const Reg<u32>& k) {
  const uint32_t values = block.unit_weights * block.units_per_head;
  return ((k + (values - 1)) / values).named("row_blocks");
}

// packed_bytes_per_row in sixteens
Reg<u32> row_sixteens(const PackedStreams& block, const Reg<u32>& n_blocks) {
  return ((n_blocks * block.end + 15) / 16).named("row_sixteens");
}

// Bytes from the first matrix to the others. Fewer registers than an address each, all through the loop.
std::vector<Reg<u64>> distances(Builder& b, const std::vector<Global<u8>>& matrices) {
  std::vector<Reg<u64>> all;
  for (size_t m = 1; m < matrices.size(); ++m) all.push_back(b.address(matrices[m]) - b.address(matrices[0]));
  return all;
}

// n_words words from `from`.
void append_words(std::vector<Reg<b32>>& to, const Global<b32>& from, uint32_t n_words) {
  const auto append = [&](const auto& words) {
    for (int i = 0; i < words.size(); ++i) to.push_back(words[i]);
  };
  if (n_words == 1) return to.push_back(from.load({}, kReadOnly));
  if (n_words == 2) return append(from.load<2>({}, kReadOnly));
  append(from.load<4>({}, kReadOnly));
}

}  // namespace

GemmWeights::GemmWeights(Builder& b, const GemmPlan& plan, TensorType type, const std::vector<Global<u8>>& matrices,
                         const Reg<u32>& k, const Reg<u32>& row, const std::optional<Reg<u64>>& rows_before)
    : b_(b),
      type_(type),
      n_rows_(plan.rows_per_warp / 8),
      streams_(packed_streams(type, traits(type).block_weights)),
      part_((b.lane() & 3).named("part")),
      two_parts_(part_ * 2),
      zero_(Reg<u32>(b.var("zero_code", zero_bits(type))).as<f16x2>()),
      n_blocks_(blocks_of(streams_, k)),
      row_sixteens_(row_sixteens(streams_, n_blocks_)),
      to_matrices_(distances(b, matrices)),
      first_(rows_before ? matrices[0] + *rows_before * wide(row_sixteens_) * 16 : matrices[0]),
      row_(row_at(first_, row)),
      shared_(type == TensorType::kF16 ? row_ : shared_row(first_, row)),
      high_(stream(streams_.high_bits == 1 ? shared_ : row_, streams_.high, streams_.high_bits != 0)),
      heads_(stream(shared_, streams_.heads, streams_.head_bytes != 0)),
      scales_(stream(shared_, streams_.scales, streams_.scale_bytes != 0)) {}

Global<u8> GemmWeights::row_at(const Global<u8>& matrix, const Reg<u32>& row) const {
  return matrix + b_.mul_wide(row, row_sixteens_) * 16;
}

// Lane t's of the rows; with two matrices the first two lanes' are the first one's.
Global<u8> GemmWeights::shared_row(const Global<u8>& matrix, const Reg<u32>& row) const {
  Reg<u32> own = row + (part_ & (n_rows_ - 1)) * 8;
  if (to_matrices_.empty()) return row_at(matrix, own);
  Reg<u64> to_own = b_.select(part_ < n_rows_, uint64_t{0}, to_matrices_[0]);
  return row_at((matrix + to_own).aligned(16), own);
}

Global<u8> GemmWeights::stream(const Global<u8>& row, uint64_t offset, bool is_there) const {
  return is_there ? row + n_blocks_ * offset : row;
}

// Each lane has one of the rows, or of F16, whose units are as large as two sectors, its sectors of all that it reads.
void GemmWeights::ask_ahead(const Reg<u32>& unit) const {
  constexpr uint32_t kSectorBytes = 32;
  const auto ask = [&](const Bytes& from, uint32_t bytes) {
    for (uint32_t at = 0; at < bytes; at += kSectorBytes) b_.prefetch_l2(from + at);
  };
  if (type_ == TensorType::kF16) {
    for (uint32_t i = 0; i < n_rows_; ++i) {
      const Bytes row = row_ + row_sixteens_ * (16 * 8 * i) + unit * 64 + part_ * kSectorBytes;
      b_.prefetch_l2(row), b_.prefetch_l2(row + 4 * kSectorBytes);
    }
    return;
  }
  const auto ask_stream = [&](const Bytes& stream, uint32_t unit_bytes) {
    if (unit_bytes > 0) ask(stream + unit * unit_bytes, unit_bytes * kGemmTileUnits);
  };
  // From where its scales begin: the row's start would take two registers through all of k.
  const bool has_heads = streams_.head_bytes > 0;
  const Reg<u64> to_scales = wide(n_blocks_) * (has_heads ? streams_.heads : streams_.scales);
  const Bytes own = b_.pointer<u8>(b_.address(has_heads ? heads_ : scales_) - to_scales, 16);
  ask_stream(own, std::min(streams_.low_bits, 4u) * 4);
  if (streams_.low_bits == 8) ask_stream(own + n_blocks_ * 16, 16);
  if (streams_.high_bits == 1) ask_stream(high_, 4);
  if (streams_.high_bits == 2) ask_stream(own + n_blocks_ * streams_.high, 8);
  ask_stream(scales_, streams_.scale_bytes);
  if (streams_.head_bytes > 0) b_.prefetch_l2(heads_ + (unit / streams_.units_per_head) * streams_.head_bytes);
}

std::vector<WeightPart> GemmWeights::load(const Reg<u32>& unit) const {
  const LoadedUnit shared = load_shared(unit);
  std::vector<LoadedUnit> rows = load_codes(unit);
  DecodedCodes numbers;
  if (type_ != TensorType::kF16) decode_scales(b_, type_, shared, numbers);
  std::vector<WeightPart> parts;
  for (uint32_t i = 0; i < rows.size(); ++i) {
    const auto of_row = [&](const auto& x) { return b_.shuffle(x, i, {}, 4); };
    for (const Reg<b32>& word : shared.high) rows[i].high.push_back(of_row(word));
    WeightPart part{pairs_of(rows[i]), {}, {}};
    for (const Reg<f32>& scale : numbers.scales) part.scales.push_back(of_row(scale));
    for (const Reg<f32>& lowest : numbers.lowest) part.lowest.push_back(of_row(lowest));
    parts.push_back(part);
  }
  return parts;
}

LoadedUnit GemmWeights::load_shared(const Reg<u32>& unit) const {
  LoadedUnit shared;
  if (streams_.high_bits == 1) append_words(shared.high, high_.as<b32>() + unit, 1);
  load_scales(type_, streams_, place_scales(heads_, scales_, streams_, unit), 0, shared);
  return shared;
}

// What a lane has to itself of its rows.
std::vector<LoadedUnit> GemmWeights::load_codes(const Reg<u32>& unit) const {
  const std::vector<Global<u8>> low = low_places(unit);
  std::vector<Global<u8>> high;
  if (streams_.high_bits == 2) high.push_back((high_.as<b64>() + unit).as<u8>());
  const uint32_t low_words = streams_.low_bits == 16 || streams_.low_bits == 2 ? 2 : 1;
  std::vector<LoadedUnit> rows;
  for (size_t m = 0; m <= to_matrices_.size(); ++m) {
    for (uint32_t i = 0; i < n_rows_; ++i) {
      const auto place_in_row = [&](const Global<u8>& first) {
        const Global<u8> of_matrix = m == 0 ? first : (first + to_matrices_[m - 1]).aligned(16);
        return (i == 0 ? of_matrix : of_matrix + row_sixteens_ * (16 * 8 * i)).as<b32>();
      };
      LoadedUnit& loaded = rows.emplace_back();
      for (const Global<u8>& place : low) append_words(loaded.low, place_in_row(place), low_words);
      for (const Global<u8>& place : high) append_words(loaded.high, place_in_row(place), 2);
    }
  }
  return rows;
}

std::vector<Global<u8>> GemmWeights::low_places(const Reg<u32>& unit) const {
  if (streams_.low_bits == 2) return {(row_.as<b64>() + unit).as<u8>()};
  if (streams_.low_bits == 16) {
    const auto quad = [&](uint32_t first) {  // columns are 0 beyond k
      return (row_.as<b64>() + b_.min(unit * 8 + part_ + first, n_blocks_ * 2 - 1)).as<u8>();
    };
    return {quad(0), quad(4)};
  }
  const Global<u8> word = (row_.as<b32>() + (unit * 4 + part_)).as<u8>();
  if (streams_.low_bits == 8) return {word, word + n_blocks_ * 16};
  return {word};
}

std::vector<Reg<f16x2>> GemmWeights::pairs_of(const LoadedUnit& unit) const {
  std::vector<Reg<f16x2>> pairs;
  if (type_ == TensorType::kF16) {
    for (const Reg<b32>& word : unit.low) pairs.push_back(word.as<f16x2>());
    return pairs;
  }
  const PartCodes codes = decode_part(b_, type_, streams_, unit, part_, two_parts_);
  append_halves(codes.front, pairs);
  append_halves(codes.back, pairs);
  return pairs;
}

// A byte below the exponent of 1024 is the half 1024 + byte.
void GemmWeights::append_halves(const Reg<b32>& codes, std::vector<Reg<f16x2>>& pairs) const {
  const bool is_signed = unit_format(type_).has_signed_codes;
  Reg<u32> word = (is_signed ? codes ^ 0x80808080u : codes).as<u32>();
  for (uint32_t selector : {0x4140u, 0x4342u})
    pairs.push_back(b_.prmt(word, 0x64646464u, selector).as<f16x2>() - zero_);
}

}  // namespace warpchat
