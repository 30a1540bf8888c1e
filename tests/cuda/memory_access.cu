// Loads and stores: every width and vector, cache operators, read-only and volatile, generic addresses, transposition.

struct __align__(8) Pixel {
  unsigned char r, g, b, a;
  float depth;
};

// Widths of 1 to 16 bytes, signed and unsigned, copied through registers of their own type.
#define COPY(name, type)                                                      \
  extern "C" __global__ void copy_##name(const type* from, type* to, int n) { \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                      \
    if (i < n) to[n - 1 - i] = from[i];                                       \
  }
COPY(s8, signed char)
COPY(u16, unsigned short)
COPY(u32, unsigned)
COPY(u64, unsigned long long)
COPY(int2, int2)
COPY(float4, float4)
COPY(short4, short4)
COPY(uchar4, uchar4)
COPY(double2, double2)
COPY(pixel, Pixel)
#undef COPY

// Every cache operator; the sum shows that each load read its own element.
extern "C" __global__ void cached(const int* from, int* to, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int sum = __ldg(&from[i]) + 2 * __ldca(&from[n + i]) + 3 * __ldcg(&from[2 * n + i]) +
                  4 * __ldcs(&from[3 * n + i]) + 5 * __ldlu(&from[4 * n + i]) + 6 * __ldcv(&from[5 * n + i]);
  __stwb(&to[i], sum);
  __stcg(&to[n + i], sum + 1);
  __stcs(&to[2 * n + i], sum + 2);
  __stwt(&to[3 * n + i], sum + 3);
}

// const __restrict__ makes these ld.global.nc, in vectors where the pointer allows it.
extern "C" __global__ void read_only(const int4* __restrict__ a, const short2* __restrict__ b,
                                     const double* __restrict__ c, double* __restrict__ to, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int4 v = a[i];
  to[i] = v.x + 2.0 * v.y + 3.0 * v.z + 4.0 * v.w + b[i].x * 5.0 + b[i].y * 6.0 + c[i];
}

// One pointer to global, shared or local memory, by lane.
extern "C" __global__ void generic(const int* from, int* to) {
  __shared__ int shared[32];
  int local[2] = {from[threadIdx.x] + 1000, from[threadIdx.x] + 2000};
  shared[threadIdx.x] = from[threadIdx.x] + 3000;
  const int* sources[3] = {from + threadIdx.x, shared + threadIdx.x, local + threadIdx.x % 2};
  const int* mine = sources[threadIdx.x % 3];
  to[threadIdx.x] =
      *mine + (__isShared(mine) ? 100000 : 0) + (__isLocal(mine) ? 200000 : 0) + (__isGlobal(mine) ? 400000 : 0);
}

// to[y][x] = from[x][y] in tiles of 32 x 32, by blocks of 32 x 8 threads; any rows and columns.
extern "C" __global__ void transpose(const float* from, float* to, int rows, int columns) {
  __shared__ float tile[32][33];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int dy = 0; dy < 32; dy += 8)
    if (x < columns && y + dy < rows) tile[threadIdx.y + dy][threadIdx.x] = from[(y + dy) * columns + x];
  __syncthreads();
  const int tx = blockIdx.y * 32 + threadIdx.x, ty = blockIdx.x * 32 + threadIdx.y;
  for (int dy = 0; dy < 32; dy += 8)
    if (tx < rows && ty + dy < columns) to[(ty + dy) * rows + tx] = tile[threadIdx.x][threadIdx.y + dy];
}

// to[7 * t + k] of thread t: its place in a three-dimensional grid of three-dimensional blocks, and lane and warp.
extern "C" __global__ void places(unsigned* to) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned in_block = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  unsigned lane, warp, lower;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
  asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(lower));
  unsigned* mine = to + 7 * (block * blockDim.x * blockDim.y * blockDim.z + in_block);
  mine[0] = threadIdx.x | threadIdx.y << 8 | threadIdx.z << 16;
  mine[1] = blockIdx.x | blockIdx.y << 8 | blockIdx.z << 16;
  mine[2] = blockDim.x | blockDim.y << 8 | blockDim.z << 16;
  mine[3] = gridDim.x | gridDim.y << 8 | gridDim.z << 16;
  mine[4] = lane;
  mine[5] = warp;
  mine[6] = lower;
}

// Clocks only move forward, also across a nap.
extern "C" __global__ void clocks(int* forward) {
  unsigned long long before, after;
  const long long cycles = clock64();
  const unsigned short_cycles = clock();
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(before));
  __nanosleep(100);
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(after));
  forward[threadIdx.x] =
      (clock64() > cycles) + 2 * (after >= before) + 4 * ((unsigned)clock() - short_cycles < 1u << 31);
}
