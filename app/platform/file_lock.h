// For files that several processes of this program read, change and write as a whole.
#pragma once
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "models/error.h"

namespace warpchat {

// Held by whoever changes the file. A file system without locks is accepted.
class FileLock {
 public:
  // path: of the lock, a file of its own beside the other one. Waits for some seconds. Error if it is held longer, or
  // cannot be created.
  explicit FileLock(const std::string& path)
      : descriptor_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)) {
    constexpr int kTries = 250;
    constexpr std::chrono::milliseconds kBetween{20};
    if (descriptor_ < 0) throw Error("cannot write " + path + ": " + std::strerror(errno));
    for (int i = 0; i < kTries; ++i) {
      if (flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || (errno != EWOULDBLOCK && errno != EINTR)) return;
      std::this_thread::sleep_for(kBetween);
    }
    ::close(descriptor_);
    throw Error("another program holds " + path + "; try again");
  }
  ~FileLock() { ::close(descriptor_); }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int descriptor_;
};

// Where a file is to be written that may be a link. A link stays one: some people keep their settings elsewhere.
inline std::string behind_links(const std::string& path) {
  char* real = realpath(path.c_str(), nullptr);
  const std::string target = real != nullptr ? real : path;
  std::free(real);
  return target;
}

}  // namespace warpchat
