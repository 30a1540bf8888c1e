// The penalties of recent tokens inside a sampling kernel: how often each token occurs among those that count stands in
// device memory and is kept up as tokens come and go, so that neither the vocabulary nor the window costs shared
// memory, and the logits themselves stay as they are.
#pragma once
#include <functional>

#include "ptx/builder.h"

namespace warpchat {

// The same in all threads of the block.
struct PenaltySettings {
  ptx::Reg<ptx::f32> repeat, presence, frequency;
  ptx::Reg<ptx::u32> window;  // tokens that count, at most the ring
};

// What the device keeps of the tokens accepted so far.
struct RecentTokensMemory {
  ptx::Global<ptx::u64> n_accepted;
  ptx::Global<ptx::u32> tokens;  // [ring]: number i at i modulo ring, a power of two
  ptx::Global<ptx::u32> counts;  // [n_vocab], of the last `window`; read and written only where there are penalties
};

class RecentTokens {
 public:
  RecentTokens(ptx::Builder& b, uint32_t n_vocab, uint32_t ring, const PenaltySettings& settings,
               const RecentTokensMemory& memory);

  // The logit of a token: repeat divides a positive one and multiplies another one; then presence is taken off once,
  // and frequency for each occurrence.
  void penalise(const ptx::Reg<ptx::u32>& token, ptx::Var<ptx::f32>& logit) const;
  // body() if any of four tokens has a penalty, the first of them a multiple of 4. It asks for each without asking
  // whether there are penalties at all.
  void if_any_of_four(const ptx::Reg<ptx::u32>& first, const std::function<void()>& body) const;
  void penalise_one_of_four(const ptx::Reg<ptx::u32>& token, ptx::Var<ptx::f32>& logit) const;
  // By one thread: the token that comes next; the one that no longer counts goes.
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
