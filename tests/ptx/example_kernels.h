// Whole kernels written with the builder: ptxas assembles them for every target, and the emulator runs them.
#pragma once
#include "ptx/builder.h"

namespace ptx::testing {

// sum[i] = x[i] + y[i], i < n
Kernel vector_add(uint32_t n, Target target);

// out[row, :] = softmax(in[row, :]); one block a row
Kernel softmax(uint32_t rows, uint32_t columns, Target target);

// c[m, n] = a[m, k] * b[n, k]^T in f16 with f32 sums; m and n multiples of 64, k of 32
Kernel matmul(uint32_t m, uint32_t n, uint32_t k, Target target);

// y[row] = scale[row] * (w[row, :] . x) with 8-bit integers; k a multiple of 16; one warp a row
Kernel gemv_s8(uint32_t rows, uint32_t k, Target target);

// out[i] = in[0] + ... + in[i], wrapping; one pass with look-back. state: u64 [ceil(n / 256)], ticket: u32, both zero.
Kernel scan(uint32_t n, Target target);

// Sorts groups of 1,024 numbers in place, ascending; one block each.
Kernel sort_blocks(uint32_t blocks, Target target);

// In each round, every block writes, all wait, and every block sums what all wrote. values f32 [blocks], out f32
// [blocks], arrived u32, initially zero. A cooperative launch.
Kernel grid_sums(uint32_t blocks, uint32_t rounds, Target target);

// counts[v] += occurrences of v in `in`; in u8 [n], counts u32 [256]
Kernel histogram(uint32_t n, Target target);

// c[m, n] = a[m, k] * b[n, k]^T in f16 with f32 sums by wmma; m, n and k multiples of 16; one warp a tile of 16 x 16
Kernel matmul_wmma(uint32_t m, uint32_t n, uint32_t k, Target target);

// out[i] = x[i] * y[i] + z[i], rounded once, in pairs of f16, or of bf16 from sm_80
Kernel fma_f16(uint32_t pairs, Target target);
Kernel fma_bf16(uint32_t pairs, Target target);

// sums[block] = sum of x[block, :, :], x f32 [blocks, rounds, 256]; rounds arrive by bulk copies; sm_90
Kernel bulk_sums(uint32_t blocks, uint32_t rounds, Target target);

struct ExampleKernel {
  const char* name;
  Kernel (*build)(Target target);
  Target minimum = sm_75;
};
inline constexpr ExampleKernel kExampleKernels[] = {
    {"vector_add", [](Target t) { return vector_add(1000, t); }},
    {"softmax", [](Target t) { return softmax(5, 777, t); }},
    {"matmul", [](Target t) { return matmul(128, 192, 96, t); }},
    {"gemv_s8", [](Target t) { return gemv_s8(37, 272, t); }},
    {"scan", [](Target t) { return scan(5000, t); }},
    {"sort_blocks", [](Target t) { return sort_blocks(3, t); }},
    {"grid_sums", [](Target t) { return grid_sums(6, 4, t); }},
    {"histogram", [](Target t) { return histogram(3000, t); }},
    {"matmul_wmma", [](Target t) { return matmul_wmma(32, 48, 64, t); }},
    {"fma_f16", [](Target t) { return fma_f16(500, t); }},
    {"fma_bf16", [](Target t) { return fma_bf16(500, t); }, sm_80},
    {"bulk_sums", [](Target t) { return bulk_sums(3, 5, t); }, sm_90},
};

}  // namespace ptx::testing
