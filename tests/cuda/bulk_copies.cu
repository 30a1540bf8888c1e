// One-dimensional bulk copies of sm_90 with mbarrier transaction counts, written in inline PTX: global to shared
// memory, shared to global, and a ring of buffers that one thread keeps full.

__device__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ void barrier_init(unsigned long long* barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}
__device__ void barrier_expect(unsigned long long* barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
               : "memory");
}
__device__ void barrier_arrive(unsigned long long* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}
__device__ void barrier_wait(unsigned long long* barrier, unsigned parity) {
  asm volatile(
      "{\n\t.reg .pred done;\n\tagain:\n\t"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t@!done bra again;\n\t}" ::"r"(
          shared_address(barrier)),
      "r"(parity)
      : "memory");
}
__device__ void copy_in(void* to, const void* from, unsigned bytes, unsigned long long* barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_address(to)),
               "l"(from), "r"(bytes), "r"(shared_address(barrier))
               : "memory");
}
__device__ void copy_out(void* to, const void* from, unsigned bytes) {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(shared_address(from)),
               "r"(bytes)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// to = 2 * from, 256 ints a block: one bulk copy in, one out.
extern "C" __global__ void double_by_bulk(const int* from, int* to) {
  __shared__ __align__(128) int buffer[256];
  __shared__ unsigned long long barrier;
  if (threadIdx.x == 0) {
    barrier_init(&barrier, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    barrier_expect(&barrier, sizeof buffer);
    copy_in(buffer, from + blockIdx.x * 256, sizeof buffer, &barrier);
  }
  __syncthreads();
  barrier_wait(&barrier, 0);
  buffer[threadIdx.x] *= 2;
  __syncthreads();
  if (threadIdx.x == 0) copy_out(to + blockIdx.x * 256, buffer, sizeof buffer);
}

// sums[t] = the sum over all tiles of from[128 * tile + t]: thread 128 (the fifth warp's first lane) fills three
// buffers in turn, 128 threads empty them; each buffer has a full and an empty barrier.
extern "C" __global__ void ring_of_buffers(const int* from, int tiles, int* sums) {
  constexpr int kStages = 3;
  __shared__ __align__(128) int buffers[kStages][128];
  __shared__ unsigned long long full[kStages], empty[kStages];
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      barrier_init(&full[s], 1);
      barrier_init(&empty[s], 128);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x >= 128) {
    if (threadIdx.x > 128) return;
    for (int tile = 0; tile < tiles; ++tile) {
      const int stage = tile % kStages, use = tile / kStages;
      if (use > 0) barrier_wait(&empty[stage], (use - 1) & 1);
      barrier_expect(&full[stage], sizeof buffers[0]);
      copy_in(buffers[stage], from + 128 * tile, sizeof buffers[0] / 2, &full[stage]);
      copy_in(buffers[stage] + 64, from + 128 * tile + 64, sizeof buffers[0] / 2, &full[stage]);
    }
  } else {
    int sum = 0;
    for (int tile = 0; tile < tiles; ++tile) {
      const int stage = tile % kStages, use = tile / kStages;
      barrier_wait(&full[stage], use & 1);
      sum += buffers[stage][threadIdx.x];
      barrier_arrive(&empty[stage]);
    }
    sums[threadIdx.x] = sum;
  }
}
