// What a block of incremental attention does with the keys and values of its split: scores, online softmax, and the
// weighted values, for all query heads of a KV head.
#pragma once
#include <functional>
#include <limits>
#include <vector>

#include "kernels/attention_merge.h"
#include "kernels/attention_plan.h"
#include "kernels/attention_queries.h"
#include "kernels/kv_rows.h"

namespace warpchat {

// The split of a block: of one page, or of several neighbouring ones that it goes over one after the other.
struct SplitKeys {
  KvRows keys, values;         // of the KV head in page 0
  ptx::Reg<ptx::u32> numbers;  // of its pages, a lane's each; of one page, in every lane
  ptx::Reg<ptx::u32> n_keys;   // at least 1
};

// Both products are of 16 rows: up to 8 heads' halves, and what those leave, so that nothing is lost to halves but the
// heads' last bits. Which eight of a row's dimensions, or four of its keys, are the 16 of a step is free, as long as
// both sides mean the same: so each lane's are neighbours in memory. Dimensions beyond the last, and rows beyond the
// last key, are read as the last ones again, and weigh nothing. Keys and values in f32 become two halves, too, by
// powers of two that leave the largest below what halves hold: of keys one for each group of a row, of values one for
// four dimensions of sixteen rows.
class AttentionSplit {
 public:
  AttentionSplit(ptx::Builder& b, const AttentionPlan& plan, const VirtualBlock& block, const AttentionQueries& queries,
                 const SplitKeys& split);

  // For all heads of the group; their results go to `merge`, as those of split `number`.
  void attend(const SplitMerge& merge, const ptx::Reg<ptx::u32>& number);

 private:
  static constexpr uint32_t kWarps = AttentionPlan::kWarps, kHeadsAtOnce = AttentionPlan::kHeadsAtOnce;
  static constexpr uint32_t kGroup = AttentionPlan::kGroup;     // of dimensions: a lane's piece of a key times four
  static constexpr uint32_t kKeys = kPagePositions / kWarps;    // that a warp scores
  static constexpr uint32_t kSums = kWarps / 2;                 // of keys, 16 each, whose values two warps weigh
  static constexpr uint32_t kTurnDims = 4;                      // of the values, that a lane has in a turn
  static constexpr uint32_t kScoreStride = kPagePositions + 8;  // so that the heads' rows lie in other banks
  static constexpr uint32_t kPageScores = kHeadsAtOnce * kScoreStride, kPageTops = kHeadsAtOnce * kWarps;
  // The logarithm of the largest weight, so that halves hold what small ones leave.
  static constexpr int kTopWeight = 6;
  static constexpr float kNoScore = -std::numeric_limits<float>::infinity();

  using Pair = ptx::Reg<ptx::f16x2>;
  using Floats = std::vector<ptx::Reg<ptx::f32>>;
  // Cells as halves; of f32 also what those leave, and what products with either take to be values again: the powers of
  // two of the columns that a lane has of a product.
  struct Planes {
    std::vector<Pair> high, low;
    Floats factors;
  };
  struct PageRows {  // keys or values of a page
    KvRows all;
    ptx::Reg<ptx::u32> last;
  };
  // Of a group of dimensions of one row, or of several: as they are in memory, and their scales if they are codes.
  struct Cells {
    std::vector<ptx::Reg<ptx::u32>> words;
    std::vector<ptx::Reg<ptx::f16>> scales;
  };
  // Cells of all groups, which those of the next page take the place of.
  struct Ahead {
    std::vector<ptx::Var<ptx::u32>> words;
    std::vector<ptx::Var<ptx::f16>> scales;
  };
  // The scores of a page, [kHeadsAtOnce, kScoreStride], and the largest of each warp's keys, [kHeadsAtOnce, kWarps].
  struct Scores {
    ptx::Shared<ptx::f32> all, tops;
  };
  // Of the pages so far: of the lane's head the largest score, of its keys the sum of the weights, and of the values
  // what the warp's products add up to, four dimensions a turn.
  struct Running {
    ptx::Var<ptx::f32> top, sum;
    std::vector<ptx::VarVec<ptx::f32, 4>> values;
  };

