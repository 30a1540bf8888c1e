// What every part of a sampling kernel works on: a column's settings, its logits with their penalties, and candidates,
// a logit and its id in one number.
#pragma once
#include <functional>
#include <vector>

#include "kernels/recent_tokens.h"
#include "kernels/sampling.h"

namespace warpchat {

struct SampleSettings {  // the same in all threads; the author vouches for it where barriers depend on it
  PenaltySettings penalties;
  ptx::Reg<ptx::u32> top_k;
  ptx::Reg<ptx::f32> top_p, temperature;
  ptx::Reg<ptx::f64> log_min_p;
  ptx::Reg<ptx::u64> seed;
  ptx::Reg<ptx::u32> position;
};

struct SampleMemory {                         // in shared memory
  ptx::Shared<ptx::u64> candidates;           // [kMostSampleThreads, 2]: each with room for its weight behind it
  ptx::Shared<ptx::u64> parts;                // [kMostSampleThreads], in the same place
  ptx::Shared<ptx::u64> warp_slots;           // [kWarpSize], of block_sum
  ptx::Shared<ptx::u64> found;                // [2], by one thread for all
  ptx::Shared<ptx::u32> n_candidates, least;  // at first 0 and UINT32_MAX
  ptx::Shared<ptx::u32> arrived;              // blocks before this one
};

class SampleColumn {
 public:
  // Ends with a barrier.
  SampleColumn(ptx::Builder& builder, const SampleSpec& spec, const SampleBuffers& buffers,
               const ptx::Reg<ptx::u32>& column, const VirtualBlock& block, const ptx::Shared<ptx::u8>& memory);

  // body(id, logit) for each logit, penalised; a thread's ids rise.
  using OnLogit = std::function<void(const ptx::Reg<ptx::u32>& id, ptx::Var<ptx::f32>& logit)>;
  void for_all(const OnLogit& body) const;
  // The same by a warp, for those of a slot and several neighbours at once: four, read as 16 bytes, where rows allow
  // it, or one.
  using Logits = std::vector<ptx::Var<ptx::f32>>;
  using OnLogits = std::function<void(const ptx::Reg<ptx::u32>& first, Logits& logits)>;
  void for_slot(const ptx::Reg<ptx::u32>& slot, const OnLogits& body) const;
  // One by one, which takes little text.
  void for_each_of_slot(const ptx::Reg<ptx::u32>& slot, const OnLogit& body) const;

  // Better ones are larger: ordered_bits of the logit, then falling ids, in fewer than 64 bits.
  ptx::Reg<ptx::u64> candidate(const ptx::Reg<ptx::u32>& ordered, const ptx::Reg<ptx::u32>& id) const;
  ptx::Reg<ptx::u32> ordered_of(const ptx::Reg<ptx::u64>& candidate) const;
  ptx::Reg<ptx::u32> id_of(const ptx::Reg<ptx::u64>& candidate) const;
  ptx::Reg<ptx::u64> order_of_id(const ptx::Reg<ptx::u64>& candidate) const;  // larger for lower ids
  ptx::Reg<ptx::u64> lowest_of(const ptx::Reg<ptx::u32>& ordered) const;      // of all candidates with this logit

  uint32_t weight_bits() const;

  // By one thread: the token, its place in the ring, and the position.
  void commit(const ptx::Reg<ptx::u32>& token) const;

  ptx::Builder& b;
  const SampleSpec& spec;
  const SampleBuffers& buffers;
  const ptx::Reg<ptx::u32> column;
  const VirtualBlock block;
  const SampleMemory memory;
  const ptx::Global<ptx::u8> state;
  const ptx::Global<ptx::u64> slots;  // [sample_slots]: the best of each
  const SampleSettings settings;

 private:
  void penalised(const ptx::Reg<ptx::u32>& id, const OnLogit& body) const;
  ptx::Global<ptx::f32> logits_;  // [n_vocab]
  RecentTokens recent_;
  uint32_t id_bits_;
};

}  // namespace warpchat
