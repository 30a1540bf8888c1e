// Shared by all parts of a sampling kernel: a column's settings, its penalised logits, and candidates, which pack a
// logit and its id into one integer.
#pragma once
#include <functional>
#include <vector>

#include "kernels/sampling/recent_tokens.h"
#include "kernels/sampling/sampling.h"

namespace warpchat {

struct SampleSettings {  // uniform over the block; vouched for where barriers depend on it
  PenaltySettings penalties;
  ptx::Reg<ptx::u32> top_k;
  ptx::Reg<ptx::f32> top_p, temperature;
  ptx::Reg<ptx::f64> log_min_p;
  ptx::Reg<ptx::u64> seed;
  ptx::Reg<ptx::u32> position;
};

struct SampleMemory {                       // in shared memory
  ptx::Shared<ptx::u64> candidates;         // [kMaxSampleThreads, 2]: a candidate, then space for its weight
  ptx::Shared<ptx::u64> parts;              // [kMaxSampleThreads], overlaps candidates
  ptx::Shared<ptx::u64> warp_slots;         // [kWarpSize], for block_sum
  ptx::Shared<ptx::u64> found;              // [2], written by one thread for all
  ptx::Shared<ptx::u32> n_candidates, min;  // initially 0 and UINT32_MAX
  ptx::Shared<ptx::u32> arrived;            // blocks that arrived earlier
};

class SampleColumn {
 public:
  // Ends with a barrier.
  SampleColumn(ptx::Builder& builder, const SampleSpec& spec, const SampleBuffers& buffers,
               const ptx::Reg<ptx::u32>& column, const VirtualBlock& block, const ptx::Shared<ptx::u8>& memory);

  // Calls body(id, logit) for each penalised logit; a thread's ids increase.
  using OnLogit = std::function<void(const ptx::Reg<ptx::u32>& id, ptx::Var<ptx::f32>& logit)>;
  void for_all(const OnLogit& body) const;
  // The same by one warp, for one slot, with several neighbours per call: four (one 16-byte load) if rows are aligned,
  // else one.
  using Logits = std::vector<ptx::Var<ptx::f32>>;
  using OnLogits = std::function<void(const ptx::Reg<ptx::u32>& first, Logits& logits)>;
  void for_slot(const ptx::Reg<ptx::u32>& slot, const OnLogits& body) const;
  // One logit per call, which needs little code.
  void for_each_of_slot(const ptx::Reg<ptx::u32>& slot, const OnLogit& body) const;

  // A better candidate is a larger number: ordered_bits of the logit, then descending ids, in fewer than 64 bits.
  ptx::Reg<ptx::u64> candidate(const ptx::Reg<ptx::u32>& ordered, const ptx::Reg<ptx::u32>& id) const;
  ptx::Reg<ptx::u32> ordered_of(const ptx::Reg<ptx::u64>& candidate) const;
  ptx::Reg<ptx::u32> id_of(const ptx::Reg<ptx::u64>& candidate) const;
  ptx::Reg<ptx::u64> order_of_id(const ptx::Reg<ptx::u64>& candidate) const;  // larger for lower ids
  ptx::Reg<ptx::u64> lowest_of(const ptx::Reg<ptx::u32>& ordered) const;      // over all candidates with this logit

  uint32_t weight_bits() const;

  // Called by one thread: writes the token, appends it to the ring and advances the position.
  void commit(const ptx::Reg<ptx::u32>& token) const;

  ptx::Builder& b;
  const SampleSpec& spec;
  const SampleBuffers& buffers;
  const ptx::Reg<ptx::u32> column;
  const VirtualBlock block;
  const SampleMemory memory;
  const ptx::Global<ptx::u8> state;
  const ptx::Global<ptx::u64> slots;  // [sample_slots]: best candidate of each
  const SampleSettings settings;

 private:
  void penalised(const ptx::Reg<ptx::u32>& id, const OnLogit& body) const;
  ptx::Global<ptx::f32> logits_;  // [n_vocab]
  RecentTokens recent_;
  uint32_t id_bits_;
};

}  // namespace warpchat
