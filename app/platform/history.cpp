// Append-only while running, cut to the newest lines when it is read and has grown too long.
#include "app/platform/history.h"

#include <fcntl.h>
#include <unistd.h>

#include <fstream>

#include "engine/store/database.h"
#include "models/utf8.h"

namespace warpchat {

namespace {

constexpr size_t kKeptLines = 2000;

void write_file(const std::string& path, int flags, std::string_view text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, kOwnerOnly);
  if (fd < 0) return;
  make_private(fd);
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n <= 0) break;
    text.remove_prefix(static_cast<size_t>(n));
  }
  close(fd);
}

}  // namespace

std::string escape_history_line(std::string_view line) {
  std::string escaped;
  for (char c : line) {
    if (c == '\\')
      escaped += "\\\\";
    else if (c == '\n')
      escaped += "\\n";
    else
      escaped += c;
  }
  return escaped;
}

std::string unescape_history_line(std::string_view line) {
  std::string plain;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\' || i + 1 == line.size()) {
      plain += line[i];
    } else {
      ++i;
      plain += line[i] == 'n' ? '\n' : line[i];
    }
  }
  return plain;
}

History::History(std::string path) : path_(std::move(path)) {
  std::ifstream file(path_, std::ios::binary);
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && is_valid_utf8(line)) lines_.push_back(unescape_history_line(line));
  if (lines_.size() <= 2 * kKeptLines) return;
  lines_.erase(lines_.begin(), lines_.end() - kKeptLines);
  rewrite_file();
}

void History::add(const std::string& line) {
  if (line.empty() || (!lines_.empty() && lines_.back() == line)) return;
  lines_.push_back(line);
  append_to_file(line);
}

void History::forget(const std::function<bool(std::string_view line)>& is_gone) { std::erase_if(lines_, is_gone); }

std::optional<size_t> History::search(std::string_view text, size_t before) const {
  for (size_t i = before; i-- > 0;)
    if (lines_[i].find(text) != std::string::npos) return i;
  return std::nullopt;
}

std::optional<size_t> History::search_newer(std::string_view text, size_t from) const {
  for (size_t i = from; i < lines_.size(); ++i)
    if (lines_[i].find(text) != std::string::npos) return i;
  return std::nullopt;
}

void History::append_to_file(const std::string& line) const {
  if (!path_.empty()) write_file(path_, O_APPEND, escape_history_line(line) + "\n");
}

void History::rewrite_file() const {
  std::string text;
  for (const std::string& line : lines_) text += escape_history_line(line) + "\n";
  write_file(path_, O_TRUNC, text);
}

}  // namespace warpchat
