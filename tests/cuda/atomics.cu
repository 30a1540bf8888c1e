// Atomic operations of every type on global and shared memory, in every scope.
// Thread i works on cell i % n_cells with operand[i] and keeps the value it found in old[i]; every kernel is one
// operation, so that the cells' last values, or the multiset of found values, are known whatever the order.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define ATOMIC_NAMED(name, type, operation)                                                          \
  extern "C" __global__ void name(type* cells, int n_cells, const type* operand, type* old, int n) { \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                                             \
    if (i < n) old[i] = operation(&cells[i % n_cells], operand[i]);                                  \
  }
#define ATOMIC(suffix, type, operation) ATOMIC_NAMED(operation##_##suffix, type, operation)

// Without a use of the old value nvcc writes red instead of atom.
#define REDUCE(suffix, type, operation)                                                                            \
  extern "C" __global__ void operation##_##suffix##_unused(type* cells, int n_cells, const type* operand, int n) { \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                                                           \
    if (i < n) operation(&cells[i % n_cells], operand[i]);                                                         \
  }

using u64 = unsigned long long;

ATOMIC(s32, int, atomicAdd)
ATOMIC(u32, unsigned, atomicAdd)
ATOMIC(u64, u64, atomicAdd)
ATOMIC(f32, float, atomicAdd)
ATOMIC(f64, double, atomicAdd)
ATOMIC(f16, __half, atomicAdd)
ATOMIC(f16x2, __half2, atomicAdd)
ATOMIC(bf16, __nv_bfloat16, atomicAdd)
ATOMIC(bf16x2, __nv_bfloat162, atomicAdd)
ATOMIC(s32, int, atomicSub)
ATOMIC(u32, unsigned, atomicSub)
ATOMIC(u32, unsigned, atomicExch)
ATOMIC(u64, u64, atomicExch)
ATOMIC(f32, float, atomicExch)
ATOMIC(s32, int, atomicMin)
ATOMIC(u32, unsigned, atomicMin)
ATOMIC(s64, long long, atomicMin)
ATOMIC(u64, u64, atomicMin)
ATOMIC(s32, int, atomicMax)
ATOMIC(u32, unsigned, atomicMax)
ATOMIC(s64, long long, atomicMax)
ATOMIC(u64, u64, atomicMax)
ATOMIC(u32, unsigned, atomicInc)
ATOMIC(u32, unsigned, atomicDec)
ATOMIC(u32, unsigned, atomicAnd)
ATOMIC(u64, u64, atomicAnd)
ATOMIC(u32, unsigned, atomicOr)
ATOMIC(u64, u64, atomicOr)
ATOMIC(u32, unsigned, atomicXor)
ATOMIC(u64, u64, atomicXor)

ATOMIC(u32, unsigned, atomicAdd_block)
ATOMIC(u64, u64, atomicAdd_system)
ATOMIC(f32, float, atomicAdd_system)
ATOMIC(s32, int, atomicMax_system)
ATOMIC(u32, unsigned, atomicOr_block)

REDUCE(u32, unsigned, atomicAdd)
REDUCE(u64, u64, atomicAdd)
REDUCE(f32, float, atomicAdd)
REDUCE(f64, double, atomicAdd)
REDUCE(f16x2, __half2, atomicAdd)
REDUCE(s32, int, atomicMin)
REDUCE(u64, u64, atomicMax)
REDUCE(u32, unsigned, atomicAnd)
REDUCE(u32, unsigned, atomicXor)
REDUCE(u32, unsigned, atomicInc)

#if __CUDA_ARCH__ >= 900
ATOMIC(float2, float2, atomicAdd)
ATOMIC(float4, float4, atomicAdd)

struct __align__(16) Wide {
  u64 low, high;
};
__device__ Wide exchange(Wide* cell, Wide value) { return atomicExch(cell, value); }
ATOMIC_NAMED(atomicExch_b128, Wide, exchange)
#endif

// cells[i % n_cells] *= operand[i] modulo 2^16, 2^32, 2^64 through compare-and-swap.
template <class T>
__device__ void multiply_into(T* cell, T factor) {
  T seen = *(volatile T*)cell, expected;
  do {
    expected = seen;
    seen = atomicCAS(cell, expected, (T)(expected * factor));
  } while (seen != expected);
}

#define MULTIPLY(suffix, type)                                                                         \
  extern "C" __global__ void multiply_##suffix(type* cells, int n_cells, const type* operand, int n) { \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                                               \
    if (i < n) multiply_into(&cells[i % n_cells], operand[i]);                                         \
  }
MULTIPLY(u16, unsigned short)
MULTIPLY(u32, unsigned)
MULTIPLY(u64, u64)

// The block's histogram of bytes in shared memory, then added to the grid's.
extern "C" __global__ void histogram(const unsigned char* bytes, int n, unsigned* bins) {
  __shared__ unsigned shared[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) shared[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd_block(&shared[bytes[i]], 1);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    if (shared[i]) atomicAdd(&bins[i], shared[i]);
}

// Shared memory: sum, greatest and bits of the block's operands, and a double sum; one block.
extern "C" __global__ void shared_atomics(const int* operand, int* results, double* double_sum, u64* wide_least) {
  __shared__ int sum, greatest;
  __shared__ unsigned bits;
  __shared__ double wide_sum;
  __shared__ u64 least;
  if (threadIdx.x == 0) {
    sum = 0;
    greatest = -2147483647 - 1;
    bits = 0;
    wide_sum = 0;
    least = ~0ull;
  }
  __syncthreads();
  atomicAdd(&sum, operand[threadIdx.x]);
  atomicMax(&greatest, operand[threadIdx.x]);
  atomicOr(&bits, 1u << (operand[threadIdx.x] & 31));
  atomicAdd(&wide_sum, operand[threadIdx.x] * 0.5);
  atomicMin(&least, (u64)operand[threadIdx.x] * 3);
  __syncthreads();
  if (threadIdx.x != 0) return;
  results[0] = sum;
  results[1] = greatest;
  results[2] = (int)bits;
  *double_sum = wide_sum;
  *wide_least = least;
}

// One pointer, either memory: the loop adds to shared cells in odd threads and to global ones in even threads.
extern "C" __global__ void generic_atomics(unsigned* cells) {
  __shared__ unsigned shared[4];
  if (threadIdx.x < 4) shared[threadIdx.x] = 0;
  __syncthreads();
  unsigned* cell = threadIdx.x % 2 ? &shared[threadIdx.x / 2 % 4] : &cells[threadIdx.x / 2 % 4];
  atomicAdd(cell, threadIdx.x);
  __syncthreads();
  if (threadIdx.x < 4) cells[4 + threadIdx.x] = shared[threadIdx.x];
}
