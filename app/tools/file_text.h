// Text of files for a model: which files have any, and a slice of lines.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

#include "app/tools/opened_folders.h"

namespace warpchat {

enum class FileKind : uint8_t { kText, kPdf, kBinary };
inline constexpr size_t kKindBytes = 8192;  // of its begin tell

// Text may have some bytes that are not UTF-8, as Latin-1 has, but no NUL.
FileKind kind_of_file(std::string_view begin);

// From an offset; fewer at the end. Error, one sentence: the disk fails.
std::string read_at(const FoundEntry& file, uint64_t offset, size_t bytes);

// Calls on_piece with a file from its begin to its end, or until it returns false or stop is requested.
void read_pieces(const FoundEntry& file, std::stop_token stop, const std::function<bool(std::string_view)>& on_piece);

std::string text_of_pdf_file(const FoundEntry& file, std::stop_token stop, uint64_t max_milliseconds);

std::string as_text(std::string_view bytes);  // NUL and what is not UTF-8 as U+FFFD

// Collects lines `first` (from 1) and the following out of pieces: at most n_lines of them, at most max_bytes.
class LineSlice {
 public:
  LineSlice(uint64_t first, uint64_t n_lines, size_t max_bytes);

  bool add(std::string_view piece);  // false: it wants no more
  const std::string& text() const { return text_; }
  uint64_t n_lines_seen() const { return line_ - 1 + (is_in_line_ ? 1 : 0); }  // of the pieces, first_ or not
  uint64_t n_complete() const { return n_complete_; }
  bool is_cut() const { return is_cut_; }  // by max_bytes
  bool has_all() const { return n_complete_ >= n_lines_; }

  // After is_cut: drops the line that does not fit whole, unless it is the only one. The number of the next line.
  uint64_t drop_cut_line();

 private:
  const uint64_t first_, n_lines_;
  const size_t max_bytes_;
  std::string text_;
  uint64_t line_ = 1;  // that is being read
  uint64_t n_complete_ = 0;
  bool is_in_line_ = false, is_cut_ = false;
};

}  // namespace warpchat
