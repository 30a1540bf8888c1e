// Plain system calls, since messages depend on errno.
#include "engine/hub/partial_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "models/error.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

constexpr size_t kReadBytes = size_t{1} << 20;
constexpr mode_t kPlainFile = 0666;  // minus the user's umask

}  // namespace

PartialFile::PartialFile(std::string path) : path_(std::move(path)) {
  descriptor_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kPlainFile);
  if (descriptor_ < 0) fail("open");
}

PartialFile::~PartialFile() { close(descriptor_); }

void PartialFile::read_back(uint64_t max, const std::function<void(uint64_t)>& progress) {
  struct stat status;
  if (fstat(descriptor_, &status) != 0) fail("read");
  if (static_cast<uint64_t>(status.st_size) > max) return restart();
  std::vector<std::byte> buffer(kReadBytes);
  for (;;) {
    const ssize_t n = read(descriptor_, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("read");
    if (n == 0) return;
    hash_.add({buffer.data(), static_cast<size_t>(n)});
    bytes_ += static_cast<uint64_t>(n);
    progress(bytes_);
  }
}

void PartialFile::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(descriptor_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("write");
    hash_.add(bytes.first(static_cast<size_t>(n)));
    bytes_ += static_cast<uint64_t>(n);
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
}

void PartialFile::restart() {
  if (ftruncate(descriptor_, 0) != 0 || lseek(descriptor_, 0, SEEK_SET) != 0) fail("write");
  bytes_ = 0;
  hash_ = Sha256();
}

std::string PartialFile::finish() { return hash_.finish(); }

void PartialFile::rename_to(const std::string& path) {
  if (fsync(descriptor_) != 0 || std::rename(path_.c_str(), path.c_str()) != 0) fail("write");
}

void PartialFile::remove() { unlink(path_.c_str()); }

void PartialFile::fail(const std::string& what) const {
  const std::string why = std::strerror(errno);
  const std::string advice =
      bytes_ == 0 ? "free it, or set HF_HUB_CACHE to another folder"
                  : "the " + grouped(bytes_) + " bytes that came are kept, and the same command goes on from there";
  throw Error("cannot " + what + " " + printable(path_, 300) + ": " + why + "; " + advice);
}

}  // namespace warpchat
