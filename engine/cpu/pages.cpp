// mmap and madvise, with rounding to whole pages.
#include "engine/cpu/pages.h"

#include <sys/mman.h>

#include <cassert>
#include <cerrno>
#include <cstring>
#include <string>

namespace warpchat {

namespace {

constexpr uint64_t kHugePage = 2 << 20;

void* map_zeroed(uint64_t n_bytes) {
  if (n_bytes > PTRDIFF_MAX) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return mmap(nullptr, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

}  // namespace

Pages::Pages(uint64_t n_bytes, const char* purpose, Size size) {
  if (n_bytes == 0) return;
  const bool huge = size == Size::kHuge && n_bytes >= kHugePage;
  const uint64_t with_margin = huge ? n_bytes + kHugePage : n_bytes;  // room for huge-page alignment
  void* memory = map_zeroed(with_margin < n_bytes ? UINT64_MAX : with_margin);
  if (memory == MAP_FAILED)
    throw Error("the system gives no " + std::to_string(n_bytes >> 20) + " MiB for " + purpose + " (" +
                std::strerror(errno) + "); close other programs or use a smaller context");
  mapping_ = memory;
  mapping_bytes_ = with_margin;
  data_ = static_cast<std::byte*>(memory);
  n_bytes_ = n_bytes;
  if (!huge) return;
  data_ += -reinterpret_cast<uintptr_t>(memory) % kHugePage;
#if defined(MADV_HUGEPAGE)
  madvise(data_, n_bytes_, MADV_HUGEPAGE);
#endif
}

Pages::~Pages() {
  if (mapping_ != nullptr) munmap(mapping_, mapping_bytes_);
}

uint8_t* Arena::allocate(uint64_t n_bytes) {
  assert(used_ + rounded(n_bytes) <= pages_.n_bytes());
  uint8_t* piece = pages_.as<uint8_t>() + used_;
  used_ += rounded(n_bytes);
  return piece;
}

void Arena::give_back(const uint8_t* last) {
  assert(data() <= last && last <= data() + used_);
  used_ = static_cast<uint64_t>(last - data());
}

}  // namespace warpchat
