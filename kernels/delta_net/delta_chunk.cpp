// Matrix products by 256 threads. Left matrices stream from memory in slices of 32 of k, double-buffered in shared
// memory while the next slice loads into registers. Part of each right matrix stays in shared memory. A thread's rows
// are 32 (or 16) apart, so a warp's rows fall into different banks.
#include "kernels/delta_net/delta_chunk.h"

#include <bit>
#include <cmath>
#include <cstdio>
#include <vector>

#include "kernels/common/columns.h"
#include "kernels/common/sigmoid.h"
#include "kernels/common/warp_sums.h"

namespace warpchat {

using namespace ptx;

namespace {

using Scratch = DeltaChunkScratch;
using Sharing = DeltaChunkSharing;

constexpr uint32_t kChunkThreads = Sharing::kThreads, kChunkWarps = kChunkThreads / kWarpSize;
constexpr uint32_t kRows = 2 * kDeltaChunk;  // of a left matrix: two per position
constexpr uint32_t kSlice = Sharing::kSlice, kQuads = kSlice / 4;
constexpr uint32_t kSliceStride = kSlice + 4;
constexpr uint32_t kSliceFloats = kRows * kSliceStride;
constexpr uint32_t kSliceRows = kChunkThreads / kQuads;  // copied in parallel
constexpr uint32_t kScanValues = Sharing::kScanValues;

std::string chunk_name(const char* family, const DeltaNetSpec& s, bool has_eps = false) {
  std::string name = std::string(family) + "_" + std::to_string(s.n_k_heads) + "_" + std::to_string(s.n_v_heads) + "x" +
                     std::to_string(s.head_dim) + "_c" + std::to_string(s.columns) + (s.tiled ? "_tiled" : "");
  char eps[16];
  std::snprintf(eps, sizeof eps, "_e%08x", std::bit_cast<uint32_t>(s.eps));
  return has_eps ? name + eps : name;
}

uint32_t n_chunks(const DeltaNetSpec& s) { return ceil_div(s.columns, kDeltaChunk); }

Global<f32> scratch_parameter(Builder& b, const DeltaNetSpec& s) {
  return b.global<f32>("scratch", delta_chunk_scratch_bytes(s) / sizeof(float));
}
Global<f32> scratch_of(Builder& b, const DeltaNetSpec& s, const Global<f32>& scratch, const Reg<u32>& chunk,
                       const Reg<u32>& head) {
  return scratch + b.mul_wide(chunk * s.n_v_heads + head, Scratch::kFloats);
}

using Quads = std::vector<Vec<f32, 4>>;
using FourSums = VarVec<f32, 4>;          // a thread's part of a product: four columns
using NextQuads = std::vector<FourSums>;  // slice being loaded by a thread

Vec<f32, 4> values_of(const FourSums& x) { return {Reg<f32>(x[0]), Reg<f32>(x[1]), Reg<f32>(x[2]), Reg<f32>(x[3])}; }
std::vector<FourSums> zero_rows(Builder& b, const char* name, uint32_t n) {
  std::vector<FourSums> rows;
  for (uint32_t i = 0; i < n; ++i) rows.push_back(b.vars<f32, 4>(name, 0.0f));
  return rows;
}

NextQuads next_quads(Builder& b) {
  NextQuads quads;
  for (uint32_t i = 0; i < kRows / kSliceRows; ++i) quads.push_back(b.vars<f32, 4>("quad"));
  return quads;
}

// Copies a slice [kRows, kSlice] from rows in global memory to shared memory. Each thread copies the same quad of every
// kSliceRows-th row.
struct SliceCopy {
  Builder& b;
  Reg<u32> row = b.thread() / kQuads, quad = b.thread() % kQuads * 4, place = row * kSliceStride + quad;

  static constexpr uint32_t kEach = kRows / kSliceRows;
  void put(const NextQuads& quads, const Shared<f32>& to) const {
    const Shared<f32> own = to + place;
    for (uint32_t i = 0; i < kEach; ++i) own.store(i * kSliceRows * kSliceStride, values_of(quads[i]));
  }
};

// The keys of a chunk's positions, then its queries, after the convolution. Positions beyond the last repeat it with
// factor zero.
struct KeysAndQueries {
  Builder& b;
  const DeltaNetSpec& s;
  const SliceCopy& copy;
  Global<f32> qkv;
  Reg<u32> key_head, n_columns;
  Reg<u32> last = n_columns - 1, at = key_head * s.head_dim + copy.quad;

