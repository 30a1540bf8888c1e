#include "tests/memory/failing_allocations.h"

#include <atomic>
#include <cerrno>
#include <cstddef>

// The C library's own functions, under the names by which it still has them.
extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t n, size_t bytes);
void* __libc_realloc(void* block, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
}

namespace {

std::atomic<bool> is_counting = false;
std::atomic<uint64_t> n_allocations = 0, first_failing = 0, last_failing = 0;

bool fails() {
  if (!is_counting) return false;
  const uint64_t number = ++n_allocations;
  if (number < first_failing || number > last_failing) return false;
  errno = ENOMEM;
  return true;
}

}  // namespace

extern "C" {

void* malloc(size_t bytes) { return fails() ? nullptr : __libc_malloc(bytes); }
void* calloc(size_t n, size_t bytes) { return fails() ? nullptr : __libc_calloc(n, bytes); }
void* realloc(void* block, size_t bytes) { return fails() ? nullptr : __libc_realloc(block, bytes); }
void* memalign(size_t alignment, size_t bytes) { return fails() ? nullptr : __libc_memalign(alignment, bytes); }
void* aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }

int posix_memalign(void** block, size_t alignment, size_t bytes) {
  void* const allocated = memalign(alignment, bytes);
  if (allocated == nullptr) return ENOMEM;
  *block = allocated;
  return 0;
}

}  // extern "C"

namespace warpchat {

FailingAllocations::FailingAllocations(uint64_t first, uint64_t last) {
  n_allocations = 0;
  first_failing = first;
  last_failing = last;
  is_counting = true;
}

FailingAllocations::~FailingAllocations() { is_counting = false; }

uint64_t FailingAllocations::n_counted() { return n_allocations; }

}  // namespace warpchat
