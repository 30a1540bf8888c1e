// Gated delta nets over a prompt (chunked recurrence), 64 positions per chunk. Interactions within a chunk form a
// triangular matrix; its inverse turns the recurrence into matrix products. All are fp32, since a state lives for
// thousands of positions. Source: Yang et al., Gated Delta Networks (2024), section 3.3.
//
// In a chunk, k_i and q_i are the keys and queries divided by their lengths, v_i the values, b_i beta, and G_i the
// accumulated log decay since the chunk began. With A_ij = b_i e^(G_i - G_j) k_i . k_j below the diagonal, P_ij =
// e^(G_i - G_j) q_i . k_j on and below it, T = (I + A)^-1 diag(b), and S the state before the chunk:
//   R_i = v_i - e^G_i S^T k_i,   out = diag(e^G) Q S + P T R,   S' = e^G_64 S + sum of e^(G_64 - G_i) k_i (T R)_i^T
#pragma once
#include "kernels/delta_net/delta_net.h"

namespace warpchat {

inline constexpr uint32_t kDeltaChunk = 64;  // positions, from the first column on; the last chunk may have fewer

bool takes_chunks(const DeltaNetSpec& spec);  // whether this is a prompt of a model with delta nets

// All kernels here take a prompt's spec (one_sequence; columns: the maximum). Their last parameter, n_columns, is u32
// in [1, columns]; columns beyond it are neither read nor written. They throw Error for a spec out of bounds.

// Three kernels, in this order, replace delta_step. The first needs no state: it writes T, P T and the decay factors of
// all chunks to scratch. The second walks the chunks for 32 values of a head, updates the state and writes its
// read-out. The third normalises and gates the output.
struct DeltaChunkScratch {                                                // f32, per chunk and value head
  static constexpr uint32_t kMatrices = 0;                                // T, then P T: [2 kDeltaChunk, kDeltaChunk]
  static constexpr uint32_t kFactors = 2 * kDeltaChunk * kDeltaChunk;     // per position, [3, kDeltaChunk]:
  static constexpr uint32_t kStateReadFactors = kFactors;                 // factor on S^T k in R
  static constexpr uint32_t kOutputFactors = kFactors + kDeltaChunk;      // factor on S^T q in the output
  static constexpr uint32_t kUpdateFactors = kFactors + 2 * kDeltaChunk;  // factor on k in the state update
  static constexpr uint32_t kOfState = kFactors + 3 * kDeltaChunk;        // e^G_64
  static constexpr uint32_t kFloats = kFactors + 4 * kDeltaChunk;
};
uint64_t delta_chunk_scratch_bytes(const DeltaNetSpec& spec);  // [chunks, n_v_heads] of the above

struct DeltaChunkSharing {                       // work per block in the three kernels
  static constexpr uint32_t kThreads = 256;      // per block
  static constexpr uint32_t kSlice = 32;         // of k: the part of a left matrix in shared memory
  static constexpr uint32_t kInvertedRows = 16;  // rows of a triangular matrix that delta_prepare inverts at once
  static constexpr uint32_t kScanValues = 32;    // values of a head per block of delta_scan
};

// Parameters: qkv, alpha, beta, dt_bias, decay as in delta_step, then scratch.
ptx::Kernel delta_prepare(const DeltaNetSpec& spec, ptx::Target target);
std::string name_of_prepare(const DeltaNetSpec& spec);
ptx::Dimensions delta_prepare_grid(const DeltaNetSpec& spec, uint32_t n_columns);

// Parameters: qkv, states, positions, layer as in delta_step, then scratch, out.
ptx::Kernel delta_scan(const DeltaNetSpec& spec, ptx::Target target);
std::string name_of_scan(const DeltaNetSpec& spec);

// out = rmsnorm(out) * silu(z). Parameters: z, norm, out as in delta_step.
ptx::Kernel delta_finish(const DeltaNetSpec& spec, ptx::Target target);
std::string name_of_finish(const DeltaNetSpec& spec);
ptx::Dimensions delta_finish_grid(const DeltaNetSpec& spec, uint32_t n_columns);

}  // namespace warpchat
