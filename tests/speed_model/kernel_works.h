// The work of a pass's kernels: work models and bytes by formula, instructions by counting. A kernel's pieces do equal
// work, so only a few are run: enough tiles of k, splits of attention or tiles of keys to show the cost of one more.
#pragma once
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/kernel_list.h"
#include "kernels/sampling.h"
#include "tests/speed_model/speed_model.h"

namespace warpchat {

class KernelWorks {
 public:
  // columns: the pass's, at most the specs'.
  KernelWorks(DecoderSpecs specs, ptx::Target target, uint32_t columns);

  const DecoderSpecs& specs() const { return specs_; }
  KernelWork embedding() const;
  std::optional<KernelWork> kv_scatter() const;  // absent if attention includes it
  // `position`: of every column; in a prefill, of the first column.
  KernelWork attention(uint32_t position) const;
  KernelWork product(const ProductSpec& spec) const;  // a single launch
  KernelWork fused(const FusedProducts& all) const;
  // Launches of products of one input, without products that the layer lacks. If one reads f16 or integer activations,
  // the conversion kernel comes first, unless they exist already.
  std::vector<KernelWork> products(std::initializer_list<const ProductSpec*> specs, bool normalised,
                                   bool has_f16 = false) const;

  KernelWork convolution() const;              // delta net
  std::vector<KernelWork> recurrence() const;  // delta net, in order: one step, or a prompt's chunks
  KernelWork route(const RouteSpec& spec) const;
  KernelWork expert_order(const ExpertOrderSpec& spec) const;
  // All assignments of a pass: grouped by expert, or separate and without sharing through a cache.
  KernelWork assignments(const ExpertProductSpec& spec, const std::optional<GemmSpec>& grouped) const;
  KernelWork int_activations(uint32_t k, bool normalised) const;  // quantises the input of products that read integers
  // Converts the input of a gemm to f16: the pass's columns, or with experts the inputs of the assignments.
  KernelWork f16_activations(const GemmSpec& gemm, bool normalised) const;
  KernelWork expert_sum(const ExpertSumSpec& spec) const;

 private:
  struct Linear {  // instructions per warp for a piece of length n
    double fixed = 0, each = 0;
    double at(double n) const { return fixed + n * each; }
  };
  struct Counted {
    ptx::Kernel kernel;
    double start_instructions = 0, piece_instructions = 0;  // per warp
    Linear by_tiles;                                        // flash attention: tiles of keys; delta nets: of positions
    bool is_counted = false;
  };
  void count(Counted& counted, const WorkModel& model, uint32_t columns, uint64_t max_blocks) const;
  void count_gemm(const GemmSpec& spec);
  void count_f16_activations(uint32_t k);
  void count_int_activations(uint32_t k);
  void count_flash(Counted& counted, const FlashAttentionSpec& spec) const;
  void count_delta_net();
  void count_steps(const std::string& name, uint32_t unit);
  double of_block(const Counted& counted, uint32_t columns) const;
  void count_experts(const ExpertSpecs& specs);
  KernelWork work_of(const std::string& name, const WorkModel& model, uint64_t bytes) const;
  template <class Spec>
  KernelWork of_columns(Spec spec, WorkModel (*model)(const Spec&)) const;
  KernelWork gemm_work(GemmProducts products) const;
  KernelWork gemv_work(const FusedGemv& spec) const;
  KernelWork expert_product(const ExpertProductSpec& spec) const;
  uint32_t columns_of(const GemmSpec& spec) const;
  uint32_t columns_of_block(const GemmSpec& spec) const;
  KernelWork delta_work(const std::string& name, const WorkModel& model, uint64_t bytes, uint32_t n_steps) const;
  KernelWork chunk_work(const std::string& name, const WorkModel& model, uint32_t n_steps) const;
  KernelWork incremental_work(const AttentionSpec& spec, uint32_t position) const;
  KernelWork flash_work(const FlashAttentionSpec& spec, uint32_t position) const;
  // Average per warp in the columns' splits, for a region of the PTX or for all of it.
  double split_instructions(const AttentionSpec& spec, uint32_t keys, const char* region = nullptr) const;

  DecoderSpecs specs_;
  ptx::Target target_;
  uint32_t columns_;
  std::map<std::string, Counted> kernels_;
  using GemmKey = std::tuple<std::string, uint32_t, TensorType>;
  std::map<GemmKey, Linear> gemms_;  // by name, split-K and format: per tile of one split's k
  // Instructions per warp, by k and whether the input is normalised.
  std::map<std::pair<uint32_t, bool>, double> f16_activations_, int_activations_;
};

// Samples one token per column of the spec, in its own kernel or in the persistent decoder.
KernelWork sampling_work(const SampleSpec& spec, ptx::Target target, bool is_persistent, uint32_t top_k = 0,
                         bool has_top_p = false);

}  // namespace warpchat
