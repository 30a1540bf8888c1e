// Copies from global to shared memory that run beside the threads, for sm_80: cp.async by the pipeline primitives,
// cuda::barrier (mbarrier) as arrival counter, and a two-stage pipeline of libcu++.
#include <cooperative_groups.h>
#include <cuda_pipeline.h>

#include <cuda/barrier>
#include <cuda/pipeline>

// 64 threads and 448 floats a block, copied by 4, 8 and 16 bytes a thread in three groups:
// to[t] = from[t] + from[64 + t] + from[447 - t].
extern "C" __global__ void copies_by_group(const float* from, float* to) {
  __shared__ __align__(16) float shared[448];
  const int i = threadIdx.x;
  const float* mine = from + blockIdx.x * 448;
  __pipeline_memcpy_async(&shared[i], &mine[i], 4);
  __pipeline_commit();
  __pipeline_memcpy_async(&shared[64 + 2 * i], &mine[64 + 2 * i], 8);
  __pipeline_commit();
  __pipeline_memcpy_async(&shared[192 + 4 * i], &mine[192 + 4 * i], 16);
  __pipeline_commit();
  __pipeline_wait_prior(2);
  float sum = shared[i];
  __pipeline_wait_prior(0);
  __syncthreads();
  sum += shared[64 + i] + shared[192 + 255 - i];
  to[blockIdx.x * 64 + i] = sum;
}

// The last bytes of a 16-byte copy are zeros where the source ends: n floats, padded to whole groups of four.
extern "C" __global__ void copies_with_zeros(const float* from, float* to, int n) {
  __shared__ __align__(16) float shared[128];
  const int i = threadIdx.x, left = n - 4 * i;
  const int zeros = left >= 4 ? 0 : left <= 0 ? 16 : 16 - 4 * left;
  __pipeline_memcpy_async(&shared[4 * i], from + (left > 0 ? 4 * i : 0), 16, zeros);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  for (int k = 0; k < 4; ++k) to[4 * i + k] = shared[4 * i + k];
}

// Rounds of split arrival: every thread arrives, works on its own, waits, then reads its neighbour.
extern "C" __global__ void split_barrier(const int* from, int* to, int rounds) {
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int shared[2][128];
  const int i = threadIdx.x;
  if (i == 0) init(&barrier, blockDim.x);
  __syncthreads();
  int value = from[i];
  for (int round = 0; round < rounds; ++round) {
    shared[round % 2][i] = value;
    auto token = barrier.arrive();
    const int own = value * 3;
    barrier.wait(std::move(token));
    value = own + shared[round % 2][(i + 1) % blockDim.x];
  }
  to[i] = value;
}

// Sum of tiles of 128 ints through a pipeline of two stages shared by the block.
extern "C" __global__ void pipelined_sum(const int* from, int tiles, int* to) {
  constexpr int kStages = 2;
  __shared__ __align__(16) int buffers[kStages][128];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  auto block = cooperative_groups::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int sum = 0, fetched = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    for (; fetched < tiles && fetched < tile + kStages; ++fetched) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, buffers[fetched % kStages], from + 128 * fetched, sizeof buffers[0], pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    sum += buffers[tile % kStages][(threadIdx.x + tile) % 128];
    pipe.consumer_release();
  }
  to[threadIdx.x] = sum;
}

// libcu++ atomics with orders and scopes: thread 0 of each block publishes, the others wait for the flag.
extern "C" __global__ void publish(const int* from, int* to) {
  __shared__ cuda::atomic<int, cuda::thread_scope_block> flag;
  __shared__ int value;
  if (threadIdx.x == 0) flag.store(0, cuda::memory_order_relaxed);
  __syncthreads();
  if (threadIdx.x == 0) {
    value = from[blockIdx.x] * 2;
    flag.store(1, cuda::memory_order_release);
  }
  while (flag.load(cuda::memory_order_acquire) == 0) {
  }
  cuda::atomic_ref<int, cuda::thread_scope_device> total(to[gridDim.x * blockDim.x]);
  total.fetch_add(value, cuda::memory_order_relaxed);
  to[blockIdx.x * blockDim.x + threadIdx.x] = value + threadIdx.x;
}
