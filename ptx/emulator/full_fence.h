// A fence between everything before and everything after, for all threads.
#pragma once
#include <atomic>

namespace ptx::emulator {

inline void full_fence() {
#ifdef __SANITIZE_THREAD__
  // The thread sanitizer ignores fences, but understands read-modify-writes of one location, which order the same.
  static std::atomic<int> location;
  location.fetch_add(1, std::memory_order_seq_cst);
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

}  // namespace ptx::emulator
