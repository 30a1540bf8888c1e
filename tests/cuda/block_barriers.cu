// Barriers within a block: reductions by barrier, named barriers with counts, producers and consumers, warps alone.

// to[i] = how many, whether any, whether all of the block's threads have an odd x.
extern "C" __global__ void barrier_reductions(const int* x, int* to) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int odd = x[i] & 1;
  to[3 * i] = __syncthreads_count(odd);
  to[3 * i + 1] = __syncthreads_or(odd) != 0;
  to[3 * i + 2] = __syncthreads_and(odd) != 0;
}

// Two halves of the block reverse their own 64 numbers, each with a barrier of its own.
extern "C" __global__ void named_barriers(const int* x, int* to) {
  __shared__ int shared[128];
  const int group = threadIdx.x / 64, i = threadIdx.x % 64;
  for (int round = 0; round < 3; ++round) {
    shared[threadIdx.x] = x[threadIdx.x] + round;
    asm volatile("bar.sync %0, 64;" ::"r"(group + 1) : "memory");
    const int other = shared[group * 64 + 63 - i];
    asm volatile("barrier.sync %0, %1;" ::"r"(group + 1), "r"(64) : "memory");
    if (round == 2) to[threadIdx.x] = other;
  }
}

// The first warp produces, the second consumes, through two barriers and one buffer: bar.arrive does not wait.
extern "C" __global__ void producer_consumer(const int* x, int* to, int rounds) {
  __shared__ int buffer[32];
  const int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    for (int round = 0; round < rounds; ++round) {
      if (round > 0) asm volatile("bar.sync 2, 64;" ::: "memory");  // empty again
      buffer[lane] = x[round * 32 + lane] * 2;
      __threadfence_block();
      asm volatile("bar.arrive 1, 64;" ::: "memory");  // full
    }
  } else {
    int sum = 0;
    for (int round = 0; round < rounds; ++round) {
      asm volatile("bar.sync 1, 64;" ::: "memory");
      sum += buffer[31 - lane];
      if (round + 1 < rounds) asm volatile("bar.arrive 2, 64;" ::: "memory");
    }
    to[lane] = sum;
  }
}

// bar.red of part of the block, by inline PTX: and, or and population count of a predicate.
extern "C" __global__ void partial_reductions(const int* x, int* to) {
  int count = -1, any = -1, all = -1;
  if (threadIdx.x < 96) {
    asm volatile(
        "{\n\t.reg .pred p, q, r;\n\tsetp.gt.s32 p, %3, 50;\n\tbar.red.popc.u32 %0, 3, 96, p;\n\t"
        "bar.red.or.pred q, 3, 96, p;\n\tbar.red.and.pred r, 3, 96, !p;\n\tselp.s32 %1, 1, 0, q;\n\t"
        "selp.s32 %2, 1, 0, r;\n\t}"
        : "=r"(count), "=r"(any), "=r"(all)
        : "r"(x[threadIdx.x]));
  }
  to[threadIdx.x] = count * 100 + any * 10 + all;
}

// Within a warp, lanes exchange through shared memory with only __syncwarp between them.
extern "C" __global__ void warp_barriers(const int* x, int* to) {
  __shared__ volatile int shared[64];
  const int i = threadIdx.x, warp = i / 32 * 32;
  shared[i] = x[i];
  __syncwarp();
  for (int distance = 1; distance < 32; distance *= 2) {
    const int other = i % 32 >= distance ? shared[i - distance] : 0;
    __syncwarp();
    shared[i] += other;
    __syncwarp();
  }
  to[i] = shared[warp + 31] - shared[i];
  if (i % 32 < 16) {
    __syncwarp(0xffff);
    to[i] += 1000000;
  }
}

// Conway's game of life in shared memory, 32 x 32 cells on a torus; 1024 threads, one barrier a generation and buffer.
extern "C" __global__ void life(unsigned char* cells, int generations) {
  __shared__ unsigned char board[2][32][32];
  const int x = threadIdx.x, y = threadIdx.y;
  board[0][y][x] = cells[y * 32 + x];
  int now = 0;
  for (int g = 0; g < generations; ++g) {
    __syncthreads();
    int neighbours = 0;
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx)
        if (dx || dy) neighbours += board[now][(y + dy) & 31][(x + dx) & 31];
    board[1 - now][y][x] = neighbours == 3 || (neighbours == 2 && board[now][y][x]);
    now = 1 - now;
  }
  cells[y * 32 + x] = board[now][y][x];
}
