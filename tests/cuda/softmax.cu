// Softmax of rows: three passes by a block, one online pass by a warp, and the logarithm of it.
#include <cuda_fp16.h>
#include <math_constants.h>

template <class Combine>
__device__ float across_block(float value, Combine combine, float* shared) {
  shared[threadIdx.x] = value;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) shared[threadIdx.x] = combine(shared[threadIdx.x], shared[threadIdx.x + half]);
    __syncthreads();
  }
  const float result = shared[0];
  __syncthreads();
  return result;
}

// y[row] = softmax(x[row]), rows of `columns`; one block of 128 threads a row.
extern "C" __global__ void softmax_block(const float* x, float* y, int columns) {
  __shared__ float shared[128];
  const float* row = x + (size_t)blockIdx.x * columns;
  float greatest = -CUDART_INF_F;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) greatest = fmaxf(greatest, row[i]);
  greatest = across_block(
      greatest, [](float a, float b) { return fmaxf(a, b); }, shared);
  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += expf(row[i] - greatest);
  sum = across_block(
      sum, [](float a, float b) { return a + b; }, shared);
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    y[(size_t)blockIdx.x * columns + i] = expf(row[i] - greatest) / sum;
}

// The same with half values, one warp a row; maximum and sum are kept up together while the row is read once.
extern "C" __global__ void softmax_warp(const __half* x, __half* y, int rows, int columns) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  const __half* from = x + (size_t)row * columns;
  float greatest = -CUDART_INF_F, sum = 0;
  for (int i = threadIdx.x; i < columns; i += 32) {
    const float value = __half2float(from[i]);
    if (value > greatest) {
      sum *= expf(greatest - value);
      greatest = value;
    }
    sum += expf(value - greatest);
  }
  for (int mask = 16; mask > 0; mask /= 2) {
    const float other_greatest = __shfl_xor_sync(0xffffffff, greatest, mask);
    const float other_sum = __shfl_xor_sync(0xffffffff, sum, mask);
    const float both = fmaxf(greatest, other_greatest);
    sum = (greatest == both ? sum : sum * expf(greatest - both)) +
          (other_greatest == both ? other_sum : other_sum * expf(other_greatest - both));
    greatest = both;
  }
  for (int i = threadIdx.x; i < columns; i += 32)
    y[(size_t)row * columns + i] = __float2half(expf(__half2float(from[i]) - greatest) / sum);
}

// y[row] = x[row] - log(sum(exp(x[row]))), one thread a row.
extern "C" __global__ void log_softmax(const float* x, float* y, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float greatest = -CUDART_INF_F, sum = 0;
  for (int i = 0; i < columns; ++i) greatest = fmaxf(greatest, x[row * columns + i]);
  for (int i = 0; i < columns; ++i) sum += expf(x[row * columns + i] - greatest);
  for (int i = 0; i < columns; ++i) y[row * columns + i] = x[row * columns + i] - greatest - logf(sum);
}
