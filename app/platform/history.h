// Earlier lines: recalled with Up and Down, searched with Ctrl-R, stored in a file that only its owner can read.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpchat {

class History {
 public:
  History() = default;  // keeps nothing on disk
  // Reads the file if it is there. A history that cannot be read or written never stops a conversation.
  explicit History(std::string path);

  void add(const std::string& line);  // also appended to the file; empty lines and repetitions are not kept
  const std::vector<std::string>& lines() const { return lines_; }  // oldest first

  void forget(const std::function<bool(std::string_view line)>& is_gone);  // here; the file keeps them

  // The newest line before `before` (an index, or lines().size()) that contains the text.
  std::optional<size_t> search(std::string_view text, size_t before) const;
  // The oldest one from `from` on.
  std::optional<size_t> search_newer(std::string_view text, size_t from) const;

 private:
  void append_to_file(const std::string& line) const;
  void rewrite_file() const;
  std::string path_;
  std::vector<std::string> lines_;
};

// One history line as one line of the file: line breaks and backslashes escaped.
std::string escape_history_line(std::string_view line);
std::string unescape_history_line(std::string_view line);

}  // namespace warpchat
