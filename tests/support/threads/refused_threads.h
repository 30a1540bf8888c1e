// A system that gives no more threads: pthread_create placed before the C library's. Linked into a test binary, or
// preloaded as librefused_threads.so. Then REFUSED_THREADS=FIRST-LAST names the refused threads, from 1, and the file
// ASKED_THREADS gets one byte per requested thread.
#pragma once
#include <cstdint>

namespace warpchat {

// During its lifetime, all threads but the next n_given are refused.
class RefusedThreads {
 public:
  explicit RefusedThreads(uint64_t n_given = 0);
  ~RefusedThreads();
  RefusedThreads(const RefusedThreads&) = delete;
  uint64_t n_refused() const;
};

}  // namespace warpchat
