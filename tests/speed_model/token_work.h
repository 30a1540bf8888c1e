// The work of a token's pass, phase by phase, for every launch mode.
#pragma once
#include <optional>
#include <vector>

#include "tests/speed_model/kernel_works.h"

namespace warpchat {

// The filters that sample the next token; 0 and false: none, the largest logit.
struct SamplingDemand {
  uint32_t top_k = 0;
  bool has_top_p = false;
};

class TokenWork {
 public:
  // specs: of a pass of one token (PassKind::kToken).
  TokenWork(DecoderSpecs specs, ptx::Target target, SamplingDemand sampling = {});

  // In the order in which they run. position: below the specs' positions.
  std::vector<KernelGroup> at(uint32_t position) const;
  uint64_t barriers() const;      // per token of the persistent decoder: one per group that it runs
  uint64_t weight_bytes() const;  // of all matrices except the embedding, with all experts: a prompt reads these once
  KernelWork logits() const { return works_.product(works_.specs().logits); }

 private:
  KernelWorks works_;
  KernelWork sampling_, persistent_sampling_;
};

constexpr uint32_t kPromptColumns = 512;  // of a prompt's pass: chat's default --ubatch-size

// The work of a pass of several columns, as separate kernels and without sampling. Each column is a token of a sequence
// of its own, all at `position`, or the columns are tokens of a prompt from `position` on (PassKind::kPrompt).
class PassWork {
 public:
  // token: of the same model; its kernel computes the logits of a prompt's last column.
  PassWork(const DecoderSpecs& specs, ptx::Target target, uint32_t columns, const TokenWork& token);
  std::vector<KernelGroup> at(uint32_t position) const;

 private:
  KernelWorks works_;
  std::optional<KernelWorks> last_;  // a prompt's last column, the only one that goes on after the last layer's mixer
  std::vector<KernelWork> logits_;
};

// A prompt of n_tokens in passes of as many columns as `work` has, launched in a stream.
double prompt_seconds(const GpuTraits& gpu, const PassWork& work, uint32_t columns, uint32_t n_tokens);

}  // namespace warpchat
