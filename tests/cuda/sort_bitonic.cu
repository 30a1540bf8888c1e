// Bitonic sorting networks: a block's worth in shared memory, and single steps of a network over global memory.

// Sorts each block's 512 keys; 256 threads a block, one compare-exchange a thread and step.
extern "C" __global__ void sort_block(unsigned* keys) {
  __shared__ unsigned shared[512];
  unsigned* mine = keys + blockIdx.x * 512;
  shared[threadIdx.x] = mine[threadIdx.x];
  shared[threadIdx.x + 256] = mine[threadIdx.x + 256];
  for (unsigned run = 2; run <= 512; run *= 2) {
    for (unsigned distance = run / 2; distance > 0; distance /= 2) {
      __syncthreads();
      const unsigned low = 2 * threadIdx.x - (threadIdx.x & (distance - 1)), high = low + distance;
      const bool ascending = (low & run) == 0;
      const unsigned a = shared[low], b = shared[high];
      if ((a > b) == ascending) {
        shared[low] = b;
        shared[high] = a;
      }
    }
  }
  __syncthreads();
  mine[threadIdx.x] = shared[threadIdx.x];
  mine[threadIdx.x + 256] = shared[threadIdx.x + 256];
}

struct Pair {
  float key;
  int value;
};

// One step of a network over n pairs, n a power of two; one thread an element, the lower of two exchanges.
extern "C" __global__ void bitonic_step(Pair* pairs, unsigned run, unsigned distance) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ distance;
  if (other < i) return;
  const Pair a = pairs[i], b = pairs[other];
  if ((i & run) == 0 ? a.key > b.key : a.key < b.key) {
    pairs[i] = b;
    pairs[other] = a;
  }
}

// Sorts 32 signed keys a warp with shuffles alone.
extern "C" __global__ void sort_warp(long long* keys) {
  const unsigned lane = threadIdx.x % 32;
  long long key = keys[blockIdx.x * blockDim.x + threadIdx.x];
  for (unsigned run = 2; run <= 32; run *= 2) {
    for (unsigned distance = run / 2; distance > 0; distance /= 2) {
      const long long other = __shfl_xor_sync(0xffffffff, key, distance);
      const bool keep_smaller = ((lane & distance) == 0) == ((lane & run) == 0);
      key = keep_smaller == (other < key) ? other : key;
    }
  }
  keys[blockIdx.x * blockDim.x + threadIdx.x] = key;
}
