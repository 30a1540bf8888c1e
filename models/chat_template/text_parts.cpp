#include "models/chat_template/text_parts.h"

#include <algorithm>
#include <cstring>

#include "models/chat_template/meter.h"
#include "models/chat_template/unicode.h"
#include "models/chat_template/value.h"

namespace warpchat::jinja {

size_t find_text(std::string_view text, std::string_view sought, size_t from) {
  if (sought.empty() || from >= text.size())
    return sought.empty() && from <= text.size() ? from : std::string_view::npos;
  const void* found = memmem(text.data() + from, text.size() - from, sought.data(), sought.size());
  return found == nullptr ? std::string_view::npos : static_cast<size_t>(static_cast<const char*>(found) - text.data());
}

size_t rfind_text(std::string_view text, std::string_view sought) {
  constexpr size_t kLong = 256;  // the library compares at every position, 16 bytes at once
  if (sought.size() > kLong) Meter::charge(text.size() * (sought.size() / 16));
  const size_t found = text.rfind(sought);
  Meter::charge(text.size() - (found == std::string_view::npos ? 0 : found));
  return found;
}

Parts split_spaces(std::string_view text, int64_t limit) {
  Parts parts;
  for (text = strip_left(text); !text.empty(); text = strip_left(text)) {
    size_t end = 0;
    if (limit >= 0 && static_cast<int64_t>(parts.size()) >= limit) {
      parts.push_back(text);
      break;
    }
    while (end < text.size()) {
      size_t next = end;
      if (is_space(next_code_point(text, next))) break;
      end = next;
    }
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return parts;
}

Parts split_spaces_from_right(std::string_view text, int64_t limit) {
  if (limit < 0) return split_spaces(text, limit);
  Parts parts;
  for (text = strip_right(text); !text.empty(); text = strip_right(text)) {
    if (limit >= 0 && static_cast<int64_t>(parts.size()) >= limit) {
      parts.push_back(text);
      break;
    }
    size_t start = 0;
    Meter::charge(text.size());
    for (size_t at = 0; at < text.size();) {
      if (is_space(next_code_point(text, at))) start = at;
    }
    parts.push_back(text.substr(start));
    text = text.substr(0, start);
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

Parts split_at(std::string_view text, std::string_view separator, int64_t limit) {
  Parts parts;
  size_t start = 0;
  for (size_t at; (limit < 0 || static_cast<int64_t>(parts.size()) < limit) &&
                  (at = find_text(text, separator, start)) != std::string_view::npos;) {
    parts.push_back(text.substr(start, at - start));
    start = at + separator.size();
  }
  parts.push_back(text.substr(start));
  return parts;
}

Parts split_at_from_right(std::string_view text, std::string_view separator, int64_t limit) {
  Parts parts;
  size_t end = text.size();
  while ((limit < 0 || static_cast<int64_t>(parts.size()) < limit) && end >= separator.size()) {
    const size_t at = rfind_text(text.substr(0, end), separator);
    if (at == std::string_view::npos) break;
    parts.push_back(text.substr(at + separator.size(), end - at - separator.size()));
    end = at;
  }
  parts.push_back(text.substr(0, end));
  std::reverse(parts.begin(), parts.end());
  return parts;
}

Parts split_lines(std::string_view text, bool keep_ends) {
  Parts lines;
  size_t start = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = at;
    const char32_t c = next_code_point(text, at);
    if (!is_line_end(c)) continue;
    if (c == '\r' && at < text.size() && text[at] == '\n') ++at;
    lines.push_back(text.substr(start, (keep_ends ? at : end) - start));
    start = at;
  }
  if (start < text.size()) lines.push_back(text.substr(start));
  return lines;
}

std::string_view strip_letters(std::string_view text, std::u32string_view letters, int side) {
  const auto is_stripped = [&](size_t at) {
    Meter::charge(letters.size());
    return letters.find(next_code_point(text, at)) != std::u32string::npos;
  };
  while (side & kLeft && !text.empty() && is_stripped(0)) text.remove_prefix(offset_of(text, 1));
  while (side & kRight && !text.empty()) {
    const size_t last = character_start(text, text.size() - 1);
    if (!is_stripped(last)) break;
    text = text.substr(0, last);
  }
  return text;
}

TracedText replace_text(const TracedText& text, std::string_view old, const TracedText& by, int64_t limit) {
  TracedText out;
  size_t at = 0;
  for (int64_t done = 0; limit < 0 || done < limit; ++done) {
    if (out.bytes.size() > kMaxTextBytes) throw Fault("a text is longer than 64 MiB");
    const size_t found = find_text(text.bytes, old, at);
    if (found == std::string::npos) break;
    out.append(text, at, found);
    out.append(by);
    at = found + old.size();
    if (!old.empty()) continue;
    if (at == text.bytes.size()) break;
    next_code_point(text.bytes, at);  // an empty `old` matches before every code point and at the end
    out.append(text, found, at);
  }
  out.append(text, at, text.bytes.size());
  return out;
}

}  // namespace warpchat::jinja