  void load(const Reg<u32>& first, const Reg<u32>& k, NextQuads& quads) const {
    constexpr uint32_t kOfKeys = SliceCopy::kEach / 2;
    for (uint32_t i = 0; i < kOfKeys; ++i) {
      Reg<u32> column = b.min(first + copy.row + i * kSliceRows, last);
      const Global<f32> from = qkv + b.mad_wide(column, s.channels(), wide(at + k));
      quads[i] = from.load<4>(s.n_k_heads * s.head_dim, kReadOnly);
      quads[kOfKeys + i] = from.load<4>(0, kReadOnly);
    }
  }
};

// Double-float sum: a chunk may decay by e^-1000, and differences of such logarithms must stay accurate.
struct LongSum {
  Reg<f32> high, low;
  friend LongSum operator+(const LongSum& a, const LongSum& b) {
    Reg<f32> near = a.high + b.high, of_b = near - a.high;
    Reg<f32> lost = (a.high - (near - of_b)) + (b.high - of_b) + (a.low + b.low);
    Reg<f32> sum = near + lost;
    return {sum, lost - (sum - near)};
  }
  friend Reg<f32> operator-(const LongSum& a, const LongSum& b) { return (a.high - b.high) + (a.low - b.low); }
};

class DeltaPreparation {
 public:
  DeltaPreparation(Builder& b, const DeltaNetSpec& s)
      : b_(b),
        s_(s),
        qkv_(b.global<f32>("qkv", uint64_t{s.columns} * s.channels())),
        alpha_(b.global<f32>("alpha", uint64_t{s.columns} * s.n_v_heads)),
        beta_(b.global<f32>("beta", uint64_t{s.columns} * s.n_v_heads)),
        dt_bias_(b.global<f32>("dt_bias", s.n_v_heads)),
        decay_(b.global<f32>("decay", s.n_v_heads)),
        scratch_(scratch_parameter(b, s)),
        n_columns_(b.param<u32>("n_columns")),
        first_((b.block() * kDeltaChunk).named("first")),
        key_head_(b.block(Axis::kY).named("key_head")),
        row_(b.thread() / kAcross),
        column_(b.thread() % kAcross),
        lengths_(b.shared<f32>("lengths", kRows)),
        log_decays_{b.shared<f32>("fades", kDeltaChunk), b.shared<f32>("fades_low", kDeltaChunk)},
        learns_(b.shared<f32>("learns", kDeltaChunk)) {}

  void write() {
    std::vector<FourSums> keys = zero_rows(b_, "keys", kEach), queries = zero_rows(b_, "queries", kEach);
    b_.region("products", [&] { b_.in_turn([&] { multiply_keys(keys, queries); }); });
    b_.in_turn([&] {
      const Shared<f32> inverse = b_.shared<f32>("inverse", kDeltaChunk * kStride);
      const Shared<f32> weights = b_.shared<f32>("weights", kDeltaChunk * kStride);
      const Shared<f32> part = b_.shared<f32>("part", kBlock * kStride);
      const uint32_t group = s_.n_v_heads / s_.n_k_heads;
      b_.for_("of_group", 0, group, 1, [&](Reg<u32> of_group) {
        Reg<u32> head = s_.tiled ? of_group * s_.n_k_heads + key_head_ : key_head_ * group + of_group;
        const Global<f32> to = scratch_of(b_, s_, scratch_, b_.block(), head);
        b_.barrier();  // lengths are complete, and the previous head is finished
        b_.if_(b_.warp_uniform(b_.warp()) == 0, [&] { b_.region("fade", [&] { write_factors(head, to); }); });
        b_.barrier();
        weigh(keys, queries, inverse, weights);
        b_.barrier();
        b_.region("invert", [&] { invert(inverse, part); });
        b_.region("matrices", [&] { write_matrices(inverse, weights, to); });
      });
    });
  }

 private:
  static constexpr uint32_t kAcross = 16, kEach = 4;    // threads in parallel; rows and columns per thread
  static constexpr uint32_t kStride = kDeltaChunk + 4;  // of matrices in shared memory
  static constexpr uint32_t kBlock = Sharing::kInvertedRows;
  static constexpr float kMinLogarithm = -1000;  // e^-1000 is 0

  // k . k and q . k for all pairs of positions, and the reciprocal length of each; 0 for padding.
  void multiply_keys(std::vector<FourSums>& keys, std::vector<FourSums>& queries) {
    const Shared<f32> slices = b_.shared<f32>("slices", 2 * kSliceFloats);
    const SliceCopy copy{b_};
    const KeysAndQueries rows{b_, s_, copy, qkv_, key_head_, n_columns_};
    FourSums squares = b_.vars<f32, 4>("squares", 0.0f);
    NextQuads quads = next_quads(b_);
    Var<u32> here = b_.var("here", 0u);  // offset of the current slice
    rows.load(first_, b_.var("k", 0u), quads);
    b_.for_("slice", 0, s_.head_dim, kSlice, [&](Reg<u32> slice) {
      copy.put(quads, slices + here);
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) squares[i] = b_.fma(quads[i][j], quads[i][j], squares[i]);
      b_.barrier();
      Reg<u32> next = slice + kSlice;
      b_.if_(next < s_.head_dim, [&] { rows.load(first_, next, quads); });
      multiply_slice(slices + here, keys, queries);
      here = kSliceFloats - here;
    });
    put_lengths(copy, squares);
    b_.barrier();  // slices are no longer needed
  }

