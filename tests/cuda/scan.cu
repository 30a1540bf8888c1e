// Prefix sums: within a block, and of a whole array in one pass with decoupled look-back between the blocks.

// y[i] = x[0] + ... + x[i], one block of blockDim.x >= n threads; doubling distances through two shared buffers.
extern "C" __global__ void block_scan(const int* x, int n, int* y) {
  __shared__ int buffers[2][1024];
  int from = 0;
  buffers[0][threadIdx.x] = threadIdx.x < n ? x[threadIdx.x] : 0;
  __syncthreads();
  for (int distance = 1; distance < blockDim.x; distance *= 2) {
    int value = buffers[from][threadIdx.x];
    if (threadIdx.x >= distance) value += buffers[from][threadIdx.x - distance];
    buffers[1 - from][threadIdx.x] = value;
    from = 1 - from;
    __syncthreads();
  }
  if (threadIdx.x < n) y[threadIdx.x] = buffers[from][threadIdx.x];
}

// A tile's word in global memory: its state in the high half, a sum in the low half.
enum TileState : unsigned { kEmpty = 0, kSumOfTile = 1, kSumToHere = 2 };

__device__ unsigned long long tile_word(TileState state, unsigned sum) { return (unsigned long long)state << 32 | sum; }

__device__ unsigned warp_scan(unsigned value) {
  const unsigned lane = threadIdx.x % 32;
  for (int distance = 1; distance < 32; distance *= 2) {
    const unsigned before = __shfl_up_sync(0xffffffff, value, distance);
    if (lane >= distance) value += before;
  }
  return value;
}

// The sum of all tiles before `tile`, by one warp that reads 32 predecessors at a time and waits for empty ones.
__device__ unsigned look_back(const volatile unsigned long long* tiles, int tile) {
  const int lane = threadIdx.x % 32;
  unsigned sum = 0;
  for (int last = tile - 1; last >= 0; last -= 32) {
    const int mine = last - lane;
    unsigned long long word;
    do {
      word = mine >= 0 ? tiles[mine] : tile_word(kSumToHere, 0);
    } while (__any_sync(0xffffffff, (word >> 32) == kEmpty));
    const unsigned complete = __ballot_sync(0xffffffff, (word >> 32) == kSumToHere);
    const int stop = complete ? __ffs(complete) - 1 : 31;
    unsigned part = lane <= stop ? (unsigned)word : 0;
    for (int offset = 16; offset > 0; offset /= 2) part += __shfl_down_sync(0xffffffff, part, offset);
    sum += __shfl_sync(0xffffffff, part, 0);
    if (complete) break;
  }
  return sum;
}

// y[i] = x[0] + ... + x[i] modulo 2^32; 256 threads a block, one element each. next_tile and tiles[] start as 0.
extern "C" __global__ void scan_look_back(const unsigned* x, int n, unsigned* y, unsigned* next_tile,
                                          unsigned long long* tiles) {
  __shared__ unsigned warp_totals[8];
  __shared__ unsigned sum_before;
  __shared__ int shared_tile;
  if (threadIdx.x == 0) shared_tile = atomicAdd(next_tile, 1);  // tiles in the order in which blocks start
  __syncthreads();
  const int tile = shared_tile, i = tile * 256 + threadIdx.x, warp = threadIdx.x / 32;
  unsigned sum = warp_scan(i < n ? x[i] : 0);
  if (threadIdx.x % 32 == 31) warp_totals[warp] = sum;
  __syncthreads();
  unsigned tile_total = 0;
  for (int w = 0; w < 8; ++w) {
    if (w < warp) sum += warp_totals[w];
    tile_total += warp_totals[w];
  }
  if (warp == 0) {
    volatile unsigned long long* words = tiles;
    if (threadIdx.x == 0) words[tile] = tile_word(tile == 0 ? kSumToHere : kSumOfTile, tile_total);
    const unsigned before = tile == 0 ? 0 : look_back(words, tile);
    if (threadIdx.x == 0) {
      if (tile > 0) words[tile] = tile_word(kSumToHere, before + tile_total);
      sum_before = before;
    }
  }
  __syncthreads();
  if (i < n) y[i] = sum_before + sum;
}
