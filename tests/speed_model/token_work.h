// The work of a token's pass, phase by phase, for every launch mode.
#pragma once
#include <optional>
#include <vector>

#include "tests/speed_model/kernel_works.h"

namespace warpchat {

// Filters for sampling the next token; 0 and false: greedy.
struct SamplingDemand {
  uint32_t top_k = 0;
  bool has_top_p = false;
};

class TokenWork {
 public:
  // specs: for a pass of one token (PassKind::kDecode).
  TokenWork(DecoderSpecs specs, ptx::Target target, SamplingDemand sampling = {});

  // In the order of execution. position: below the specs' positions.
  std::vector<KernelGroup> at(uint32_t position) const;
  uint64_t barriers() const;      // per token of the persistent decoder: one per group that it runs
  uint64_t weight_bytes() const;  // all matrices except the embedding, all experts: a prefill reads these once
  KernelWork logits() const { return works_.product(works_.specs().logits); }

 private:
  KernelWorks works_;
  KernelWork sampling_, persistent_sampling_;
};

constexpr uint32_t kPromptColumns = 512;  // columns of a prefill pass: chat's default --ubatch-size

// Work of a pass with several columns, as separate kernels and without sampling. Columns are tokens of different
// sequences, all at `position`, or tokens of a prompt from `position` on (PassKind::kPrefill).
class PassWork {
 public:
  // token: for the same model; its kernel computes the logits of a prompt's last column.
  PassWork(const DecoderSpecs& specs, ptx::Target target, uint32_t columns, const TokenWork& token);
  std::vector<KernelGroup> at(uint32_t position) const;

 private:
  KernelWorks works_;
  std::optional<KernelWorks> last_;  // a prompt's last column, the only one after the last layer's mixer
  std::vector<KernelWork> logits_;
};

// Prefill of n_tokens in passes with the columns of `work`, launched in a stream.
double prompt_seconds(const GpuTraits& gpu, const PassWork& work, uint32_t columns, uint32_t n_tokens);

}  // namespace warpchat
