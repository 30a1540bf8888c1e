// f16 activations, converted once for all GEMMs that read them (kernels/matmul/gemm.h), with optional RMSNorm. Each
// column is scaled by a power of two so that nothing overflows. Rounding to 11 bits makes an error below 5e-4 of a
// column's norm.
#pragma once
#include <cstdint>
#include <string>

#include "ptx/kernel.h"

namespace warpchat {

// One kernel for every k that is a multiple of 4, one for any k; both with or without RMSNorm.
struct F16ActivationsSpec {
  float eps = 0;          // for RMSNorm; not part of the name, as it is constant in a model
  bool has_quads = true;  // every k is a multiple of 4
};

// A column is its f16 values, padded to a multiple of 128, and the means of each 16, for weight formats with a minimum.
// A mean is two f16: the rounded mean and its remainder.
inline constexpr uint32_t kF16ActivationStep = 128, kHalfMeanValues = 16;
constexpr uint64_t f16_activation_values(uint64_t k) {
  return (k + kF16ActivationStep - 1) / kF16ActivationStep * kF16ActivationStep;
}
constexpr uint64_t f16_activation_size(uint64_t k) {  // including its means
  return f16_activation_values(k) + f16_activation_values(k) / kHalfMeanValues * 2;
}

// Kernels whose results fit f16 may write this layout directly, with factors of 1.
//
// Parameters in order:
//   x        f32 [n_columns, k], 16-byte aligned
//   gamma    f32 [k], or null for no RMSNorm
//   halves   f16 [n_columns, f16_activation_size(k)], 16-byte aligned; zero beyond k. In each 32 values, octet t has
//            4 t to 4 t + 3 and 16 + 4 t to 16 + 4 t + 3: lane t's part of mma's second operand. The means follow;
//            they are means of the f16 values, not of x
//   factors  f32 [n_columns]: column = factor * f16 values
//   k        u32, at least 1
// Launch one block per column. NaN and infinite values stay so in f16.
ptx::Kernel f16_activations(const F16ActivationsSpec& spec, ptx::Target target);
std::string name_of(const F16ActivationsSpec& spec);  // f16_activations, f16_activations_k1 for any k
uint64_t f16_activations_bytes(uint32_t k, bool normalises, uint64_t n_columns);

// Values per turn of a block: three octets per thread.
inline constexpr uint32_t kF16ActivationThreads = 256, kF16ActivationTurn = kF16ActivationThreads * 3 * 8;
// Limited by registers; single values need more of them.
constexpr uint32_t f16_activation_blocks_per_sm(bool has_quads) { return has_quads ? 2 : 1; }

}  // namespace warpchat
