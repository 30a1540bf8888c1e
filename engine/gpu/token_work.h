// What a token's pass has to do, phase by phase, in all ways to launch it.
#pragma once
#include <optional>
#include <vector>

#include "engine/gpu/kernel_works.h"

namespace warpchat {

// How the next token is chosen; 0 and false: the largest logit.
struct SamplingDemand {
  uint32_t top_k = 0;
  bool has_top_p = false;
};

class TokenWork {
 public:
  // specs: of passes of one token (PassKind::kToken).
  TokenWork(DecoderSpecs specs, ptx::Target target, SamplingDemand sampling = {});

  // In the order of the decoder's page. position: below the specs' positions.
  std::vector<KernelGroup> at(uint32_t position) const;
  uint64_t barriers() const;      // of the persistent decoder, for a token: one a group that it runs
  uint64_t weight_bytes() const;  // of all matrices but the embedding: what a prompt reads at least, whoever is chosen
  KernelWork logits() const { return works_.product(works_.specs().logits); }

 private:
  KernelWorks works_;
  KernelWork sampling_, persistent_sampling_;
};

// What a pass of several columns has to do, as separate kernels: a token each of as many sequences, all at
// `position`, or as many tokens of a prompt from `position` on (PassKind::kPrompt). Without the choice of tokens.
class PassWork {
 public:
  // token: of the same model; the last column of a prompt has its logits from the kernel of a token.
  PassWork(const DecoderSpecs& specs, ptx::Target target, uint32_t columns, const TokenWork& token);
  std::vector<KernelGroup> at(uint32_t position) const;

 private:
  KernelWorks works_;
  std::optional<KernelWorks> last_;  // of a prompt's last column, which alone matters behind the last layer's mixer
  std::vector<KernelWork> logits_;
};

// A prompt of n_tokens in passes of as many columns as `work` has, launched in a stream.
double prompt_seconds(const GpuTraits& gpu, const PassWork& work, uint32_t columns, uint32_t n_tokens);

}  // namespace warpchat