  void multiply_slice(const Shared<f32>& slice, std::vector<FourSums>& keys, std::vector<FourSums>& queries) {
    const Shared<f32> of_row = slice + row_ * kSliceStride, of_column = slice + column_ * kSliceStride;
    b_.for_("k", 0, kSlice, 4, [&](Reg<u32> k) {
      const Shared<f32> rows = of_row + k, columns = of_column + k;
      Quads right;
      for (uint32_t j = 0; j < kEach; ++j) right.push_back(columns.load<4>(j * kAcross * kSliceStride));
      for (uint32_t i = 0; i < kEach; ++i) {
        const Vec<f32, 4> key = rows.load<4>(i * kAcross * kSliceStride);
        const Vec<f32, 4> query = rows.load<4>((kDeltaChunk + i * kAcross) * kSliceStride);
        for (int j = 0; j < 4; ++j) {
          for (int e = 0; e < 4; ++e) {
            keys[i][j] = b_.fma(key[e], right[j][e], keys[i][j]);
            queries[i][j] = b_.fma(query[e], right[j][e], queries[i][j]);
          }
        }
      }
    });
  }

  // Eight lanes share a row of the slices; each of the first four writes the length of one of their four rows.
  void put_lengths(const SliceCopy& copy, const FourSums& squares) {
    static_assert(SliceCopy::kEach == 4 && 2 * kSliceRows == kDeltaChunk);
    Reg<u32> which = b_.thread() % kQuads;
    Var<f32> sum = b_.var("length", warp_sum(b_, squares[0], kQuads));
    for (uint32_t i = 1; i < SliceCopy::kEach; ++i)
      sum = b_.select(which == i, warp_sum(b_, squares[static_cast<int>(i)], kQuads), sum);
    const float of_query = 1.0f / std::sqrt(static_cast<float>(s_.head_dim));
    b_.if_(which < SliceCopy::kEach, [&] {
      Reg<f32> factor =
          b_.rsqrt(sum + kMinLength) * b_.select(which < SliceCopy::kEach / 2, In<f32>(1.0f), In<f32>(of_query));
      Reg<u32> position = first_ + copy.row + (which & 1) * kSliceRows;
      lengths_.store(copy.row + which * kSliceRows, b_.select(position < n_columns_, factor, 0.0f));
    });
  }

  // Called by one warp, two positions per lane.
  void write_factors(const Reg<u32>& head, const Global<f32>& to) {
    Reg<f32> zero = b_.var("zero", 0.0f);
    Reg<f32> bias = dt_bias_.load(head, kReadOnly), decay = decay_.load(head, kReadOnly);
    std::vector<LongSum> fades;
    std::vector<Reg<f32>> learns;
    Reg<u32> pair = b_.lane() * 2, last = n_columns_ - 1;
    for (uint32_t i = 0; i < 2; ++i) {
      Reg<u32> column = first_ + pair + i;
      Pred is_present = column < n_columns_;
      Reg<u64> at = wide(b_.min(column, last) * s_.n_v_heads + head);
      Reg<f32> fade = b_.max(decay * softplus(b_, alpha_.load(at, kReadOnly) + bias), kMinLogarithm);
      Reg<f32> beta = b_.div_full(1.0f, b_.ex2(beta_.load(at, kReadOnly) * -1.44269504f) + 1.0f);
      fades.push_back({b_.select(is_present, fade, 0.0f), zero});
      learns.push_back(b_.select(is_present, beta, 0.0f));
    }
    const LongSum own = fades[0] + fades[1];
    Var<f32> high = b_.var("high", own.high), low = b_.var("low", own.low);
    Var<u32> distance = b_.var("distance", 1u);
    b_.do_while([&] {
      const LongSum sum = LongSum{b_.shuffle_up(high, distance), b_.shuffle_up(low, distance)} + LongSum{high, low};
      Pred has = b_.lane() >= distance;
      high = b_.select(has, sum.high, high), low = b_.select(has, sum.low, low);
      distance += distance;
      return distance < kWarpSize;
    });
    const LongSum end{b_.shuffle(high, kWarpSize - 1), b_.shuffle(low, kWarpSize - 1)};
    Pred is_first = b_.lane() == 0;
    const LongSum before{b_.select(is_first, 0.0f, b_.shuffle_up(high, 1)),
                         b_.select(is_first, 0.0f, b_.shuffle_up(low, 1))};
    const LongSum sums[] = {before + fades[0], {high, low}};
    log_decays_.high.store(pair, {sums[0].high, sums[1].high});
    log_decays_.low.store(pair, {sums[0].low, sums[1].low});
    learns_.store(pair, {learns[0], learns[1]});
    const Shared<f32> lengths = lengths_ + pair;
    const Vec<f32, 2> keys = lengths.load<2>(), queries = lengths.load<2>(kDeltaChunk);
    const auto fading = [&](int i) { return exponential(b_, end - sums[i]); };
    const Vec<f32, 2> faded(exponential(b_, sums[0].high), exponential(b_, sums[1].high));
    const Global<f32> factors = to + wide(pair);
    factors.store(Scratch::kStateReadFactors, {faded[0] * keys[0], faded[1] * keys[1]});
    factors.store(Scratch::kOutputFactors, {faded[0] * queries[0], faded[1] * queries[1]});
    factors.store(Scratch::kUpdateFactors, {fading(0) * keys[0], fading(1) * keys[1]});
    b_.if_(is_first, [&] { to.store(Scratch::kOfState, exponential(b_, end.high)); });
  }

