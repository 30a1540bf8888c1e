// A regular file mapped read-only into memory.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "models/error.h"

namespace warpchat {

class MappedFile {
 public:
  // Never blocks: refuses FIFOs, devices, sockets and directories. Throws Error "cannot load PATH: cause".
  static MappedFile open(const std::string& path);

  MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }  // page-aligned, never empty

 private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::span<const std::byte> bytes_;
};

}  // namespace warpchat
