// What the kernels of one token have to do, counted: bytes by the kernels' formulas, instructions by running them in
// the emulator. Blocks of a kernel do the same amount, so a few are run for all; attention, whose blocks are as many as
// the context is long, is run at short contexts, from which long ones follow.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "engine/gpu/speed_model.h"
#include "kernels/kernel_list.h"

namespace warpchat {

// Warp instructions of one launch of a kernel on `blocks` of its grid, over buffers of zeros, its columns at
// `position`. Error for a kernel that does not end well.
// cache_bytes: of a layer's keys.
uint64_t count_instructions(const ptx::Kernel& kernel, ptx::Dimensions blocks, uint32_t position, uint64_t cache_bytes);

class TokenWork {
 public:
  // specs: of passes of one token (PassKind::kToken).
  TokenWork(DecoderSpecs specs, ptx::Target target);

  // In the order of the decoder's page. position: below the specs' positions.
  std::vector<KernelGroup> at(uint32_t position) const;
  uint64_t barriers() const;  // of the persistent decoder, for a token

 private:
  struct Attention {  // instructions = fixed + splits * of_a_split, from kSplits on
    uint64_t fixed, of_a_split;
  };
  uint64_t count(const ptx::Kernel& kernel, ptx::Dimensions blocks, uint32_t position) const;
  KernelWork work_of(const ProductSpec& spec) const { return works_.at(name_of(spec)); }
  KernelWork attention_at(uint32_t position) const;

  DecoderSpecs specs_;
  AttentionSpec attention_spec_;
  ptx::Kernel attention_;
  Attention long_attention_;
  std::map<std::string, KernelWork> works_;  // of all other kernels
};

}  // namespace warpchat