  void attend_page(const PageRows& key_rows, const PageRows& value_rows, const ptx::Reg<ptx::u32>& first_head,
                   uint32_t heads, const SplitMerge& merge, const ptx::Reg<ptx::u32>& number);
  void attend_pages(const SplitMerge& merge, const ptx::Reg<ptx::u32>& number);
  ptx::Pred add_page(ptx::Var<ptx::u32>& index, Ahead& keys, Ahead& values, Running& running);
  void store_running(Running& running);

  template <int N>
  void load_words(const KvRows& rows, const ptx::Reg<ptx::u32>& row, uint32_t first_value, Cells& cells);
  Cells load_keys(const PageRows& rows, uint32_t group);
  Cells load_float_keys(const PageRows& rows, uint32_t group);
  Cells load_values(const PageRows& rows, uint32_t turn);
  std::vector<Cells> load_all_keys(const PageRows& rows);
  std::vector<Cells> load_all_values(const PageRows& rows);
  void keep(const std::vector<Cells>& all, Ahead& ahead);
  static std::vector<Cells> kept(const Ahead& ahead, uint32_t n);
  ptx::Cache cache_of_rows(ptx::Cache cache) const;

  Planes planes_of(const KvRows& rows, const std::vector<ptx::Reg<ptx::u32>>& words);
  Planes planes_of_floats(const std::vector<ptx::Reg<ptx::u32>>& words);
  ptx::Vec<ptx::f32, 4> zeros() { return {zero_, zero_, zero_, zero_}; }
  std::vector<Pair> query(uint32_t plane, const ptx::Reg<ptx::u32>& head, uint32_t group);
  template <int kDims>
  void add_query(uint32_t plane, const ptx::Reg<ptx::u32>& head, uint32_t first, std::vector<Pair>& pairs);
  Floats products_with_keys(uint32_t heads, const std::vector<Cells>& keys);
  ptx::Reg<ptx::f32> sum_of(const Floats& terms);
  void score(uint32_t heads, const std::vector<Cells>& keys, const ptx::Reg<ptx::u32>& n_keys, const Scores& to);
  ptx::Reg<ptx::f32> highest(const ptx::Reg<ptx::u32>& head, const Scores& scores);
  Floats weights_above(const ptx::Reg<ptx::f32>& shift, const Scores& scores);
  void store_sum(ptx::Var<ptx::f32>& sum);
  static ptx::Reg<ptx::f32> sum_of_four(const Floats& x) { return (x[0] + x[1]) + (x[2] + x[3]); }
  Floats weigh();
  ptx::Vec<ptx::f16x2, 4> split(const Floats& four);
  using OfTurn = std::function<void(uint32_t turn, const ptx::Vec<ptx::f16x2, 4>& weights, const Planes& rows)>;
  void for_turns(const Floats& weights, const std::vector<Cells>& values, const OfTurn& add);
  ptx::Vec<ptx::f32, 4> product_with_values(const ptx::Vec<ptx::f16x2, 4>& weights, const std::vector<Pair>& rows,
                                            uint32_t dim, ptx::InVec<ptx::f32, 4> sum);
  void store_values(uint32_t heads, uint32_t turn, const std::vector<ptx::Vec<ptx::f32, 4>>& sums,
                    const Floats& factors = {});
  SoftmaxState state(uint32_t heads, const ptx::Reg<ptx::u32>& head, const ptx::Reg<ptx::u32>& dim,
                     const ptx::Reg<ptx::f32>& top);

  ptx::Builder& b_;
  const AttentionPlan& plan_;
  const VirtualBlock& block_;
  const AttentionQueries& queries_;
  SplitKeys split_;
  ptx::Reg<ptx::u32> eighth_, quarter_;  // of the warp's lanes: a row and a column of both products' second matrices
  ptx::Reg<ptx::u32> half_, sum_;  // which of the groups of dimensions, and which of the sums over keys, a warp weighs
  ptx::Reg<ptx::f32> zero_;
  Scores scores_;                // of several pages two, in turn
  ptx::Shared<ptx::f32> sums_;   // [kSums, kHeadsAtOnce]: of the weights; of several pages then the largest scores
  ptx::Shared<ptx::f32> parts_;  // [kSums, heads, head_dim]: of the weighted values
};

}  // namespace warpchat