  // Builds A and P. Of a thread's blocks of kAcross rows and columns, those below the diagonal are full and those above
  // are zero. Masking precedes the exponential, which could otherwise overflow.
  void weigh(const std::vector<FourSums>& keys, const std::vector<FourSums>& queries, const Shared<f32>& inverse,
             const Shared<f32>& weights) {
    struct Factors {  // for positions from one of the thread's on
      Shared<f32> high, low, lengths;
      LongSum fade(uint32_t i) const { return {high.load(i * kAcross), low.load(i * kAcross)}; }
    };
    const auto numbers_from = [&](const Reg<u32>& first) {
      return Factors{log_decays_.high + first, log_decays_.low + first, lengths_ + first};
    };
    const Factors of_rows = numbers_from(row_), of_columns = numbers_from(column_);
    const Shared<f32> learns = learns_ + row_;
    std::vector<LongSum> fades;
    std::vector<Reg<f32>> lengths;
    for (uint32_t j = 0; j < kEach; ++j)
      fades.push_back(of_columns.fade(j)), lengths.push_back(of_columns.lengths.load(j * kAcross));
    Reg<u32> first = row_ * kStride + column_;
    const Shared<f32> own_inverse = inverse + first, own_weights = weights + first;
    Pred is_below = column_ < row_, is_below_or_on = column_ <= row_;
    for (uint32_t i = 0; i < kEach; ++i) {
      const LongSum of_row = of_rows.fade(i);
      Reg<f32> of_query = of_rows.lengths.load(kDeltaChunk + i * kAcross);
      Reg<f32> of_key = of_rows.lengths.load(i * kAcross) * learns.load(i * kAcross);
      for (uint32_t j = 0; j < kEach; ++j) {
        const uint32_t at = i * kAcross * kStride + j * kAcross;
        const auto put = [&](const In<f32>& of_keys, const In<f32>& of_queries) {
          own_inverse.store(at, of_keys), own_weights.store(at, of_queries);
        };
        if (j > i) {
          put(0.0f, 0.0f);
          continue;
        }
        Reg<f32> difference = of_row - fades[j];
        Reg<f32> power = j == i ? b_.select(is_below_or_on, difference, -1e30f) : difference;
        Reg<f32> factor = exponential(b_, power) * lengths[j];
        Reg<f32> of_keys = keys[i][static_cast<int>(j)] * of_key * factor;
        put(j == i ? b_.select(is_below, of_keys, 0.0f) : of_keys, queries[i][static_cast<int>(j)] * of_query * factor);
      }
    }
  }

  // Inverts, in place, the unit lower triangular matrix with this strict lower part. Diagonal blocks come first, one
  // column per thread. Then rows of blocks from top to bottom: -B (A T), with the inverted diagonal block B, the row's
  // part A of the matrix, and the part of the inverse T above. Ends with a barrier.
  void invert(const Shared<f32>& matrix, const Shared<f32>& part) {
    std::vector<Var<f32>> column;
    Reg<f32> one = b_.var("one", 1.0f);
    for (uint32_t i = 0; i < kBlock; ++i) column.push_back(b_.var<f32>("x"));
    Reg<u32> in_block = b_.thread() % kBlock, first_row = b_.thread() / kBlock * kBlock;
    const Shared<f32> block = matrix + (first_row * kStride + first_row);
    const auto if_column = [&](const auto& body) {
      b_.if_(b_.warp_uniform(b_.warp()) < kDeltaChunk / kWarpSize, body);
    };
    for (uint32_t i = 0; i < kBlock; ++i) column[i] = b_.select(in_block == i, one, 0.0f);
    if_column([&] {
      std::vector<Reg<f32>> minus;  // the rows so far
      for (uint32_t i = 1; i < kBlock; ++i) {
        minus.push_back(-column[i - 1]);
        Quads row;
        for (uint32_t j = 0; j < i; j += 4) row.push_back(block.load<4>(i * kStride + j));
        for (uint32_t j = 0; j < i; ++j) column[i] = b_.fma(row[j / 4][static_cast<int>(j % 4)], minus[j], column[i]);
      }
    });
    b_.barrier();
    if_column([&] {
      for (uint32_t i = 0; i < kBlock; ++i) (block + in_block).store(i * kStride, column[i]);
    });
    b_.barrier();
    Reg<u32> row = row_, quad = column_ * 4;
    b_.for_("block", kBlock, kDeltaChunk, kBlock, [&](Reg<u32> block_row) {
      FourSums sum = b_.vars<f32, 4>("sum", 0.0f);
      const Shared<f32> own = matrix + (block_row + row) * kStride;
      b_.for_("k", 0, block_row, 4,
              [&](Reg<u32> k) { add_products((own + k).load<4>(), matrix + (k * kStride + quad), sum); });
      part.store(row * kStride + quad, values_of(sum));
      b_.barrier();
      FourSums below = b_.vars<f32, 4>("below", 0.0f);
      b_.for_("k", 0, kBlock, 4,
              [&](Reg<u32> k) { add_products((own + block_row + k).load<4>(), part + (k * kStride + quad), below); });
      b_.if_(quad < block_row, [&] { (own + quad).store(0, {-below[0], -below[1], -below[2], -below[3]}); });
      b_.barrier();
    });
  }

