// The work of a launch and of a pass: the launches of its list in order, grouped by phase. Work models and bytes follow
// from each launch's spec; instructions are counted. A kernel's pieces do equal work, so only a few are run: enough
// tiles of k, splits of attention or tiles of keys to show the cost of one more.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/launch_list.h"
#include "kernels/sampling/sampling.h"
#include "kernels/shapes.h"
#include "tests/speed_model/kernel_counts.h"
#include "tests/speed_model/speed_model.h"

namespace warpchat {

LaunchList launches_of(const ModelShape& shape, const PassShape& pass);  // of a text decoder

// The work of passes with all the columns of a list. The columns of tokens are all at the same position; those of a
// prompt begin there.
class PassWork {
 public:
  // token: the same model's PassKind::kDecode, whose kernel computes the logits of a prompt's last column.
  PassWork(LaunchList list, ptx::Target target, const PassWork* token = nullptr);

  const LaunchList& list() const { return list_; }
  // In the order of execution; a token's for every launch mode, with greedy sampling. position: below the context.
  std::vector<KernelGroup> at(uint32_t position) const;
  // The next two require PassKind::kDecode.
  uint64_t barriers() const;      // per token of the persistent decoder
  uint64_t weight_bytes() const;  // all matrices except the embedding, all experts: a prefill reads these once

  const ptx::Kernel& kernel_of(const KernelLaunch& launch) const;
  KernelWork work_of(const KernelLaunch& launch, uint32_t columns, uint32_t position) const;
  // Runs a launch of the list. The result is kept, since layers have the same kernels.
  InstructionCount count(const KernelLaunch& launch, const LaunchSizes& sizes, const char* region = nullptr) const;

 private:
  double warp_instructions(const KernelLaunch& launch, const LaunchSizes& sizes,
                           const char* region = nullptr) const;  // average per warp of the launch
  void count_first_blocks(KernelWork& work, const KernelLaunch& launch, const LaunchColumns& columns,
                          uint64_t max_blocks) const;
  void count_attention(KernelWork& work, const KernelLaunch& launch, const AttentionSpec& spec, uint32_t keys) const;
  double flash_instructions(const KernelLaunch& launch, const FlashAttentionSpec& spec,
                            const LaunchColumns& columns) const;
  double delta_instructions(const KernelLaunch& launch, DeltaKernelSpec::Step step, uint32_t n_columns) const;
  double gemm_instructions(const KernelLaunch& launch, const GemmSpec& product, uint32_t n_columns) const;

  LaunchList list_;
  ptx::Target target_;
  std::map<std::string, ptx::Kernel> kernels_;                                   // by name
  std::optional<KernelWork> logits_;                                             // of a prompt's last column
  std::vector<KernelGroup> sampling_;                                            // of PassKind::kDecode
  using CountKey = std::tuple<std::string, std::string, std::vector<uint64_t>>;  // kernel, region, sizes and numbers
  mutable std::map<CountKey, InstructionCount> counts_;
};

constexpr uint32_t kPromptColumns = 512;  // columns of a prefill pass: chat's default --ubatch-size

// Prefill of n_tokens in passes like `work`, launched in a stream.
double prompt_seconds(const GpuTraits& gpu, const PassWork& work, uint32_t n_tokens);

// Samples one token per column of the spec, in its own kernel or in the persistent decoder. 0 and false: greedy.
KernelWork sampling_work(const SampleSpec& spec, ptx::Target target, bool is_persistent, uint32_t top_k = 0,
                         bool has_top_p = false);

}  // namespace warpchat
