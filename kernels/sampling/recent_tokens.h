// Penalties of recent tokens in a sampling kernel. Token counts over the window live in device memory and are updated
// incrementally, so neither vocabulary nor window size costs shared memory. The logits are not modified.
#pragma once
#include <functional>

#include "ptx/builder.h"

namespace warpchat {

// The same in all threads of the block.
struct PenaltySettings {
  ptx::Reg<ptx::f32> repeat, presence, frequency;
  ptx::Reg<ptx::u32> window;  // tokens in the window, at most the ring's size
};

// The tokens accepted so far, in device memory.
struct RecentTokensMemory {
  ptx::Global<ptx::u64> n_accepted;
  ptx::Global<ptx::u32> tokens;  // [ring]: token i at i modulo ring, a power of two
  ptx::Global<ptx::u32> counts;  // [n_vocab], over the last `window` tokens; used only with penalties
};

class RecentTokens {
 public:
  RecentTokens(ptx::Builder& b, uint32_t n_vocab, uint32_t ring, const PenaltySettings& settings,
               const RecentTokensMemory& memory);

  // Penalises a token's logit: repeat divides a positive logit and multiplies a negative one; then presence is
  // subtracted once, and frequency per occurrence.
  void penalise(const ptx::Reg<ptx::u32>& token, ptx::Var<ptx::f32>& logit) const;
  // Calls body() if any of four tokens has a penalty; `first` is a multiple of 4. Does not check first whether
  // penalties are enabled.
  void if_any_of_four(const ptx::Reg<ptx::u32>& first, const std::function<void()>& body) const;
  void penalise_one_of_four(const ptx::Reg<ptx::u32>& token, ptx::Var<ptx::f32>& logit) const;
  // Called by one thread: adds the next token and removes the one that leaves the window.
  void accept(const ptx::Reg<ptx::u32>& token) const;

 private:
  void count(const ptx::Reg<ptx::u32>& token, uint32_t difference) const;

  ptx::Builder& b_;
  uint32_t n_vocab_, ring_;
  PenaltySettings settings_;
  RecentTokensMemory memory_;
  ptx::Pred has_penalties_;
};

}  // namespace warpchat