  // sum += left . four rows; right: the thread's quad of the first row
  void add_products(const Vec<f32, 4>& left, const Shared<f32>& right, FourSums& sum) {
    for (int e = 0; e < 4; ++e) {
      const Vec<f32, 4> four = right.load<4>(static_cast<uint32_t>(e) * kStride);
      for (int j = 0; j < 4; ++j) sum[j] = b_.fma(left[e], four[j], sum[j]);
    }
  }

  void write_matrices(const Shared<f32>& inverse, const Shared<f32>& weights, const Global<f32>& to) {
    std::vector<FourSums> sums = zero_rows(b_, "sum", kEach);
    Reg<u32> quad = column_ * 4;
    b_.for_("k", 0, kDeltaChunk, 4, [&](Reg<u32> k) {
      Quads right;
      for (uint32_t e = 0; e < 4; ++e) right.push_back((inverse + (k * kStride + quad)).load<4>(e * kStride));
      for (uint32_t i = 0; i < kEach; ++i) {
        const Vec<f32, 4> left = (weights + (row_ * kStride + k)).load<4>(i * kAcross * kStride);
        for (int e = 0; e < 4; ++e)
          for (int j = 0; j < 4; ++j) sums[i][j] = b_.fma(left[e], right[e][j], sums[i][j]);
      }
    });
    const Vec<f32, 4> learns = learns_.load<4>(quad);
    const Global<f32> own = to + (Scratch::kMatrices + row_ * kDeltaChunk + quad);
    for (uint32_t i = 0; i < kEach; ++i) {
      const Vec<f32, 4> row = (inverse + (row_ * kStride + quad)).load<4>(i * kAcross * kStride);
      const auto learnt = [&](const auto& x, int j) { return x[j] * learns[j]; };
      const auto put = [&](uint32_t first_row, const auto& x) {
        own.store((first_row + i * kAcross) * kDeltaChunk, {learnt(x, 0), learnt(x, 1), learnt(x, 2), learnt(x, 3)});
      };
      put(0, row), put(kDeltaChunk, sums[i]);
    }
  }

  Builder& b_;
  const DeltaNetSpec& s_;
  Global<f32> qkv_, alpha_, beta_, dt_bias_, decay_, scratch_;
  Reg<u32> n_columns_, first_, key_head_;
  Reg<u32> row_, column_;  // first row and column of the thread's products; the others are kAcross apart
  Shared<f32> lengths_;    // [2, kDeltaChunk]: reciprocal lengths of keys, then of queries
  struct {
    Shared<f32> high, low;
  } log_decays_;  // cumulative log decay, up to and including each position
  Shared<f32> learns_;
};

// Rows 0 to 63 of the left matrices belong to the keys and T, the others to the queries and P T. A thread has two of
// each, and four columns.
class DeltaScan {
 public:
  DeltaScan(Builder& b, const DeltaNetSpec& s)
      : b_(b),
        s_(s),
        qkv_(b.global<f32>("qkv", uint64_t{s.columns} * s.channels())),
        states_(b.global<u64>("states", 1)),
        positions_(b.global<u32>("positions", s.columns)),
        layer_(b.param<u32>("layer")),
        scratch_(scratch_parameter(b, s)),
        out_(b.global<f32>("out", uint64_t{s.columns} * s.inner())),
        n_columns_(b.param<u32>("n_columns")),
        head_(b.block(Axis::kY).named("head")),
        copy_{b},
        rows_{b,
              s,
              copy_,
              qkv_,
              (s.tiled ? head_ % s.n_k_heads : head_ / (s.n_v_heads / s.n_k_heads)).named("key_head"),
              n_columns_},
        row_(b.thread() / kAcross),
        quad_(b.thread() % kAcross * 4),
        value_((b.block() * kScanValues + quad_).named("value")),
        n_dims_(s.head_dim / kRowThreads),
        slices_(b.dynamic_shared<f32>("slices", 2 * kSliceFloats)),
        state_(b.dynamic_shared<f32>("state", (s.head_dim + kDeltaChunk) * kScanValues)),
        changes_(state_ + s.head_dim * kScanValues) {}

  void write() {
    const Global<f32> cells = state_cells();
    std::vector<FourSums> state = zero_rows(b_, "state", n_dims_);
    b_.if_(positions_.load(0, kReadOnly) != 0, [&] {
      for (uint32_t i = 0; i < n_dims_; ++i) state[i] = cells.load<4>(uint64_t{i} * s_.head_dim);
    });
    put_state(state);
    Var<u32> here = b_.var("here", 0u);  // offset of the next slice
    NextQuads quads = next_quads(b_);
    rows_.load(here, here, quads);
    copy_.put(quads, slices_);
    b_.barrier();
    b_.for_("first", 0, n_columns_, kDeltaChunk, [&](Reg<u32> first) { go_over(first, state, quads, here); });
    for (uint32_t i = 0; i < n_dims_; ++i) cells.store(uint64_t{i} * s_.head_dim, values_of(state[i]));
  }

