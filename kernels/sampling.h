// The next token, chosen on the device: penalties, top_k, top_p, min_p, temperature and one draw, in that order and by
// the definitions of engine/sampler.h. Settings, recent tokens, position and the token itself stay in device memory, so
// that a captured graph or a persistent kernel needs no host. The logits are left as they are.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "kernels/columns.h"
#include "kernels/virtual_block.h"

namespace warpchat {

inline constexpr uint32_t kLargestSampleRing = 1u << 24, kMostSampleThreads = 1024;

struct SampleSpec {
  uint32_t n_vocab;         // logits of a column
  uint32_t columns = 1;     // sequences, each with a state of its own
  uint32_t threads = 1024;  // of the kernel's blocks: a multiple of 32, at most 1,024
  uint32_t ring = 64;       // recent tokens that a state holds: a power of two up to kLargestSampleRing
  bool advances = false;    // positions[column] += 1 after the choice
};

// The ring that holds every token of a context, as far as there is such a ring.
inline uint32_t sample_ring(uint32_t context) { return std::bit_ceil(std::min(context, kLargestSampleRing)); }

// How a column chooses, in device memory. Right behind it u32 [spec.ring]: of the tokens accepted so far, number i at i
// modulo spec.ring. Behind these, 16-byte aligned, u32 [n_vocab]: how often each occurs among those that count. The
// kernel keeps up all three; without penalties it reads nothing of what is behind. The settings are those of
// SamplingParams. Last, 16-byte aligned, u64 [sample_slots]: what the blocks tell each other.
struct SamplerState {
  float repeat_penalty = 1, presence_penalty = 0, frequency_penalty = 0;
  uint32_t penalty_window = 0;  // recent tokens that count, as far as the ring holds them
  uint32_t top_k = 0;           // 0 is off
  float top_p = 1;              // 1 is off
  float temperature = 0;        // 0: the argmax
  uint32_t n_arrived = 0;       // blocks, of a choice under way
  double log_min_p = -std::numeric_limits<double>::infinity();  // ln(min_p); -infinity is off
  uint64_t seed = 0;
  uint64_t n_accepted = 0;
};
static_assert(sizeof(SamplerState) == 56);

// Bytes from one column's state to the next, and a state that has accepted `recent`: no more of it than what the kernel
// reads, the rest may be anything.
uint64_t sampler_state_stride(const SampleSpec& spec);
uint64_t sampler_counts_offset(const SampleSpec& spec);  // of the occurrences, in a column's state
uint64_t sampler_slots_offset(const SampleSpec& spec);
inline constexpr uint32_t kSampleSlotLogits = 128;  // of a warp, four a lane
inline uint32_t sample_slots(const SampleSpec& spec) { return ceil_div(spec.n_vocab, kSampleSlotLogits); }
std::vector<uint8_t> packed_sampler_state(const SampleSpec& spec, SamplerState state, std::span<const uint32_t> recent);

// What a block chooses from, of all columns.
struct SampleBuffers {
  ptx::Global<ptx::f32> logits;     // [columns, n_vocab], 16-byte aligned; not changed
  ptx::Global<ptx::u8> states;      // [columns * sampler_state_stride(spec)], 16-byte aligned
  ptx::Global<ptx::u32> tokens;     // [columns], out
  ptx::Global<ptx::u32> positions;  // [columns]: the counter of the random numbers
  ptx::Global<ptx::u32> error;      // [kErrorWords]
  ptx::Reg<ptx::u32> advance;       // added to the column's position after the choice
};

// Name: sample_151936_c1_t1024_r64, "_advances". Grid: blocks that share a column's logits, columns. Parameters:
// SampleBuffers in their order but `advance`, and n_columns u32 if columns > 1: at most `columns`; what lies beyond is
// neither read nor written.
// The token follows from logits, state and position alone: neither threads nor schedule nor device matter. Of equal
// logits the lower id ranks first. Weights are exp(logit - best) to 6e-6 of each, in steps of 2^-44 for 151,936 of
// them; the random number is Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011) with
// the seed as key and the position as counter. A logit that is not finite, before or after its penalty, sets the error
// word with the lowest such id, and nothing of the column is written. Throws Error for a spec outside the bounds above.
ptx::Kernel sample(const SampleSpec& spec, ptx::Target target);
std::string name_of(const SampleSpec& spec);

// The same inside another kernel, by whole blocks that have not parted, of as many threads as they have: spec.threads
// does not matter, nor how many blocks there are. `column` is the same in all of them. memory: of kSampleSharedBytes,
// 16-byte aligned, behind a barrier from other uses before and, for what comes after, behind the barrier that ends the
// body. No thread returns. The block that comes last chooses; the choice is visible to it after that barrier, and to
// others as far as the caller publishes it.
void sample_body(ptx::Builder& b, const SampleSpec& spec, const SampleBuffers& buffers,
                 const ptx::Reg<ptx::u32>& column, const VirtualBlock& block, const ptx::Shared<ptx::u8>& memory);
inline constexpr uint64_t kSampleSharedBytes =
    (uint64_t{kMostSampleThreads} * 2 + ptx::kWarpSize + 4) * sizeof(uint64_t);

}  // namespace warpchat
