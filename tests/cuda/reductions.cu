// Sums, minima and maxima: a warp's by shuffles, a block's through shared memory, a grid's by atomics or its last block.

__device__ float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffff, value, offset);
  return value;
}

// sums[block] = the sum of the block's grid-stride share of x[n]; the tree halves shared[blockDim.x], a power of two.
extern "C" __global__ void block_sums(const float* x, int n, float* sums) {
  extern __shared__ float shared[];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  shared[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = shared[0];
}

// *sum += the sum of x[n]; one atomic a warp.
extern "C" __global__ void warp_sums(const float* x, int n, float* sum) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float total = warp_sum(i < n ? x[i] : 0.0f);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, total);
}

// *sum = the sum of x[n] in one launch: the block that finishes last adds the partial sums of all, in their order.
extern "C" __global__ void last_block_sum(const double* x, int n, double* partial, unsigned* finished, double* sum) {
  __shared__ double shared[256];
  __shared__ bool is_last;
  double mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) mine += x[i];
  shared[threadIdx.x] = mine;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = shared[0];
    __threadfence();
    is_last = atomicInc(finished, gridDim.x - 1) == gridDim.x - 1;  // the counter wraps to 0 for the next launch
    __threadfence();
  }
  __syncthreads();
  if (!is_last || threadIdx.x != 0) return;
  double total = 0;
  for (unsigned block = 0; block < gridDim.x; ++block) total += ((volatile double*)partial)[block];
  *sum = total;
}

// *least = min, *greatest = max of x[n].
extern "C" __global__ void extremes(const int* x, int n, int* least, int* greatest) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  atomicMin(least, x[i]);
  atomicMax(greatest, x[i]);
}

// *best = (value bits << 32 | index) of the smallest non-negative x[i], the lowest index among equals.
extern "C" __global__ void arg_min(const float* x, unsigned n, unsigned long long* best) {
  unsigned long long mine = ~0ull;
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) {
    const unsigned long long candidate = (unsigned long long)__float_as_uint(x[i]) << 32 | i;
    if (candidate < mine) mine = candidate;
  }
  for (int mask = 16; mask > 0; mask /= 2) {
    const unsigned long long other = __shfl_xor_sync(0xffffffff, mine, mask);
    if (other < mine) mine = other;
  }
  if (threadIdx.x % 32 == 0) atomicMin(best, mine);
}