 private:
  static constexpr uint32_t kAcross = kScanValues / 4;              // threads in parallel
  static constexpr uint32_t kRowThreads = kChunkThreads / kAcross;  // threads over the rows
  static constexpr uint32_t kHalf = kDeltaChunk / kRowThreads;      // rows of each kind per thread

  // This thread's columns and n_dims_ rows of the state.
  Global<f32> state_cells() {
    const Global<f32> layer =
        b_.pointer<f32>(states_.load(0, kReadOnly), 16) + b_.mul_wide(layer_, 1) * s_.layer_floats();
    return layer + s_.tail_floats() + wide(head_) * (uint64_t{s_.head_dim} * s_.head_dim) +
           wide(row_ * (n_dims_ * s_.head_dim) + value_);
  }
  void put_state(const std::vector<FourSums>& state) {
    const Shared<f32> own = state_ + (row_ * (n_dims_ * kScanValues) + quad_);
    for (uint32_t i = 0; i < n_dims_; ++i) own.store(i * kScanValues, values_of(state[i]));
  }

  // Factors of a thread's rows of a chunk, for keys and queries.
  struct OfRows {
    std::vector<Vec<f32, 4>> values;
    std::vector<Reg<f32>> of_found, of_read, of_learnt;
  };
  OfRows load_rows(const Reg<u32>& first, const Global<f32>& scratch) {
    OfRows rows;
    for (uint32_t i = 0; i < kHalf; ++i) {
      Reg<u32> row = row_ + i * kRowThreads, column = b_.min(first + row, rows_.last);
      const Global<f32> from = qkv_ + b_.mad_wide(column, s_.channels(), wide(head_ * s_.head_dim + value_));
      rows.values.push_back(from.load<4>(2 * s_.n_k_heads * s_.head_dim, kReadOnly));
      const auto factor = [&](uint32_t at) { return (scratch + wide(row)).load(at, kReadOnly); };
      rows.of_found.push_back(factor(Scratch::kStateReadFactors)),
          rows.of_read.push_back(factor(Scratch::kOutputFactors));
      rows.of_learnt.push_back(factor(Scratch::kUpdateFactors));
    }
    return rows;
  }

  // One chunk: slices over the state, then over the preceding positions, then over the state update. Each round loads
  // the next slice, computes with the current one and stores the loaded one in the other buffer.
  void go_over(const Reg<u32>& first, std::vector<FourSums>& state, NextQuads& quads, Var<u32>& here) {
    const Global<f32> scratch = scratch_of(b_, s_, scratch_, first / kDeltaChunk, head_);
    const OfRows rows = load_rows(first, scratch);
    Reg<f32> fade = scratch.load(Scratch::kOfState, kReadOnly);
    std::vector<FourSums> sums = zero_rows(b_, "sum", 2 * kHalf);
    const uint32_t of_state = s_.head_dim, of_changes = of_state + kDeltaChunk, all = of_changes + kDeltaChunk;
    b_.for_("slice", 0, all, kSlice, [&](Reg<u32> slice) {
      Reg<u32> end = slice + kSlice;
      Pred is_last = end == all;
      Reg<u32> next = b_.select(is_last, 0u, end), first_next = b_.select(is_last, first + kDeltaChunk, first);
      b_.if_else(
          next < of_state, [&] { rows_.load(first_next, next, quads); },
          [&] {
            b_.if_else(
                next < of_changes, [&] { load_matrices(scratch, next - of_state, quads); },
                [&] { load_positions(first + (next - of_changes), quads); });
          });
      const Shared<f32> at = slices_ + here;
      b_.if_else(
          slice < of_changes, [&] { multiply(at, state_ + slice * kScanValues, sums); },
          [&] { learn(at, changes_ + (slice - of_changes) * kScanValues, state); });
      b_.if_(end == of_state, [&] { store_deltas(rows, sums); });
      b_.if_(end == of_changes, [&] { store_updates(first, rows, sums, fade, state); });
      b_.if_(is_last, [&] { put_state(state); });
      here = kSliceFloats - here;
      b_.if_else(
          next < of_changes, [&] { copy_.put(quads, slices_ + here); }, [&] { put_positions(quads, slices_ + here); });
      b_.barrier();
    });
  }

  // Keys give what the values differ from; queries give the state's read-out.
  void store_deltas(const OfRows& rows, std::vector<FourSums>& sums) {
    for (uint32_t r = 0; r < kHalf; ++r) {
      const auto change = [&](int j) { return rows.values[r][j] - rows.of_found[r] * sums[r][j]; };
      put_changes(r, {change(0), change(1), change(2), change(3)});
      for (int j = 0; j < 4; ++j) sums[r][j] = 0.0f, sums[kHalf + r][j] *= rows.of_read[r];
    }
  }
  void store_updates(const Reg<u32>& first, const OfRows& rows, const std::vector<FourSums>& sums, const Reg<f32>& fade,
                     std::vector<FourSums>& state) {
    b_.barrier();  // all threads have read the changes
    for (uint32_t r = 0; r < kHalf; ++r) {
      const auto learnt = [&](int j) { return sums[r][j] * rows.of_learnt[r]; };
      put_changes(r, {learnt(0), learnt(1), learnt(2), learnt(3)});
      write_out(first, r, sums[kHalf + r]);
    }
    for (FourSums& row : state)
      for (int j = 0; j < 4; ++j) row[j] *= fade;
  }

