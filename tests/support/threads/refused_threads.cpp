#include "tests/support/threads/refused_threads.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace {

int log_file = -1;                                                       // gets one byte per requested thread
std::atomic<uint64_t> n_asked, first = UINT64_MAX, last = 0, n_refused;  // threads are numbered from 1

__attribute__((constructor)) void read_environment() {
  unsigned long long from = 0, to = 0;
  const char* range = std::getenv("REFUSED_THREADS");
  if (range != nullptr && std::sscanf(range, "%llu-%llu", &from, &to) == 2) first = from, last = to;
  if (const char* log = std::getenv("ASKED_THREADS")) log_file = open(log, O_WRONLY | O_APPEND | O_CLOEXEC);
}

}  // namespace

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*), void* data) {
  const uint64_t number = ++n_asked;
  if (log_file >= 0) static_cast<void>(!write(log_file, "t", 1));
  if (number >= first && number <= last) {
    ++n_refused;
    return EAGAIN;
  }
  static const auto create = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return create(thread, attributes, body, data);
}

namespace warpchat {

RefusedThreads::RefusedThreads(uint64_t n_given) {
  ::n_refused = 0;
  last = UINT64_MAX;
  first = n_asked + n_given + 1;
}

RefusedThreads::~RefusedThreads() { first = UINT64_MAX; }

uint64_t RefusedThreads::n_refused() const { return ::n_refused; }

}  // namespace warpchat
