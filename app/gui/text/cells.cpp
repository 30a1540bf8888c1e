// Glyphs with one position form a group; a group covers the text up to the next group's position.
#include "app/gui/text/cells.h"

#include <algorithm>

namespace warpchat::gui {

namespace {

// Adds the clusters that begin in [group.at, end), or widens the last one if the group only adds to it.
size_t add_group(const GlyphSpan& group, uint32_t end, std::span<const uint32_t> starts, size_t next, bool is_rtl,
                 std::vector<Cell>& out) {
  size_t n = 0;
  while (next + n + 1 < starts.size() && starts[next + n] < end) ++n;
  if (n == 0 && !out.empty()) {
    out.back().left = std::min(out.back().left, group.left);
    out.back().right = std::max(out.back().right, group.right);
  }
  const float part = n ? (group.right - group.left) / static_cast<float>(n) : 0;
  for (size_t i = 0; i < n; ++i) {
    const float left = group.left + part * static_cast<float>(is_rtl ? n - 1 - i : i);
    out.push_back({starts[next + i], starts[next + i + 1], left, left + part});
  }
  return next + n;
}

}  // namespace

std::vector<Cell> cells_of(std::span<const GlyphSpan> glyphs, std::span<const uint32_t> starts, bool is_rtl) {
  std::vector<Cell> out;
  out.reserve(starts.size());
  const size_t n = glyphs.size();
  const auto logical = [&](size_t i) -> const GlyphSpan& { return glyphs[is_rtl ? n - 1 - i : i]; };
  size_t next = 0;
  for (size_t i = 0; i < n;) {
    GlyphSpan group = logical(i);
    size_t after = i + 1;
    for (; after < n && logical(after).at == group.at; ++after) {
      group.left = std::min(group.left, logical(after).left);
      group.right = std::max(group.right, logical(after).right);
    }
    next = add_group(group, after < n ? logical(after).at : starts.back(), starts, next, is_rtl, out);
    i = after;
  }
  return out;
}

}  // namespace warpchat::gui
