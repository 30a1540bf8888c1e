// A byte range of a text, e.g. message content within a rendered template.
#pragma once
#include <algorithm>
#include <cstddef>
#include <span>

namespace warpchat {

struct TextRange {
  size_t begin = 0, end = 0;  // bytes; half open
  bool operator==(const TextRange&) const = default;
};

// First of sorted, disjoint ranges that ends after this byte.
inline std::span<const TextRange>::iterator first_behind(std::span<const TextRange> ranges, size_t byte) {
  return std::ranges::upper_bound(ranges, byte, {}, &TextRange::end);
}

// Whether a range overlaps [begin, end).
inline bool has_any_of(std::span<const TextRange> ranges, size_t begin, size_t end) {
  const auto range = first_behind(ranges, begin);
  return range != ranges.end() && range->begin < end;
}

}  // namespace warpchat
