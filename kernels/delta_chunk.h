// Gated delta nets over a prompt, in chunks of 64 positions: what the positions of a chunk do to each other is a
// triangular matrix, whose inverse turns the recurrence over them into products of matrices. They are of fp32: a state
// outlives thousands of positions. Source: Yang et al., Gated Delta Networks (2024), section 3.3.
//
// In a chunk k_i, q_i, v_i are the keys and queries divided by their lengths, and the values, b_i what is learnt, and
// G_i the logarithm of what the state has faded since the chunk began. With A_ij = b_i e^(G_i - G_j) k_i . k_j below
// the diagonal, P_ij = e^(G_i - G_j) q_i . k_j there and on it, T = (I + A)^-1 diag(b), and S the state before the
// chunk:
//   R_i = v_i - e^G_i S^T k_i,   out = diag(e^G) Q S + P T R,   S' = e^G_64 S + sum of e^(G_64 - G_i) k_i (T R)_i^T
#pragma once
#include "kernels/delta_net.h"

namespace warpchat {

inline constexpr uint32_t kDeltaChunk = 64;  // positions, from the first column on; the last chunk may have fewer

bool takes_chunks(const DeltaNetSpec& spec);  // a prompt, of a model that has delta nets

// All take the spec of a prompt: one_sequence, and columns the most there may be. Their last parameter is n_columns:
// u32, 1 to columns; what lies beyond is neither read nor written. They throw Error for a spec out of bounds.

// The three kernels that do what delta_step does, in their order. The first knows no state: it writes T, P T and what
// has faded of all chunks into the scratch. The second goes over the chunks of a head and 32 of its values, and writes
// what is read of the state. The third makes it the output.
struct DeltaChunkScratch {                                             // f32, of a chunk of a value head
  static constexpr uint32_t kMatrices = 0;                             // T, then P T: [2 kDeltaChunk, kDeltaChunk]
  static constexpr uint32_t kFactors = 2 * kDeltaChunk * kDeltaChunk;  // of the positions, [3, kDeltaChunk]:
  static constexpr uint32_t kOfFound = kFactors;                       // of S^T k in R
  static constexpr uint32_t kOfRead = kFactors + kDeltaChunk;          // of S^T q in the output
  static constexpr uint32_t kOfLearnt = kFactors + 2 * kDeltaChunk;    // of k in the state
  static constexpr uint32_t kOfState = kFactors + 3 * kDeltaChunk;     // e^G_64
  static constexpr uint32_t kFloats = kFactors + 4 * kDeltaChunk;
};
uint64_t delta_chunk_scratch_bytes(const DeltaNetSpec& spec);  // [chunks, n_v_heads] of those

struct DeltaChunkSharing {                       // how the blocks of the three share the work
  static constexpr uint32_t kThreads = 256;      // of a block
  static constexpr uint32_t kSlice = 32;         // of k: what shared memory has of a left matrix at once
  static constexpr uint32_t kInvertedRows = 16;  // of a chunk's triangular matrix, by delta_prepare at once
  static constexpr uint32_t kScanValues = 32;    // of a head, in a block of delta_scan
};

// Parameters: qkv, alpha, beta, dt_bias, decay as of delta_step, scratch.
ptx::Kernel delta_prepare(const DeltaNetSpec& spec, ptx::Target target);
std::string name_of_prepare(const DeltaNetSpec& spec);
ptx::Dimensions delta_prepare_grid(const DeltaNetSpec& spec, uint32_t n_columns);

// Parameters: qkv, states, positions, layer as of delta_step, scratch, out.
ptx::Kernel delta_scan(const DeltaNetSpec& spec, ptx::Target target);
std::string name_of_scan(const DeltaNetSpec& spec);

// out = rmsnorm(out) * silu(z). Parameters: z, norm, out as of delta_step.
ptx::Kernel delta_finish(const DeltaNetSpec& spec, ptx::Target target);
std::string name_of_finish(const DeltaNetSpec& spec);
ptx::Dimensions delta_finish_grid(const DeltaNetSpec& spec, uint32_t n_columns);

}  // namespace warpchat
