#include "models/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "models/text_format.h"

namespace warpchat {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& cause) {
  throw Error("cannot load " + printable(path, 4096) + ": " + cause);
}

struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) close(number);
  }
};

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "it is a directory";
  if (S_ISFIFO(mode)) return "it is a pipe";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "it is a device";
  if (S_ISSOCK(mode)) return "it is a socket";
  return "it is no regular file";
}

std::string cause_of_open(int error) {
  if (error == ENOENT) return "no such file";
  if (error == ENXIO) return "it is a socket; give the path of a GGUF file";
  return std::strerror(error);
}

}  // namespace

MappedFile MappedFile::open(const std::string& path) {
  // O_NONBLOCK: a FIFO without a writer opens at once, and fstat then identifies it.
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
  if (file.number < 0) fail(path, cause_of_open(errno));
  struct stat status {};
  if (fstat(file.number, &status) != 0) fail(path, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) fail(path, std::string(kind_of(status.st_mode)) + "; give the path of a GGUF file");
  if (status.st_size == 0) fail(path, "the file is empty; download it again");

  const auto size = static_cast<size_t>(status.st_size);
  void* address = mmap(nullptr, size, PROT_READ, MAP_SHARED, file.number, 0);
  if (address == MAP_FAILED)
    fail(path, "mapping its " + grouped(size) + " bytes into memory failed (" + std::strerror(errno) + ")");
  return MappedFile({static_cast<const std::byte*>(address), size});
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace warpchat
