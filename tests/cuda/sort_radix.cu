// A stable radix sort, 4 bits a pass: count digits by block, turn counts into offsets, scatter by rank.
// 256 threads a block, one key each; counts[digit][block] lets one scan over the array give every offset.

constexpr int kDigits = 16;

extern "C" __global__ void count_digits(const unsigned* keys, int n, int shift, unsigned* counts) {
  __shared__ unsigned histogram[kDigits];
  if (threadIdx.x < kDigits) histogram[threadIdx.x] = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&histogram[keys[i] >> shift & (kDigits - 1)], 1);
  __syncthreads();
  if (threadIdx.x < kDigits) counts[threadIdx.x * gridDim.x + blockIdx.x] = histogram[threadIdx.x];
}

// counts[i] = the sum of all counts before i; one block walks the array.
extern "C" __global__ void offsets_of_counts(unsigned* counts, int n) {
  __shared__ unsigned buffer[256];
  unsigned before = 0;
  for (int start = 0; start < n; start += 256) {
    const int i = start + threadIdx.x;
    const unsigned count = i < n ? counts[i] : 0;
    buffer[threadIdx.x] = count;
    __syncthreads();
    for (int distance = 1; distance < 256; distance *= 2) {
      const unsigned other = threadIdx.x >= distance ? buffer[threadIdx.x - distance] : 0;
      __syncthreads();
      buffer[threadIdx.x] += other;
      __syncthreads();
    }
    if (i < n) counts[i] = before + buffer[threadIdx.x] - count;
    before += buffer[255];
    __syncthreads();
  }
}

extern "C" __global__ void scatter(const unsigned* keys, int n, int shift, const unsigned* offsets, unsigned* sorted) {
  __shared__ unsigned warp_counts[8][kDigits];
  const int i = blockIdx.x * blockDim.x + threadIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x < 8 * kDigits) warp_counts[threadIdx.x / kDigits][threadIdx.x % kDigits] = 0;
  __syncthreads();
  const unsigned key = i < n ? keys[i] : 0, digit = i < n ? key >> shift & (kDigits - 1) : kDigits;
  const unsigned peers = __match_any_sync(0xffffffff, digit);
  const unsigned rank = __popc(peers & ((1u << lane) - 1));
  if (rank == 0 && i < n) warp_counts[warp][digit] = __popc(peers);
  __syncthreads();
  if (i >= n) return;
  unsigned to = offsets[digit * gridDim.x + blockIdx.x] + rank;
  for (int w = 0; w < warp; ++w) to += warp_counts[w][digit];
  sorted[to] = key;
}
