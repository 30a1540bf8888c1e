#include "kernels/matmul/embedding.h"

#include "kernels/common/columns.h"
#include "kernels/common/error_word.h"
#include "kernels/matmul/embedding_body.h"
#include "kernels/matmul/weight_unit.h"
#include "models/error.h"

namespace warpchat {

using namespace ptx;

namespace {

constexpr uint32_t kEmbeddingThreads = 64;
constexpr uint32_t kMaxColumns = 65535;  // blocks in y

void require(bool condition, const EmbeddingSpec& spec, const std::string& what) {
  if (!condition) throw Error("cannot generate " + name_of(spec) + ": " + what);
}

// Weights of a unit, rounded once: every product of a block's fields is exact in fp32.
std::vector<Reg<f32>> weights_of(Builder& b, TensorType type, const PackedStreams& streams, const LoadedUnit& unit) {
  if (is_float(type)) return decode_floats(b, type, unit);
  const UnitFormat& format = unit_format(type);
  const DecodedCodes w = decode_codes(b, type, streams, unit);
  std::vector<Reg<f32>> weights;
  for (uint32_t i = 0; i < 32; ++i) {
    const Reg<b32>& word = w.codes[i / 4];
    const uint32_t bit = i % 4 * 8, part = i * format.n_scales / 32;
    Reg<s32> code = format.has_signed_codes ? b.bfe(word.as<s32>(), bit, 8) : b.bfe(word.as<u32>(), bit, 8).as<s32>();
    Reg<f32> number = b.convert<f32>(format.zero == 0 ? code : code - format.zero);
    weights.push_back(format.has_lowest ? b.fma(number, w.scales[part], w.lowest[part]) : number * w.scales[part]);
  }
  return weights;
}

// to: the unit's place in its row. In formats without blocks, the last unit may extend beyond the row.
void store_weights(Builder& b, const EmbeddingSpec& spec, const Global<f32>& to, const Reg<u32>& first,
                   const std::vector<Reg<f32>>& weights) {
  for (uint32_t i = 0; i < weights.size(); ++i) {
    if (spec.hidden % weights.size() != 0) {
      b.predicated(first + i < spec.hidden, [&] { to.store(i, weights[i]); });
    } else if (i % 4 == 0) {
      to.store(i, {weights[i], weights[i + 1], weights[i + 2], weights[i + 3]});
    }
  }
}

}  // namespace

std::string name_of(const EmbeddingSpec& spec) {
  return "embedding_" + std::string(unit_format(spec.weights).name) + "_" + std::to_string(spec.n_vocab) + "x" +
         std::to_string(spec.hidden) + "_c" + std::to_string(spec.columns);
}

Launch embedding_launch(const EmbeddingSpec& spec) {
  return {{ceil_div(packed_streams(spec.weights, spec.hidden).n_units, kEmbeddingThreads), spec.columns},
          kEmbeddingThreads};
}

void embedding_body(Builder& b, const EmbeddingSpec& spec, const EmbeddingAddresses& at, const VirtualBlock& block) {
  const PackedStreams streams = packed_streams(spec.weights, spec.hidden);
  const uint64_t row_bytes = packed_bytes_per_row(spec.weights, spec.hidden);
  Reg<u32> column = block.block(Axis::kY);
  leave_beyond_columns(b, at.n_columns, column);
  Reg<u32> token = at.tokens.load(column).named("token");
  Reg<u32> unit = (block.block() * kEmbeddingThreads + block.thread()).named("unit");
  b.if_(token >= spec.n_vocab, [&] {
    b.if_(unit == 0, [&] { report_error(b, at.error, KernelError::kTokenOutOfRange, token, spec.n_vocab, column); });
    b.return_();
  });
  b.return_if(unit >= streams.n_units);
  b.region("dequantise", [&] {
    const UnitPlace place = place_unit(at.weights + wide(token) * row_bytes, streams, unit);
    const LoadedUnit loaded = load_unit(spec.weights, streams, place, 0);
    const std::vector<Reg<f32>> weights = weights_of(b, spec.weights, streams, loaded);
    Reg<u32> first = unit * streams.unit_weights;
    store_weights(b, spec, at.out + wide(column) * spec.hidden + first, first, weights);
  });
}

Kernel embedding_kernel(const EmbeddingSpec& spec, Target target, const BodyOf<EmbeddingAddresses>& body) {
  require(spec.n_vocab > 0, spec, "it has no rows");
  require(is_packable(spec.weights, spec.hidden), spec,
          "hidden is " + std::to_string(spec.hidden) + "; " + std::string(traits(spec.weights).name) +
              " needs a multiple of " + std::to_string(traits(spec.weights).block_weights));
  require(spec.columns >= 1 && spec.columns <= kMaxColumns, spec,
          "columns must be 1 to " + std::to_string(kMaxColumns));
  const uint64_t row_bytes = packed_bytes_per_row(spec.weights, spec.hidden);
  Builder b(name_of(spec), target);
  Global<u8> table = b.global<u8>("weights", spec.n_vocab * row_bytes);
  Global<u32> tokens = b.global<u32>("tokens", spec.columns);
  Global<f32> out = b.global<f32>("out", uint64_t{spec.columns} * spec.hidden);
  Global<u32> error = b.global<u32>("error", kErrorWords);
  body(b, {table, tokens, out, error, declare_columns(b, spec.columns)}, VirtualBlock(b));
  const uint64_t n_values = uint64_t{spec.columns} * spec.hidden;
  return b.finish(embedding_launch(spec),
                  {spec.columns * row_bytes + 4 * n_values, is_float(spec.weights) ? 0 : 2 * n_values});
}

Kernel embedding(const EmbeddingSpec& spec, Target target) {
  return embedding_kernel(spec, target, [&](Builder& b, const EmbeddingAddresses& at, const VirtualBlock& block) {
    embedding_body(b, spec, at, block);
  });
}

}  // namespace warpchat
