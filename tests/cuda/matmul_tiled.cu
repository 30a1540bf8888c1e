// c[m][n] = a[m][k] * b[k][n], row-major, on the ordinary cores: tiles in shared memory, tiles in registers.

template <class T>
__device__ void multiply_tile(const T* a, const T* b, T* c, int m, int n, int k) {
  __shared__ T tile_a[16][16], tile_b[16][17];
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  T sum = 0;
  for (int start = 0; start < k; start += 16) {
    const int ka = start + threadIdx.x, kb = start + threadIdx.y;
    tile_a[threadIdx.y][threadIdx.x] = row < m && ka < k ? a[row * k + ka] : T(0);
    tile_b[threadIdx.y][threadIdx.x] = column < n && kb < k ? b[kb * n + column] : T(0);
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}

// Blocks of 16 x 16 threads, any m, n, k.
extern "C" __global__ void matmul_f32(const float* a, const float* b, float* c, int m, int n, int k) {
  multiply_tile(a, b, c, m, n, k);
}

extern "C" __global__ void matmul_f64(const double* a, const double* b, double* c, int m, int n, int k) {
  multiply_tile(a, b, c, m, n, k);
}

// 64 x 64 results a block of 256 threads, 4 x 4 a thread; m and n multiples of 64, k of 16; 16-byte loads.
extern "C" __global__ void __launch_bounds__(256)
    matmul_f32_registers(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n,
                         int k) {
  __shared__ __align__(16) float tile_a[16][64], tile_b[16][64];  // a's tile is transposed
  const int thread = threadIdx.x, row = blockIdx.y * 64, column = blockIdx.x * 64;
  const int x = thread % 16 * 4, y = thread / 16 * 4;
  float sum[4][4] = {};
  for (int start = 0; start < k; start += 16) {
    const float4 from_a = *(const float4*)&a[(row + thread / 4) * k + start + thread % 4 * 4];
    tile_a[thread % 4 * 4 + 0][thread / 4] = from_a.x;
    tile_a[thread % 4 * 4 + 1][thread / 4] = from_a.y;
    tile_a[thread % 4 * 4 + 2][thread / 4] = from_a.z;
    tile_a[thread % 4 * 4 + 3][thread / 4] = from_a.w;
    *(float4*)&tile_b[thread / 16][x] = *(const float4*)&b[(start + thread / 16) * n + column + x];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      const float4 va = *(const float4*)&tile_a[i][y], vb = *(const float4*)&tile_b[i][x];
      const float left[4] = {va.x, va.y, va.z, va.w}, right[4] = {vb.x, vb.y, vb.z, vb.w};
      for (int r = 0; r < 4; ++r)
        for (int s = 0; s < 4; ++s) sum[r][s] = fmaf(left[r], right[s], sum[r][s]);
    }
    __syncthreads();
  }
  for (int r = 0; r < 4; ++r)
    *(float4*)&c[(row + y + r) * n + column + x] = make_float4(sum[r][0], sum[r][1], sum[r][2], sum[r][3]);
}
