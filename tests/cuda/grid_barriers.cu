// Barriers across the grid: three of our own and cooperative groups'. Each kernel runs the same job: `rounds` rounds in
// which cell i becomes its left neighbour's value plus its own, modulo 2^32, over a ring of gridDim.x * blockDim.x
// cells in two buffers. A round read too early or too late changes the result.
#include <cooperative_groups.h>

template <class Barrier>
__device__ void run_rounds(unsigned* cells, unsigned* next, int rounds, Barrier barrier) {
  const unsigned n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int round = 0; round < rounds; ++round) {
    next[i] = cells[i] + cells[(i + n - 1) % n];
    barrier();
    unsigned* swap = cells;
    cells = next;
    next = swap;
  }
}

// Tickets: the counter only grows, a barrier ends when it has reached the next multiple of the grid's size.
extern "C" __global__ void barrier_of_tickets(unsigned* cells, unsigned* next, int rounds, unsigned* counter) {
  run_rounds(cells, next, rounds, [=] {
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      const unsigned ticket = atomicAdd(counter, 1), goal = (ticket / gridDim.x + 1) * gridDim.x;
      while (*(volatile unsigned*)counter < goal) {
      }
      __threadfence();
    }
    __syncthreads();
  });
}

// Generations with acquire and release: the last to arrive resets the counter and opens the next generation.
extern "C" __global__ void barrier_of_generations(unsigned* cells, unsigned* next, int rounds, unsigned* state) {
  unsigned generation = 0;
  run_rounds(cells, next, rounds, [&, state] {
    __syncthreads();
    ++generation;
    if (threadIdx.x == 0) {
      unsigned arrived, seen;
      asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;" : "=r"(arrived) : "l"(state) : "memory");
      if (arrived == gridDim.x - 1) {
        asm volatile("st.relaxed.gpu.global.u32 [%0], 0;" ::"l"(state) : "memory");
        asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(state + 1), "r"(generation) : "memory");
      } else {
        do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(state + 1) : "memory");
        while (seen < generation);
      }
    }
    __syncthreads();
  });
}

// Flags: every block raises its own, every block's first warp waits for all; the fence is the system's.
extern "C" __global__ void barrier_of_flags(unsigned* cells, unsigned* next, int rounds, volatile unsigned* flags) {
  unsigned round = 0;
  run_rounds(cells, next, rounds, [&, flags] {
    ++round;
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence_system();
      flags[blockIdx.x] = round;
    }
    if (threadIdx.x < 32)
      for (unsigned block = threadIdx.x; block < gridDim.x; block += 32)
        while (flags[block] < round) __nanosleep(20);
    __threadfence_system();
    __syncthreads();
  });
}

extern "C" __global__ void barrier_of_groups(unsigned* cells, unsigned* next, int rounds) {
  auto grid = cooperative_groups::this_grid();
  run_rounds(cells, next, rounds, [&] { grid.sync(); });
}
