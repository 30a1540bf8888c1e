// y[row] = W[row] . x for quantised W and x, the heart of decoding a token; also the emulator's speed benchmark.
// Q4_K: 256 weights in 144 bytes, w = d * scale * q - dmin * min with eight 6-bit scales and minima.
// Q8_0: 32 weights in 34 bytes, w = d * q. x is quantised in blocks of 32: x = d * q, and the sum of the block's x.
#include <cuda_fp16.h>

struct __align__(4) BlockX {
  __half2 scale_and_sum;
  signed char q[32];
};
struct BlockQ8 {
  __half scale;
  signed char q[32];
};
struct __align__(16) BlockQ4K {
  __half2 scale_and_min;
  unsigned char scales[12];  // six bits each: eight scales, eight minima
  unsigned char q[128];      // 32 bytes for 64 weights: low nibbles are weights 0..31, high nibbles 32..63
};

__device__ float warp_sum(float value) {
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) value += __shfl_xor_sync(0xffffffff, value, mask);
  return value;
}

// x[blocks of 32] -> BlockX; one warp a block.
extern "C" __global__ void quantise_x(const float* x, BlockX* to, int blocks) {
  const int block = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (block >= blocks) return;
  const float value = x[block * 32 + lane];
  float greatest = fabsf(value);
  for (int mask = 16; mask > 0; mask /= 2) greatest = fmaxf(greatest, __shfl_xor_sync(0xffffffff, greatest, mask));
  const float scale = greatest / 127.0f;
  to[block].q[lane] = greatest == 0.0f ? 0 : (signed char)roundf(value / scale);
  const float sum = warp_sum(value);
  if (lane == 0) to[block].scale_and_sum = make_half2(__float2half(scale), __float2half(sum));
}

// Scale and minimum of sub-block `i` from the 12 packed bytes, as two words and the third.
__device__ void scale_and_min(const unsigned* packed, int i, int& scale, int& least) {
  const unsigned char* bytes = (const unsigned char*)packed;
  if (i < 4) {
    scale = bytes[i] & 63;
    least = bytes[i + 4] & 63;
  } else {
    scale = (bytes[i + 4] & 15) | bytes[i - 4] >> 6 << 4;
    least = bytes[i + 4] >> 4 | bytes[i] >> 6 << 4;
  }
}

// Four warps a block, one row a warp; eight lanes share a block of 256 weights, 16 bytes of nibbles each.
extern "C" __global__ void __launch_bounds__(128)
    gemv_q4k(const BlockQ4K* __restrict__ weights, const BlockX* __restrict__ x, float* __restrict__ y, int rows,
             int blocks_per_row) {
  const int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const BlockQ4K* mine = weights + (size_t)row * blocks_per_row;
  const int part = lane % 8, pair = part / 2, half = part % 2;  // of four 64-weight pairs of sub-blocks, of 32 bytes
  float sum = 0;
  for (int b = lane / 8; b < blocks_per_row; b += 4) {
    const uint4 head = *(const uint4*)&mine[b];  // scale, minimum and packed scales
    const uint4 q = *(const uint4*)&mine[b].q[pair * 32 + half * 16];
    const BlockX* low = x + b * 8 + pair * 2;
    const BlockX* high = low + 1;
    const int* x_low = (const int*)low->q + half * 4;
    const int* x_high = (const int*)high->q + half * 4;
    const unsigned words[4] = {q.x, q.y, q.z, q.w}, packed[3] = {head.y, head.z, head.w};
    int dot_low = 0, dot_high = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      dot_low = __dp4a((int)(words[i] & 0x0f0f0f0f), x_low[i], dot_low);
      dot_high = __dp4a((int)(words[i] >> 4 & 0x0f0f0f0f), x_high[i], dot_high);
    }
    int scale_low, least_low, scale_high, least_high;
    scale_and_min(packed, pair * 2, scale_low, least_low);
    scale_and_min(packed, pair * 2 + 1, scale_high, least_high);
    const float2 d = __half22float2(*(const __half2*)&head.x);
    const float2 dx_low = __half22float2(low->scale_and_sum), dx_high = __half22float2(high->scale_and_sum);
    sum += d.x * (scale_low * dot_low * dx_low.x + scale_high * dot_high * dx_high.x);
    if (half == 0) sum -= d.y * (least_low * dx_low.y + least_high * dx_high.y);
  }
  sum = warp_sum(sum);
  if (lane == 0) y[row] = sum;
}

// Four warps a block, one row a warp, one block of 32 weights a lane and step; its bytes are only 2-byte aligned.
extern "C" __global__ void __launch_bounds__(128)
    gemv_q8_0(const BlockQ8* __restrict__ weights, const BlockX* __restrict__ x, float* __restrict__ y, int rows,
              int blocks_per_row) {
  const int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const BlockQ8* mine = weights + (size_t)row * blocks_per_row;
  float sum = 0;
  for (int b = lane; b < blocks_per_row; b += 32) {
    const unsigned short* halves = (const unsigned short*)mine[b].q;
    const int* from = (const int*)x[b].q;
    int dot = 0;
#pragma unroll
    for (int i = 0; i < 8; ++i) dot = __dp4a((int)(halves[2 * i] | (unsigned)halves[2 * i + 1] << 16), from[i], dot);
    sum += __half2float(mine[b].scale) * __low2float(x[b].scale_and_sum) * dot;
  }
  sum = warp_sum(sum);
  if (lane == 0) y[row] = sum;
}
