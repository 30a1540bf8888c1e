#include "app/gui/transcript/code_colours.h"

#include <algorithm>
#include <string_view>

namespace warpchat::gui {
namespace {

void scan_lines(std::string_view text, CodeColours& colours) {
  colours.spans.resize(colours.n_before_last);
  for (size_t end = text.find('\n', colours.last_line);; end = text.find('\n', colours.last_line)) {
    const std::string_view line = text.substr(colours.last_line, end - colours.last_line);
    colours.n_before_last = colours.spans.size();
    if (end == std::string_view::npos) {
      CodeScanner(colours.scanner).scan_line(line, colours.spans, colours.last_line);
      return;
    }
    colours.scanner.scan_line(line, colours.spans, colours.last_line);
    colours.last_line = end + 1;
  }
}

// Behind the whole of a block.
CodeScanner scanner_after(const MarkdownBlock& block) {
  CodeScanner scanner = block.colours.scanner;
  std::vector<CodeSpan> unused;
  scanner.scan_line(std::string_view(block.text).substr(block.colours.last_line), unused);
  return scanner;
}

bool grew(const MarkdownBlock& before, const MarkdownBlock& now) {
  const std::string_view lines = std::string_view(before.text).substr(0, before.colours.last_line);
  return before.kind == BlockKind::kCode && before.language == now.language && now.text.starts_with(lines);
}

}  // namespace

void colour_code(std::vector<MarkdownBlock>& blocks, size_t first, const MarkdownBlock* before) {
  for (size_t i = first; i < blocks.size(); ++i) {
    MarkdownBlock& block = blocks[i];
    if (block.kind != BlockKind::kCode) continue;
    if (i == first && before && grew(*before, block)) {
      block.colours = before->colours;
    } else {
      const bool goes_on = block.continues && i > 0 && blocks[i - 1].kind == BlockKind::kCode;
      block.colours = CodeColours();
      block.colours.scanner = goes_on ? scanner_after(blocks[i - 1]) : CodeScanner(block.language);
    }
    if (block.colours.scanner.knows_language()) scan_lines(block.text, block.colours);
  }
}

}  // namespace warpchat::gui
