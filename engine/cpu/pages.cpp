// mmap and madvise, and the rounding to whole pages they ask for.
#include "engine/cpu/pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

namespace warpchat {

Pages::Pages(uint64_t n_bytes, const char* purpose) {
  if (n_bytes == 0) return;
  void* memory = n_bytes > PTRDIFF_MAX ? MAP_FAILED
                                       : mmap(nullptr, n_bytes, PROT_READ | PROT_WRITE,
                                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    throw Error("the system gives no " + std::to_string(n_bytes >> 20) + " MiB for " + purpose + " (" +
                std::strerror(n_bytes > PTRDIFF_MAX ? ENOMEM : errno) + "); close other programs or lower --ctx-size");
  data_ = memory;
  n_bytes_ = n_bytes;
}

void Pages::prefer_huge() {
#if defined(MADV_HUGEPAGE)
  if (data_ != nullptr) madvise(data_, n_bytes_, MADV_HUGEPAGE);  // a wish: the system may refuse
#endif
}

Pages::~Pages() {
  if (data_ != nullptr) munmap(data_, n_bytes_);
}

FileMappings::FileMappings() {
  std::ifstream maps("/proc/self/maps");  // "begin-end rwxp offset device inode path"
  for (std::string line; std::getline(maps, line);) {
    unsigned long long begin = 0, end = 0, inode = 0;
    char access[8] = "";
    if (std::sscanf(line.c_str(), "%llx-%llx %7s %*s %*s %llu", &begin, &end, access, &inode) != 4) continue;
    if (inode != 0 && std::string_view(access).substr(0, 2) == "r-") ranges_.push_back({begin, end});
  }
}

void FileMappings::release(const void* data, uint64_t n_bytes) const {
  const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(data) + page - 1) / page * page;
  const uintptr_t end = (reinterpret_cast<uintptr_t>(data) + n_bytes) / page * page;
  if (begin >= end) return;
  for (const Range& range : ranges_)
    if (range.begin <= begin && end <= range.end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace warpchat
