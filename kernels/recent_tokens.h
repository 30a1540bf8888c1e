// The penalties of recent tokens inside a sampling kernel: a hash table in shared memory from token to occurrences,
// asked once for every logit that is read, so that the logits themselves stay as they are.
#pragma once
#include "kernels/virtual_block.h"

namespace warpchat {

// The same in all threads of the block.
struct PenaltySettings {
  ptx::Reg<ptx::f32> repeat, presence, frequency;
  ptx::Reg<ptx::u32> n_tokens;    // that count, at most the ring
  ptx::Reg<ptx::u64> n_accepted;  // the last of them is number n_accepted - 1
};

class RecentTokens {
 public:
  static uint32_t slots(uint32_t ring);  // of the table
  static uint64_t shared_bytes(uint32_t ring);

  // ring_tokens: u32 [ring], number i at i modulo ring. Fills the table: barriers, after which it can be asked.
  RecentTokens(ptx::Builder& b, uint32_t n_vocab, uint32_t ring, const VirtualBlock& block,
               const PenaltySettings& settings, const ptx::Global<ptx::u32>& ring_tokens,
               const ptx::Shared<ptx::u8>& memory);

  // repeat divides a positive logit and multiplies another one; then presence is taken off once, and frequency for each
  // occurrence.
  ptx::Reg<ptx::f32> penalised(const ptx::Reg<ptx::u32>& token, const ptx::Reg<ptx::f32>& logit) const;
  // Whether any of four tokens may have a penalty, the first of them a multiple of 4: a cheap no for most.
  ptx::Pred may_know_four(const ptx::Reg<ptx::u32>& first) const;

 private:
  void count(const ptx::Reg<ptx::u32>& token) const;

  ptx::Builder& b_;
  uint32_t slots_;
  PenaltySettings settings_;
  ptx::Pred active_;
  ptx::Shared<ptx::u32> tokens_, counts_;  // [slots]; kFree where none
  ptx::Shared<ptx::u32> seen_;             // a bit for each token, modulo their number
};

}  // namespace warpchat
