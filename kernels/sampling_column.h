// What every part of a sampling kernel works on: a column's settings, its logits with their penalties, and candidates,
// a logit and its id in one number.
#pragma once
#include <functional>

#include "kernels/recent_tokens.h"
#include "kernels/sampling.h"

namespace warpchat {

struct SampleSettings {  // the same in all threads
  PenaltySettings penalties;
  ptx::Reg<ptx::u32> top_k;
  ptx::Reg<ptx::f32> top_p, temperature;
  ptx::Reg<ptx::f64> log_min_p;
  ptx::Reg<ptx::u64> seed;
  ptx::Reg<ptx::u32> position;
};

struct SampleMemory {                         // in shared memory
  ptx::Shared<ptx::u64> candidates, weights;  // [kMostSampleThreads]
  ptx::Shared<ptx::u64> warp_slots;           // [kWarpSize]
  ptx::Shared<ptx::u64> found;                // [2], by one thread for all
  ptx::Shared<ptx::u32> n_candidates, most;   // both zero at first
  ptx::Shared<ptx::u8> penalties;             // [RecentTokens::shared_bytes]
};

class SampleColumn {
 public:
  SampleColumn(ptx::Builder& builder, const SampleSpec& spec, const SampleBuffers& buffers,
               const ptx::Reg<ptx::u32>& column, const VirtualBlock& block, const ptx::Shared<ptx::u8>& memory);

  // body(id, logit) for each logit, penalised; a thread's ids rise. With `at_once` 4, where rows allow it, the body is
  // written four times and the logits are read 16 bytes at a time.
  using OnLogit = std::function<void(const ptx::Reg<ptx::u32>& id, const ptx::Reg<ptx::f32>& logit)>;
  void for_all(uint32_t at_once, const OnLogit& body) const;
  // The same for those of at least `bound`, which few are.
  void for_all_from(const ptx::Reg<ptx::f32>& bound, const OnLogit& body) const;
  ptx::Reg<ptx::f32> logit(const ptx::Reg<ptx::u32>& id) const;  // penalised

  // Better ones are larger: ordered_bits of the logit, then falling ids, in fewer than 64 bits.
  ptx::Reg<ptx::u64> candidate(const ptx::Reg<ptx::u32>& ordered, const ptx::Reg<ptx::u32>& id) const;
  ptx::Reg<ptx::u32> ordered_of(const ptx::Reg<ptx::u64>& candidate) const;
  ptx::Reg<ptx::u32> id_of(const ptx::Reg<ptx::u64>& candidate) const;
  ptx::Reg<ptx::u64> lowest_of(const ptx::Reg<ptx::u32>& ordered) const;  // of all candidates with this logit

  uint32_t weight_bits() const;

  // By one thread: the token, its place in the ring, and the position.
  void commit(const ptx::Reg<ptx::u32>& token) const;

  ptx::Builder& b;
  const SampleSpec& spec;
  const SampleBuffers& buffers;
  const ptx::Reg<ptx::u32> column;
  const VirtualBlock block;
  const SampleMemory memory;
  const SampleSettings settings;

 private:
  // body(first, logits) for each four of them.
  using Four = ptx::VarVec<ptx::f32, 4>;
  void for_fours(const std::function<void(const ptx::Reg<ptx::u32>& first, Four& logits)>& body) const;
  bool has_fours() const { return spec.n_vocab % 4 == 0; }

  ptx::Global<ptx::u8> state_;
  ptx::Global<ptx::u32> ring_;
  ptx::Global<ptx::f32> logits_;  // [n_vocab]
  RecentTokens recent_;
  uint32_t id_bits_;
};

}  // namespace warpchat
