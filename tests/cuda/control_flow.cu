// Divergent control flow: switches, loops with break and continue, early returns, gotos, and locks within a warp.

// A switch with dense, sparse and falling-through cases; each lane its own.
extern "C" __global__ void switches(const int* x, int* to, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int result = 1;
  switch (x[i]) {
    case 0:
      result = 11;
      break;
    case 1:
      result = x[i + n] * 3;
      break;
    case 2:
      result += 7;  // falls through
    case 3:
      result *= 5;
      break;
    case 4:
      result = -x[i + n];
      break;
    case 5:
      result = x[i + n] / 3;
      break;
    case 6:
    case 7:
      result = x[i + n] << x[i];
      break;
    case 8:
      return;
    case 100:
      result = 1000;
      break;
    case 100000:
      result = x[i + n] % 17;
      break;
    case -1:
      result = ~x[i + n];
      break;
    default:
      result = 99;
  }
  to[i] = result;
}

// Length of the sequence n -> n / 2 or 3 n + 1 down to 1: every lane leaves its loop at its own time.
extern "C" __global__ void collatz(const unsigned* from, unsigned* steps, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long value = from[i];
  unsigned count = 0;
  while (value != 1) {
    value = value % 2 ? 3 * value + 1 : value / 2;
    ++count;
  }
  steps[i] = count;
}

// Nested loops with continue, break and an exit out of both; counts primes below limit[i], gives up at 20.
extern "C" __global__ void primes(const int* limit, int* count, int* last, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int found = 0, greatest = -1;
  for (int candidate = 2; candidate < limit[i]; ++candidate) {
    if (candidate > 2 && candidate % 2 == 0) continue;
    bool prime = true;
    for (int divisor = 3; divisor * divisor <= candidate; divisor += 2) {
      if (candidate % divisor == 0) {
        prime = false;
        break;
      }
    }
    if (!prime) continue;
    greatest = candidate;
    if (++found == 20) goto done;
  }
done:
  count[i] = found;
  last[i] = greatest;
}

// Blocks in which some threads return before a barrier that the rest reach.
extern "C" __global__ void early_return(const int* x, int* to) {
  __shared__ int shared[128];
  shared[threadIdx.x] = 0;
  __syncthreads();
  if (x[threadIdx.x] < 0) return;
  shared[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < blockDim.x; ++i) sum += shared[i];
  to[threadIdx.x] = sum;
}

// A spin lock that lanes of one warp contend for: needs forward progress of every lane.
extern "C" __global__ void spin_lock(unsigned* lock, unsigned* counter) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      *(volatile unsigned*)counter = *(volatile unsigned*)counter + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

// The same with the plain loop that only independent thread scheduling survives.
extern "C" __global__ void spin_lock_plain(unsigned* lock, unsigned* counter) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  *(volatile unsigned*)counter = *(volatile unsigned*)counter + threadIdx.x;
  __threadfence();
  atomicExch(lock, 0);
}

// Lanes of one warp hand a token round: lane i waits for lane i - 1, in a warp that never reconverges on its own.
extern "C" __global__ void token_ring(volatile int* token, int* order, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    const int goal = round * 32 + threadIdx.x;
    while (*token != goal) {
    }
    order[goal] = threadIdx.x;
    __threadfence();
    *token = goal + 1;
  }
}

// Escape times of z -> z * z + c with a bounded loop; float arithmetic without contraction, so that the test can repeat
// it.
extern "C" __global__ void mandelbrot(int* to, int width, int height, int limit) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float cr = __fsub_rn(__fmul_rn(x, 3.0f / 64), 2.0f), ci = __fsub_rn(__fmul_rn(y, 2.0f / 32), 1.0f);
  float zr = 0, zi = 0;
  int i = 0;
  for (; i < limit; ++i) {
    const float rr = __fmul_rn(zr, zr), ii = __fmul_rn(zi, zi);
    if (__fadd_rn(rr, ii) > 4.0f) break;
    zi = __fadd_rn(__fmul_rn(2.0f, __fmul_rn(zr, zi)), ci);
    zr = __fadd_rn(__fsub_rn(rr, ii), cr);
  }
  to[y * width + x] = i;
}

// Short circuits, conditional expressions and comparisons of mixed signs.
extern "C" __global__ void conditions(const int* a, const int* b, int* to, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int result = 0;
  if (a[i] > 0 && (b[i] == 0 || a[i] / b[i] > 2)) result |= 1;
  if (!(a[i] < b[i]) != (a[i] == b[i])) result |= 2;
  result |= (unsigned)a[i] < (unsigned)b[i] ? 4 : 8;
  do {
    result += 16;
  } while (result < (a[i] & 255));
  to[i] = result;
}
