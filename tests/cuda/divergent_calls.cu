// Lanes that leave a loop at very different times and meet again inside a function that they call.

__device__ __noinline__ int warp_sum(int mine) {
  for (int step = 16; step > 0; step /= 2) mine += __shfl_xor_sync(~0u, mine, step);
  return mine;
}

// Sum over a block of `n_warps` warps.
__device__ __noinline__ int block_sum(int mine, int n_warps) {
  __shared__ int of_warp[32];
  const int sum = warp_sum(mine);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
  __syncthreads();
  int all = 0;
  for (int k = 0; k < n_warps; ++k) all += of_warp[k];
  __syncthreads();
  return all;
}

__device__ int euclid_steps(unsigned a, unsigned b) {  // by subtraction: up to a + b steps
  int steps = 0;
  while (a != b) {
    if (a > b)
      a -= b;
    else
      b -= a;
    ++steps;
  }
  return steps;
}

// to[0][i] = steps of thread i's pair of numbers, to[1][i] = their sum over its warp, to[2][i] over its block.
extern "C" __global__ void uneven_loops(const unsigned* from, int* to, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int steps = euclid_steps(from[i], 1);
  to[i] = steps;
  to[n + i] = warp_sum(steps);
  to[2 * n + i] = block_sum(steps, blockDim.x / 32);
}

// Odd lanes call behind a loop of their own length, the others at once: each half votes among itself.
__device__ __noinline__ unsigned lanes_that(bool hold, unsigned mask) { return __ballot_sync(mask, hold); }
extern "C" __global__ void calls_on_both_ways(const unsigned* from, unsigned* to) {
  const unsigned lane = threadIdx.x;
  if (lane % 2) {
    unsigned mixed = 0;
    for (unsigned k = 0; k < from[lane]; ++k) mixed = mixed * 5 + k;
    to[lane] = lanes_that(mixed % 3 == 0, 0xaaaaaaaa);
  } else {
    to[lane] = lanes_that(from[lane] % 3 == 0, 0x55555555);
  }
}
