#include "app/gui/transcript/plain_text.h"

#include <algorithm>

#include "app/gui/transcript/markdown_lines.h"

namespace warpchat::gui {
namespace {

struct Line {
  std::string_view text;
  size_t begin;
};

std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back({text.substr(begin, end - begin), begin});
    begin = end + 1;
  }
  return lines;
}

// The line that closes a fence opened by this one; 0: none does.
size_t fence_end(const std::vector<Line>& lines, size_t first) {
  const std::string_view fence = lines[first].text;
  for (size_t i = first + 1; i < lines.size(); ++i) {
    if (closes_fence(lines[i].text, fence[0], opening_fence(fence))) return i;
  }
  return 0;
}

std::string_view language_of(std::string_view fence) {
  fence.remove_prefix(opening_fence(fence));
  fence.remove_prefix(std::min(fence.find_first_not_of(" \t"), fence.size()));
  return fence.substr(0, fence.find_first_of(" \t\r"));
}

class PlainText {
 public:
  PlainText(std::string_view text, size_t source, std::vector<MarkdownBlock>& blocks)
      : text_(text), source_(source), lines_(lines_of(text)), blocks_(blocks) {}

  void run() {
    size_t plain = 0;  // lines from here on are in no block yet
    // Every fence that does not close would look for its end through the whole text: one is enough.
    bool one_is_open = false;
    for (size_t i = 0; i < lines_.size() && !one_is_open; ++i) {
      if (opening_fence(lines_[i].text) == 0) continue;
      const size_t end = fence_end(lines_, i);
      one_is_open = end == 0;
      if (one_is_open) continue;
      append(plain, i, BlockKind::kParagraph, "");
      append(i + 1, end, BlockKind::kCode, language_of(lines_[i].text));
      i = end;
      plain = end + 1;
    }
    append(plain, lines_.size(), BlockKind::kParagraph, "");
  }

 private:
  // Lines [first, end), text without the empty ones at its ends; code may be empty.
  void append(size_t first, size_t end, BlockKind kind, std::string_view language) {
    if (kind != BlockKind::kCode) {
      while (first < end && lines_[first].text.empty()) ++first;
      while (first < end && lines_[end - 1].text.empty()) --end;
      if (first >= end) return;
    }
    MarkdownBlock block;
    block.kind = kind;
    block.language = language;
    if (first < end) {
      const size_t begin = lines_[first].begin;
      block.text = text_.substr(begin, lines_[end - 1].begin + lines_[end - 1].text.size() - begin);
      block.sources.push_back({0, source_ + begin});
      if (!block.text.empty()) block.spans.push_back({0, block.text.size()});
    }
    append_in_pieces(std::move(block), blocks_);
  }

  std::string_view text_;
  size_t source_;
  std::vector<Line> lines_;
  std::vector<MarkdownBlock>& blocks_;
};

}  // namespace

void parse_plain_text(std::string_view text, size_t source, std::vector<MarkdownBlock>& blocks) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  PlainText(text, source, blocks).run();
}

}  // namespace warpchat::gui
