// Small kernels that measure a device's latencies and rates, independent of the decoder.
#pragma once
#include <cstdint>

#include "ptx/kernel.h"

namespace warpchat {

// Does nothing; has no parameters.
ptx::Kernel empty_kernel(uint32_t blocks, ptx::Target target);

// Parameters: counter u64 (zero, alone in 128 bytes), rounds u32. Runs that many grid barriers, as in the persistent
// decoder. Cooperative launch; any number of blocks.
ptx::Kernel barrier_kernel(uint32_t threads, ptx::Target target);

enum class ChasedMemory : uint8_t {
  kFirstLevel,   // global memory as one multiprocessor caches it
  kSecondLevel,  // global memory past the L1 cache: L2 or DRAM, by the size of the buffer
  kHost,         // mapped host memory
  kShared,       // 1,024 words of shared memory, copied from `from`
};
// Parameters: from u32 [n] (a ring of indices), steps u32, at u32. One thread follows the ring from `at` and updates
// it.
ptx::Kernel chase_kernel(ChasedMemory memory, ptx::Target target);

// n samples of %globaltimer in direct succession: out u64 [n]. One thread.
ptx::Kernel timer_kernel(uint32_t n, ptx::Target target);

// Parameters: cycles u64, out u64 [4]: %globaltimer and %clock64 before and after that many cycles. One thread.
ptx::Kernel clock_kernel(ptx::Target target);

// Parameters: host u32 [64] (word 0: the host's, word 32: the device's), rounds u32. The device echoes each number that
// the host writes. One thread.
ptx::Kernel echo_kernel(ptx::Target target);

// Parameters: host u32 [64], nanoseconds u64. Reports in word 32 that it runs; ends when the host writes word 0 or the
// time is over. One thread.
ptx::Kernel hold_kernel(ptx::Target target);

// Parameters: from u8 [n * 16], out u32 [threads of the launch]. Reads everything, with at_once 16-byte chunks per
// thread in flight. n: a multiple of blocks * threads * at_once.
ptx::Kernel read_kernel(uint64_t n, uint32_t blocks, uint32_t threads, uint32_t at_once, ptx::Target target);

}  // namespace warpchat
