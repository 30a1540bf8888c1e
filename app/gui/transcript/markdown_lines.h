// What one line of Markdown looks like by itself.
#pragma once
#include <algorithm>
#include <string_view>

namespace warpchat::gui {

constexpr size_t kNpos = std::string_view::npos;

// Without indentation and the marks of quotes and lists.
inline std::string_view inner_text(std::string_view line) {
  for (;;) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t>"), line.size()));
    const size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
    const std::string_view marks = digits > 0 ? ".)" : "-+*";
    if (digits >= line.size() || marks.find(line[digits]) == kNpos) return line;
    if (digits + 1 >= line.size() || line[digits + 1] != ' ') return line;
    line.remove_prefix(digits + 1);
  }
}

inline size_t run_length(std::string_view text, size_t at = 0) {
  return std::min(text.find_first_not_of(text[at], at), text.size()) - at;
}

// The length of a run of ` or ~ that opens a fence; 0: it opens none. line: without indentation.
inline size_t opening_fence(std::string_view line) {
  if (line.empty() || (line[0] != '`' && line[0] != '~')) return 0;
  const size_t length = run_length(line);
  const bool is_span = line[0] == '`' && line.find('`', length) != kNpos;
  return length < 3 || is_span ? 0 : length;
}

inline bool closes_fence(std::string_view line, char mark, size_t length) {
  if (line.empty() || line[0] != mark || run_length(line) < length) return false;
  return line.find_first_not_of(" \t\r\n", run_length(line)) == kNpos;
}

}  // namespace warpchat::gui