  void load_matrices(const Global<f32>& scratch, const Reg<u32>& k, NextQuads& quads) {
    const Global<f32> from = scratch + wide(copy_.row * kDeltaChunk + copy_.quad + k);
    for (uint32_t i = 0; i < SliceCopy::kEach; ++i)
      quads[i] = from.load<4>(Scratch::kMatrices + i * kSliceRows * kDeltaChunk, kReadOnly);
  }

  // Keys of kSlice positions, [kSlice, head_dim] as in memory.
  uint32_t quads_of_positions() const { return kSlice * s_.head_dim / 4 / kChunkThreads; }
  void load_positions(const Reg<u32>& first, NextQuads& quads) {
    const uint32_t quads_each = s_.head_dim / 4;
    for (uint32_t i = 0; i < quads_of_positions(); ++i) {
      Reg<u32> index = b_.thread() + i * kChunkThreads, row = index / quads_each;
      Reg<u32> column = b_.min(first + row, rows_.last);
      Reg<u32> at = (rows_.key_head * quads_each + (index - row * quads_each)) * 4;
      quads[i] = (qkv_ + b_.mad_wide(column, s_.channels(), wide(at))).load<4>(s_.n_k_heads * s_.head_dim, kReadOnly);
    }
  }
  void put_positions(const NextQuads& quads, const Shared<f32>& to) {
    const Shared<f32> own = to + b_.thread() * 4;
    for (uint32_t i = 0; i < quads_of_positions(); ++i) own.store(i * kChunkThreads * 4, values_of(quads[i]));
  }

  // sums += the slice's rows . right [kSlice, kScanValues]
  void multiply(const Shared<f32>& slice, const Shared<f32>& right, std::vector<FourSums>& sums) {
    const Shared<f32> left = slice + row_ * kSliceStride, of_columns = right + quad_;
    b_.for_("k", 0, kSlice, 8, [&](Reg<u32> k) {
      const Shared<f32> own = of_columns + k * kScanValues, of_rows = left + k;
      for (uint32_t four = 0; four < 8; four += 4) {
        Quads rows;
        for (uint32_t r = 0; r < sums.size(); ++r)
          rows.push_back(of_rows.load<4>(r * kRowThreads * kSliceStride + four));
        for (uint32_t e = 0; e < 4; ++e) {
          const Vec<f32, 4> columns = own.load<4>((four + e) * kScanValues);
          for (uint32_t r = 0; r < sums.size(); ++r)
            for (int j = 0; j < 4; ++j) sums[r][j] = b_.fma(rows[r][static_cast<int>(e)], columns[j], sums[r][j]);
        }
      }
    });
  }

  // state += keys . changes [kSlice, kScanValues], over the positions of a slice
  void learn(const Shared<f32>& keys, const Shared<f32>& changes, std::vector<FourSums>& state) {
    const Shared<f32> left = keys + row_ * n_dims_, right = changes + quad_;
    b_.for_("position", 0, kSlice, 8, [&](Reg<u32> position) {
      const Shared<f32> own = right + position * kScanValues, of_dims = left + position * s_.head_dim;
      for (uint32_t e = 0; e < 8; ++e) {
        const Vec<f32, 4> change = own.load<4>(e * kScanValues);
        const std::vector<Reg<f32>> dims = load_dims(of_dims + e * s_.head_dim);
        for (uint32_t i = 0; i < n_dims_; ++i)
          for (int j = 0; j < 4; ++j) state[i][j] = b_.fma(dims[i], change[j], state[i][j]);
      }
    });
  }
  std::vector<Reg<f32>> load_dims(const Shared<f32>& from) {
    std::vector<Reg<f32>> dims;
    if (n_dims_ == 4) {
      const Vec<f32, 4> four = from.load<4>();
      for (int i = 0; i < 4; ++i) dims.push_back(four[i]);
    } else {
      for (uint32_t i = 0; i < n_dims_; ++i) dims.push_back(from.load(i));
    }
    return dims;
  }

  void put_changes(uint32_t r, const Vec<f32, 4>& change) {
    changes_.store((row_ + r * kRowThreads) * kScanValues + quad_, change);
  }
  void write_out(const Reg<u32>& first, uint32_t r, const FourSums& read) {
    Reg<u32> column = first + row_ + r * kRowThreads;
    const Global<f32> to = out_ + b_.mad_wide(column, s_.inner(), wide(head_ * s_.head_dim + value_));
    b_.if_(column < n_columns_, [&] { to.store(0, values_of(read)); });
  }

