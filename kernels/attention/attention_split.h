// One block of incremental attention: scores, online softmax and weighted values of its split, for all query heads of a
// KV head.
#pragma once
#include <functional>
#include <limits>
#include <vector>

#include "kernels/attention/attention_merge.h"
#include "kernels/attention/attention_plan.h"
#include "kernels/attention/attention_queries.h"
#include "kernels/attention/kv_rows.h"

namespace warpchat {

// The split of a block: one page, or several neighbouring pages that it processes in turn.
struct SplitKeys {
  KvRows keys, values;         // of this KV head, in page 0
  ptx::Reg<ptx::u32> numbers;  // page numbers, one per lane; with one page, the same in all lanes
  ptx::Reg<ptx::u32> n_keys;   // at least 1
};

// Both products have 16 rows: the high f16 parts of up to 8 heads, then their low parts, so only the last bits of a
// head are lost. Which eight dimensions (or four keys) of a row form the 16 of an mma step is arbitrary if both
// operands agree, so each lane reads neighbouring memory. Dimensions and keys beyond the end repeat the last one with
// weight zero. f32 keys and values are split as well, scaled by powers of two to fit f16: one per row and group for
// keys, one per four dimensions of sixteen rows for values.
class AttentionSplit {
 public:
  AttentionSplit(ptx::Builder& b, const AttentionPlan& plan, const VirtualBlock& block, const AttentionQueries& queries,
                 const SplitKeys& split);

  // Processes all heads of the group and puts their results into `merge` as split `number`.
  void attend(const SplitMerge& merge, const ptx::Reg<ptx::u32>& number);

 private:
  static constexpr uint32_t kWarps = AttentionPlan::kWarps, kHeadsAtOnce = AttentionPlan::kHeadsAtOnce;
  static constexpr uint32_t kGroup = AttentionPlan::kGroup;     // dimensions: four lanes cover a group of one key
  static constexpr uint32_t kKeys = kPagePositions / kWarps;    // keys that a warp scores
  static constexpr uint32_t kSums = kWarps / 2;                 // sums over 16 keys each; two warps share one
  static constexpr uint32_t kTurnDims = 4;                      // value dimensions per lane and turn
  static constexpr uint32_t kScoreStride = kPagePositions + 8;  // the padding moves heads to different banks
  static constexpr uint32_t kPageScores = kHeadsAtOnce * kScoreStride, kPageTops = kHeadsAtOnce * kWarps;
  // log2 of the largest weight: scaling up keeps the low parts of small weights in f16 range.
  static constexpr int kTopWeight = 6;
  static constexpr float kNoScore = -std::numeric_limits<float>::infinity();

  using Pair = ptx::Reg<ptx::f16x2>;
  using Floats = std::vector<ptx::Reg<ptx::f32>>;
  // Cells as f16. For f32 also the low parts, and the powers of two that undo the scaling, one per result column of the
  // lane.
  struct Planes {
    std::vector<Pair> high, low;
    Floats factors;
  };
  struct PageRows {  // keys or values of a page
    KvRows all;
    ptx::Reg<ptx::u32> last;
  };
  // Raw words of a group of dimensions, of one row or several, and the scales if they are q8_0.
  struct Cells {
    std::vector<ptx::Reg<ptx::u32>> words;
    std::vector<ptx::Reg<ptx::f16>> scales;
  };
  // Cells of all groups of the current page, overwritten by the next page's.
  struct Ahead {
    std::vector<ptx::Var<ptx::u32>> words;
    std::vector<ptx::Var<ptx::f16>> scales;
  };
  // The scores of a page, [kHeadsAtOnce, kScoreStride], and the largest of each warp's keys, [kHeadsAtOnce, kWarps].
  struct Scores {
    ptx::Shared<ptx::f32> all, tops;
  };
  // Accumulated over the pages so far: the top score of the lane's head, the sum of weights of its keys, and the warp's
  // weighted values, four dimensions per turn.
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
  void store_prefetched(const std::vector<Cells>& all, Ahead& ahead);
  static std::vector<Cells> load_prefetched(const Ahead& ahead, uint32_t n);
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
  using OnDimBlock = std::function<void(uint32_t turn, const ptx::Vec<ptx::f16x2, 4>& weights, const Planes& rows)>;
  void for_dim_blocks(const Floats& weights, const std::vector<Cells>& values, const OnDimBlock& add);
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
  ptx::Reg<ptx::u32> eighth_, quarter_;  // row and column of the lane in the second operand of both products
  ptx::Reg<ptx::u32> half_, sum_;        // group of dimensions, and sum over keys, that this warp accumulates
  ptx::Reg<ptx::f32> zero_;
  Scores scores_;                // two buffers with several pages, used alternately
  ptx::Shared<ptx::f32> sums_;   // [kSums, kHeadsAtOnce]: sums of weights; with several pages, later the top scores
  ptx::Shared<ptx::f32> parts_;  // [kSums, heads, head_dim]: weighted values
};

}  // namespace warpchat
