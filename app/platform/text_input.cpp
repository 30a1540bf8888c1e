// Plain reads, and a check of every byte.
#include "app/platform/text_input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "app/platform/typed_text.h"
#include "models/error.h"
#include "models/human_bytes.h"
#include "models/text_format.h"
#include "models/utf8.h"

namespace warpchat {

namespace {

struct FileKind {
  std::string_view start;  // of its bytes
  std::string_view what;
};
constexpr FileKind kFileKinds[] = {
    {"%PDF-", "a PDF; convert it to text first, for example with pdftotext"},
    {"PK\x03\x04", "a ZIP archive (.docx, .xlsx and .odt are, too); save it as text first"},
    {"\xFF\xFE", "UTF-16 text; convert it to UTF-8 first, for example with iconv -f UTF-16"},
    {"\xFE\xFF", "UTF-16 text; convert it to UTF-8 first, for example with iconv -f UTF-16"},
    {"\x89PNG", "an image; only text can be read"},
    {"\xFF\xD8\xFF", "an image; only text can be read"},
    {"GIF8", "an image; only text can be read"},
    {"\x1F\x8B", "compressed; decompress it first, for example with gunzip"},
    {"GGUF", "a model; use -m or /model to load it"},
};

constexpr std::string_view kIsFolder = "it is a folder; name a file in it";

std::string cause(int error) {
  if (error == ENOENT) return "no such file";
  if (error == EISDIR) return std::string(kIsFolder);
  if (error == EACCES) return "permission denied";
  return std::strerror(error);
}

constexpr uint64_t kMaxTextBytes = 256 << 20;  // more than any context; a device or a pipe may never end

// A device that may be read: a terminal, or one that has nothing, which stands for an empty file.
bool is_readable_device(int fd, const struct stat& status) {
  return isatty(fd) != 0 || (S_ISCHR(status.st_mode) && status.st_rdev == makedev(1, 3));
}

void require_readable(int fd, const std::string& source) {
  struct stat status = {};
  if (fstat(fd, &status) != 0) throw Error("cannot read " + source + ": " + cause(errno));
  if ((S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)) && !is_readable_device(fd, status))
    throw Error("cannot read " + source + ": it is a device; name a file with text");
}

std::string read_descriptor(int fd, const std::string& source) {
  require_readable(fd, source);
  std::string text;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t n = read(fd, buffer, sizeof buffer);
    if (n == 0) return text;
    if (n > 0 && text.size() + static_cast<size_t>(n) > kMaxTextBytes)
      throw Error("cannot read " + source + ": it has more than " + human_bytes(kMaxTextBytes) +
                  " of text; give a part of it");
    if (n > 0)
      text.append(buffer, static_cast<size_t>(n));
    else if (errno != EINTR)
      throw Error("cannot read " + source + ": " + cause(errno));
  }
}

}  // namespace

void require_utf8(std::string_view text, const std::string& source) {
  if (const size_t at = find_invalid_utf8(text); at != std::string_view::npos)
    throw Error(source + ": byte " + grouped(at) +
                " is not valid UTF-8; convert the text to UTF-8 first, for example with iconv -f LATIN1 -t UTF-8");
}

void require_text(std::string_view text, const std::string& source) {
  const bool has_nul = text.find('\0') != std::string_view::npos;
  if (!has_nul && !text.starts_with(kFileKinds[0].start) && is_valid_utf8(text)) return;
  for (const FileKind& kind : kFileKinds)
    if (text.starts_with(kind.start)) throw Error("cannot read " + source + ": it is " + std::string(kind.what));
  if (has_nul) throw Error("cannot read " + source + ": it is a binary file; only text can be read");
  require_utf8(text, source);
}

std::string read_standard_input() {
  return isatty(STDIN_FILENO) != 0 ? read_typed_text() : read_descriptor(STDIN_FILENO, "standard input");
}

std::string read_file(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) throw Error("cannot read " + path + ": " + cause(errno));
  std::string text;
  try {
    text = read_descriptor(fd, path);
  } catch (...) {
    close(fd);
    throw;
  }
  close(fd);
  return text;
}

std::string read_regular_file(const std::string& path, uint64_t max_bytes) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (is_directory(status)) throw Error("cannot read " + path + ": " + std::string(kIsFolder));
  if (exists(status) && !is_regular_file(status))
    throw Error("cannot read " + path + ": it is a device, a pipe or a socket, not a file");
  const uint64_t bytes = std::filesystem::file_size(path, error);
  if (!error && bytes > max_bytes) {
    const bool is_close = human_bytes(bytes) == human_bytes(max_bytes);
    const auto size = [&](uint64_t n) { return is_close ? counted(n, "byte") : human_bytes(n); };
    throw Error("cannot read " + path + ": it has " + size(bytes) + "; the limit is " + size(max_bytes));
  }
  return read_file(path);
}

std::string without_last_newline(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

}  // namespace warpchat
