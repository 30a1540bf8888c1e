// /proc/self/maps lists which pages belong to files; madvise releases them.
#include "engine/file_mappings.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>

namespace warpchat {

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
