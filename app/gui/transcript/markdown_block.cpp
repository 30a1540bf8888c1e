#include "app/gui/transcript/markdown_block.h"

#include <algorithm>

namespace warpchat::gui {

size_t source_of(const MarkdownBlock& block, size_t offset) {
  auto mark = std::upper_bound(block.sources.begin(), block.sources.end(), offset,
                               [](size_t value, const SourceMark& m) { return value < m.text; });
  if (mark == block.sources.begin()) return block.sources.empty() ? 0 : block.sources.front().source;
  --mark;
  return mark->source + (offset - mark->text);
}

namespace {

// A table's cell in one line.
std::string with_blanks(std::string text) {
  for (size_t at = 0; (at = text.find(kCellBreak, at)) != std::string::npos;) text.replace(at, kCellBreak.size(), " ");
  return text;
}

}  // namespace

size_t item_depth(const MarkdownBlock& block) {
  return static_cast<size_t>(std::count(block.nesting.begin(), block.nesting.end(), Nesting::kItem));
}

std::string copied_text(const MarkdownBlock& block, size_t begin, size_t end) {
  end = std::min(end, block.text.size());
  begin = std::min(begin, end);
  const std::string text = block.text.substr(begin, end - begin);
  const size_t depth = item_depth(block);
  if (block.kind == BlockKind::kTable) return with_blanks(text);
  if (block.kind == BlockKind::kCode || depth == 0 || begin > 0) return text;
  // An item's text stands to the right of its marker, in every line.
  const std::string indent(2 * (depth - (block.marker.empty() ? 0 : 1)), ' ');
  std::string lead = indent;
  if (!block.marker.empty()) lead += block.marker + " ";
  if (block.task) lead += *block.task ? "[x] " : "[ ] ";
  std::string out = lead;
  for (char c : text) {
    out += c;
    if (c == '\n') out.append(lead.size(), ' ');
  }
  return out;
}

std::string copied_gap(const MarkdownBlock& below) {
  if (below.piece_of_text) return "";
  return below.tight || below.continues ? "\n" : "\n\n";
}

}  // namespace warpchat::gui
