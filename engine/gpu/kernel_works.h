// What the kernels of a pass have to do: their flows and bytes by their own formulas, their instructions by counting.
// The pieces of a kernel do the same amount, so that a few are run for all: as many tiles of a product's k, splits of
// attention or tiles of keys as tell what one more costs.
#pragma once
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/gpu/speed_model.h"
#include "kernels/kernel_list.h"
#include "kernels/sampling.h"

namespace warpchat {

class KernelWorks {
 public:
  // columns: of the pass, at most the specs'.
  KernelWorks(DecoderSpecs specs, ptx::Target target, uint32_t columns);

  const DecoderSpecs& specs() const { return specs_; }
  KernelWork embedding() const;
  std::optional<KernelWork> kv_scatter() const;   // where it is not part of attention
  KernelWork attention(uint32_t position) const;  // of each column; in a prompt of the first, which the others follow
  KernelWork product(const ProductSpec& spec) const;  // of one launch
  KernelWork together(const ProductsTogether& all) const;
  // Of one input, one after the other; without those that a layer has not. If one takes halves or
  // integers, the input becomes those before, normalised or not, but for halves that are there.
  std::vector<KernelWork> products(std::initializer_list<const ProductSpec*> specs, bool normalised,
                                   bool has_halves = false) const;

  KernelWork convolution() const;              // of a delta net
  std::vector<KernelWork> recurrence() const;  // likewise, one after the other: a step, or a prompt's chunks
  KernelWork route(const RouteSpec& spec) const;
  KernelWork expert_order(const ExpertOrderSpec& spec) const;
  // All uses of a pass: grouped by expert, or each by itself, as if no two of them met in a cache.
  KernelWork uses(const ExpertProductSpec& spec, const std::optional<GemmSpec>& grouped) const;
  KernelWork integer_columns(uint32_t k, bool normalised) const;  // of the input of products that take them
  // Of the input of a gemm: columns, or uses.
  KernelWork half_columns(const GemmSpec& gemm, bool normalised) const;
  KernelWork expert_sum(const ExpertSumSpec& spec) const;

 private:
  struct Linear {  // instructions of a warp for a piece that is n long
    double fixed = 0, each = 0;
    double at(double n) const { return fixed + n * each; }
  };
  struct Counted {
    ptx::Kernel kernel;
    double start_instructions = 0, piece_instructions = 0;  // of a warp
    Linear by_tiles;                                        // of flash attention, of keys; of delta nets by positions
    bool is_counted = false;
  };
  void count(Counted& counted, const Flow& flow, uint32_t columns, uint64_t most_blocks) const;
  void count_gemm(const GemmSpec& spec);
  void count_half_columns(uint32_t k);
  void count_integer_columns(uint32_t k);
  void count_flash(Counted& counted, const FlashAttentionSpec& spec) const;
  void count_delta_net();
  void count_steps(const std::string& name, uint32_t unit);
  double of_block(const Counted& counted, uint32_t columns) const;
  void count_experts(const ExpertSpecs& specs);
  KernelWork work_of(const std::string& name, const Flow& flow, uint64_t bytes) const;
  template <class Spec>
  KernelWork of_columns(Spec spec, Flow (*flow)(const Spec&)) const;
  KernelWork gemm_work(GemmProducts products) const;
  KernelWork gemv_work(const GemvTogether& spec) const;
  KernelWork expert_product(const ExpertProductSpec& spec) const;
  uint32_t columns_of(const GemmSpec& spec) const;
  uint32_t columns_of_block(const GemmSpec& spec) const;
  KernelWork delta_work(const std::string& name, const Flow& flow, uint64_t bytes, uint32_t n_steps) const;
  KernelWork chunk_work(const std::string& name, const Flow& flow, uint32_t n_steps) const;
  KernelWork incremental_work(const AttentionSpec& spec, uint32_t position) const;
  KernelWork flash_work(const FlashAttentionSpec& spec, uint32_t position) const;
  // Of a warp, in the columns' splits on average; of a region of the text, or of all.
  double split_instructions(const AttentionSpec& spec, uint32_t keys, const char* region = nullptr) const;

  DecoderSpecs specs_;
  ptx::Target target_;
  uint32_t columns_;
  std::map<std::string, Counted> kernels_;
  using GemmKey = std::tuple<std::string, uint32_t, TensorType>;
  std::map<GemmKey, Linear> gemms_;  // by name, parts of k and format: by a part's tiles of k
  // By k, and whether it is normalised: of a warp.
  std::map<std::pair<uint32_t, bool>, double> half_columns_, integer_columns_;
};

// A choice for each of `columns`: by a kernel of its own, or by the first block of the persistent decoder.
KernelWork sampling_work(const SampleSpec& spec, ptx::Target target, bool is_persistent, uint32_t top_k = 0,
                         bool has_top_p = false);

}  // namespace warpchat
