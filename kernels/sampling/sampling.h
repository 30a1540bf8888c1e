// Samples the next token on the device: penalties, top_k, top_p, min_p, temperature and one draw, in this order, as
// defined in engine/sampler.h. Settings, recent tokens, position and the token stay in device memory, so a captured
// graph or a persistent kernel needs no host. The logits are not modified.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "kernels/common/columns.h"
#include "kernels/common/virtual_block.h"

namespace warpchat {

inline constexpr uint32_t kLargestSampleRing = 1u << 24, kMaxSampleThreads = 1024;

struct SampleSpec {
  uint32_t n_vocab;         // logits per column
  uint32_t columns = 1;     // sequences, each with its own state
  uint32_t threads = 1024;  // per block of the separate kernel: a multiple of 32, at most 1,024
  uint32_t ring = 64;       // recent tokens in a state: a power of two up to kLargestSampleRing
  bool advances = false;    // positions[column] += 1 after sampling
};

// The smallest ring that holds every token of a context, up to the maximum ring.
inline uint32_t sample_ring(uint32_t context) { return std::bit_ceil(std::min(context, kLargestSampleRing)); }

// A column's sampling state in device memory; settings as in SamplingParams. Then u32 [spec.ring]: accepted token i at
// i modulo spec.ring. Then, 16-byte aligned, u32 [n_vocab]: occurrences in the penalty window. Then, 16-byte aligned,
// u64 [sample_slots]: communication between blocks. The kernel keeps all of it up to date; without penalties it reads
// neither ring nor counts.
struct SamplerState {
  float repeat_penalty = 1, presence_penalty = 0, frequency_penalty = 0;
  uint32_t penalty_window = 0;                                  // tokens in the penalty window, limited by the ring
  uint32_t top_k = 0;                                           // 0: off
  float top_p = 1;                                              // 1: off
  float temperature = 0;                                        // 0: the argmax
  uint32_t n_arrived = 0;                                       // blocks that have arrived at the current choice
  double log_min_p = -std::numeric_limits<double>::infinity();  // ln(min_p); -infinity: off
  uint64_t seed = 0;
  uint64_t n_accepted = 0;
};
static_assert(sizeof(SamplerState) == 56);

// Size of one column's state, and a packed state that has accepted `recent`. It contains only what the kernel reads;
// the rest may hold anything.
uint64_t sampler_state_stride(const SampleSpec& spec);
uint64_t sampler_counts_offset(const SampleSpec& spec);  // of the token counts, in a column's state
uint64_t sampler_slots_offset(const SampleSpec& spec);
inline constexpr uint32_t kSampleSlotLogits = 128;  // per warp, four per lane
inline uint32_t sample_slots(const SampleSpec& spec) { return ceil_div(spec.n_vocab, kSampleSlotLogits); }
std::vector<uint8_t> packed_sampler_state(const SampleSpec& spec, SamplerState state, std::span<const uint32_t> recent);

// Buffers of a sampling block, for all columns.
struct SampleBuffers {
  ptx::Global<ptx::f32> logits;     // [columns, n_vocab], 16-byte aligned; not changed
  ptx::Global<ptx::u8> states;      // [columns * sampler_state_stride(spec)], 16-byte aligned
  ptx::Global<ptx::u32> tokens;     // [columns], output
  ptx::Global<ptx::u32> positions;  // [columns]: counter of the random numbers
  ptx::Global<ptx::u32> error;      // [kErrorWords]
  ptx::Reg<ptx::u32> advance;       // added to the column's position after the choice
};

// Name: sample_151936_c1_t1024_r64, "_advances". Grid: blocks that share a column's logits, columns. Parameters:
// SampleBuffers in order without `advance`, and n_columns u32 if columns > 1: at most `columns`; columns beyond are
// neither read nor written.
// The token depends only on logits, state and position, not on threads, schedule or device. Ties go to the lower id.
// Weights are exp(logit - best), each to 6e-6, in steps of 2^-44 for a vocabulary of 151,936. The random number is
// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011) with the seed as key and the
// position as counter. A logit that is not finite, before or after its penalty, sets the error word with the lowest
// such id, and nothing is written for the column. Throws Error for a spec outside the bounds above.
ptx::Kernel sample(const SampleSpec& spec, ptx::Target target);
std::string name_of(const SampleSpec& spec);

// The same inside another kernel, by any number of whole convergent blocks of any size (spec.threads is ignored).
// `column` is uniform. memory: kSampleSharedBytes, 16-byte aligned; a barrier must separate it from earlier uses, and
// the body ends with one. No thread exits. The last block to arrive samples; the token is visible to that block after
// the final barrier, and to others when the caller publishes it.
void sample_body(ptx::Builder& b, const SampleSpec& spec, const SampleBuffers& buffers,
                 const ptx::Reg<ptx::u32>& column, const VirtualBlock& block, const ptx::Shared<ptx::u8>& memory);
inline constexpr uint64_t kSampleSharedBytes =
    (uint64_t{kMaxSampleThreads} * 2 + ptx::kWarpSize + 4) * sizeof(uint64_t);

}  // namespace warpchat
