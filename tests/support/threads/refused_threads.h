// A system that gives no more threads. pthread_create, put before the C library's: linked into a test binary, or as
// librefused_threads.so preloaded into a program, where REFUSED_THREADS=FIRST-LAST says which are refused, from 1, and
// the file ASKED_THREADS gets a byte for each that was asked for.
#pragma once
#include <cstdint>

namespace warpchat {

// While it lives, every thread is refused but the next n_given.
class RefusedThreads {
 public:
  explicit RefusedThreads(uint64_t n_given = 0);
  ~RefusedThreads();
  RefusedThreads(const RefusedThreads&) = delete;
  uint64_t n_refused() const;
};

}  // namespace warpchat