  Builder& b_;
  const DeltaNetSpec& s_;
  Global<f32> qkv_;
  Global<u64> states_;
  Global<u32> positions_;
  Reg<u32> layer_;
  Global<f32> scratch_, out_;
  Reg<u32> n_columns_, head_;
  SliceCopy copy_;
  KeysAndQueries rows_;
  Reg<u32> row_, quad_;          // first row and first of four columns of the thread's products
  Reg<u32> value_;               // value of the head in that column
  uint32_t n_dims_;              // state rows per thread, consecutive
  Shared<f32> slices_;           // [2, kSliceFloats]
  Shared<f32> state_, changes_;  // [head_dim, kScanValues], and behind it [kDeltaChunk, kScanValues]
};

}  // namespace

bool takes_chunks(const DeltaNetSpec& s) { return s.n_v_heads > 0 && s.one_sequence; }

uint64_t delta_chunk_scratch_bytes(const DeltaNetSpec& s) {
  return uint64_t{n_chunks(s)} * s.n_v_heads * Scratch::kFloats * sizeof(float);
}

std::string name_of_prepare(const DeltaNetSpec& s) { return chunk_name("delta_prepare", s); }

Dimensions delta_prepare_grid(const DeltaNetSpec& s, uint32_t n_columns) {
  return {ceil_div(n_columns, kDeltaChunk), s.n_k_heads};
}

Kernel delta_prepare(const DeltaNetSpec& s, Target target) {
  require_prompt("delta_prepare", s);
  Builder b(name_of_prepare(s), target);
  DeltaPreparation(b, s).write();
  const uint64_t chunk_squared = uint64_t{kDeltaChunk} * kDeltaChunk;
  return b.finish(Launch{delta_prepare_grid(s, s.columns), kChunkThreads},
                  {.bytes = s.columns * 4 * (uint64_t{2} * s.n_k_heads * s.head_dim + 2 * s.n_v_heads) +
                            delta_chunk_scratch_bytes(s),
                   .flops = n_chunks(s) * chunk_squared *
                            (uint64_t{4} * s.n_k_heads * s.head_dim + uint64_t{3} * s.n_v_heads * kDeltaChunk)});
}

std::string name_of_scan(const DeltaNetSpec& s) { return chunk_name("delta_scan", s); }

Kernel delta_scan(const DeltaNetSpec& s, Target target) {
  require_prompt("delta_scan", s);
  Builder b(name_of_scan(s), target);
  DeltaScan(b, s).write();
  const uint64_t head_bytes = uint64_t{s.inner()} * s.head_dim * 8;  // read and written
  return b.finish(
      Launch{{s.head_dim / kScanValues, s.n_v_heads}, kChunkThreads},
      {.bytes = s.columns * 4 * (uint64_t{s.channels()} + s.inner()) + delta_chunk_scratch_bytes(s) + head_bytes,
       .flops = s.columns * uint64_t{s.inner()} * 2 * (3 * s.head_dim + 2 * kDeltaChunk)});
}

std::string name_of_finish(const DeltaNetSpec& s) { return chunk_name("delta_finish", s, /*has_eps=*/true); }

Dimensions delta_finish_grid(const DeltaNetSpec& s, uint32_t n_columns) {
  return {ceil_div(s.n_v_heads, kChunkWarps), n_columns};
}

// One warp per head and column.
Kernel delta_finish(const DeltaNetSpec& s, Target target) {
  require_prompt("delta_finish", s);
  const uint32_t d = s.head_dim;
  Builder b(name_of_finish(s), target);
  const uint64_t n = uint64_t{s.columns} * s.inner();
  Global<f32> z = b.global<f32>("z", n), norm = b.global<f32>("norm", d), out = b.global<f32>("out", n);
  Reg<u32> n_columns = b.param<u32>("n_columns"), column = b.block(Axis::kY);
  Reg<u32> head = b.warp_uniform(b.block() * kChunkWarps + b.warp()).named("head");
  b.return_if(column >= n_columns || head >= s.n_v_heads);
  Reg<u64> at = b.mad_wide(column, s.inner(), wide(head * d + b.lane()));
  const Global<f32> own = out + at, gate = z + at, gain = norm + b.lane();
  std::vector<Reg<f32>> read, gates, gains;
  for (uint32_t i = 0; i < d; i += kWarpSize) {
    read.push_back(own.load(i)), gates.push_back(gate.load(i, kReadOnly)), gains.push_back(gain.load(i, kReadOnly));
  }
  Var<f32> squares = b.var("squares", 0.0f);
  for (const Reg<f32>& x : read) squares = b.fma(x, x, squares);
  Reg<f32> factor = b.rsqrt(warp_sum(b, squares) * (1.0f / static_cast<float>(d)) + s.eps);
  for (uint32_t i = 0; i < read.size(); ++i) own.store(i * kWarpSize, read[i] * factor * gains[i] * silu(b, gates[i]));
  return b.finish(Launch{delta_finish_grid(s, s.columns), kChunkThreads}, {.bytes = 12 * n, .flops = 8 * n});
}

}  // namespace warpchat
