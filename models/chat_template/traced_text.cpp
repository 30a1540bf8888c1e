#include "models/chat_template/traced_text.h"

#include <algorithm>

#include "models/chat_template/unicode.h"

namespace warpchat {
bool TracedText::has_content(size_t begin, size_t end) const { return has_any_of(content, begin, end); }

TracedText TracedText::cut(size_t begin, size_t end) const {
  TracedText part;
  part.append(*this, begin, end);
  return part;
}

TracedText TracedText::cut(std::string_view part) const {
  if (part.empty()) return {};
  const auto begin = static_cast<size_t>(part.data() - bytes.data());
  return cut(begin, begin + part.size());
}

void TracedText::mark(size_t begin, size_t end) {
  if (begin == end) return;
  if (!content.empty() && (content.back().end == begin || content.size() == kMaxRanges)) {
    content.back().end = end;
  } else {
    content.push_back({begin, end});
  }
}

void TracedText::append(std::string_view own) { bytes += own; }

void TracedText::append(const TracedText& other) { append(other, 0, other.bytes.size()); }

void TracedText::append(const TracedText& other, size_t begin, size_t end) {
  const size_t at = bytes.size();
  bytes.append(other.bytes, begin, end - begin);
  if (other.content.empty()) return;
  const std::span ranges(other.content);
  for (auto range = first_behind(ranges, begin); range != ranges.end() && range->begin < end; ++range)
    mark(at + std::max(range->begin, begin) - begin, at + std::min(range->end, end) - begin);
}

void TracedText::append_for(std::string_view written, const TracedText& other, size_t begin, size_t end) {
  const size_t at = bytes.size();
  bytes += written;
  if (other.has_content(begin, end)) mark(at, bytes.size());
}

TracedText own_text(std::string bytes) { return {std::move(bytes), {}}; }

TracedText text_for(std::string bytes, bool is_content) {
  TracedText text = own_text(std::move(bytes));
  if (is_content && !text.bytes.empty()) text.content.push_back({0, text.bytes.size()});
  return text;
}

// Each character maps to one or more. If lengths match, each one corresponds to its own image.
TracedText same_shape(std::string bytes, const TracedText& from) {
  if (from.content.empty()) return own_text(std::move(bytes));
  const bool is_same = std::equal(bytes.begin(), bytes.end(), from.bytes.begin(), from.bytes.end(),
                                  [](char a, char b) { return continues_character(a) == continues_character(b); });
  if (is_same) return {std::move(bytes), from.content};
  return text_for(std::move(bytes), true);
}

}  // namespace warpchat
