// /proc/self/maps lists which pages belong to files; madvise releases them.
#include "engine/file_mappings.h"

#include <fcntl.h>
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

namespace {

// Reads the lines of /proc/self/maps byte by byte.
class MapsScanner {
 public:
  MapsScanner(uintptr_t wanted, std::span<char> path) : wanted_(wanted), path_(path) {}

  // Whether a line has ended that holds the address and a path of `length` bytes.
  bool add(char c) {
    if (c == '\n') {
      if (length > 0) return true;
      part_ = Part::kBegin, begin_ = end_ = 0;
    } else if (part_ == Part::kBegin) {
      c == '-' ? void(part_ = Part::kEnd) : add_digit(begin_, c);
    } else if (part_ == Part::kEnd) {
      c == ' ' ? void(part_ = Part::kRest) : add_digit(end_, c);
    } else if ((c == '/' || part_ == Part::kPath) && begin_ <= wanted_ && wanted_ < end_) {
      part_ = Part::kPath;
      if (length < path_.size()) path_[length++] = c;
    }
    return false;
  }

  size_t length = 0;

 private:
  enum class Part { kBegin, kEnd, kRest, kPath };
  static void add_digit(uintptr_t& number, char c) {
    number = number * 16 + static_cast<uintptr_t>(c <= '9' ? c - '0' : c - 'a' + 10);
  }
  const uintptr_t wanted_;
  const std::span<char> path_;
  Part part_ = Part::kBegin;
  uintptr_t begin_ = 0, end_ = 0;
};

}  // namespace

size_t mapped_file_at(const void* address, std::span<char> path) noexcept {
  const int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (maps < 0) return 0;
  MapsScanner scanner(reinterpret_cast<uintptr_t>(address), path);
  char buffer[1024];
  bool is_found = false;
  for (ssize_t n = 0; !is_found && (n = read(maps, buffer, sizeof buffer)) > 0;)
    for (ssize_t i = 0; i < n && !is_found; ++i) is_found = scanner.add(buffer[i]);
  close(maps);
  return is_found ? scanner.length : 0;
}

}  // namespace warpchat
