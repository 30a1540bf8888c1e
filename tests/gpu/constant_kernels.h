// Small kernels that measure what a device's latencies and rates are, apart from what our decoder makes of them.
#pragma once
#include <cstdint>

#include "ptx/kernel.h"

namespace warpchat {

// No parameters; does nothing.
ptx::Kernel empty_kernel(uint32_t blocks, ptx::Target target);

// counter u64, zero, alone in 128 bytes; rounds u32. That many grid barriers, as the persistent decoder has them.
// Cooperative, of as many blocks as the launch says.
ptx::Kernel barrier_kernel(uint32_t threads, ptx::Target target);

enum class ChasedMemory : uint8_t {
  kFirstLevel,   // global memory as one multiprocessor caches it
  kSecondLevel,  // global memory past the first cache, to L2 or DRAM by the size of the buffer
  kHost,         // mapped memory of the host
  kShared,       // 1,024 words of the block; from: those words
};
// from u32 [n], a ring of indices; steps u32; at u32. One thread follows the ring from `at`, where it leaves its place.
ptx::Kernel chase_kernel(ChasedMemory memory, ptx::Target target);

// n samples of %globaltimer, one right behind the other: out u64 [n]. One thread.
ptx::Kernel timer_kernel(uint32_t n, ptx::Target target);

// cycles u64; out u64 [4]: %globaltimer and %clock64 before and behind so many cycles. One thread.
ptx::Kernel clock_kernel(ptx::Target target);

// host u32 [64]: word 0 is the host's, word 32 the device's; rounds u32. The device answers each number of the host's
// with the same. One thread.
ptx::Kernel echo_kernel(ptx::Target target);

// host u32 [64], nanoseconds u64. Says in word 32 that it runs, and goes on until the host writes word 0 or the time is
// over. One thread.
ptx::Kernel hold_kernel(ptx::Target target);

// from u8 [n * 16]; out u32 [threads of the launch]. Reads all of it, at_once chunks of 16 bytes a thread in flight.
// n: a multiple of blocks * threads * at_once.
ptx::Kernel read_kernel(uint64_t n, uint32_t blocks, uint32_t threads, uint32_t at_once, ptx::Target target);

}  // namespace warpchat
