// CommonMark's rules for fences, at any indentation, since fences in lists are indented.
#include "app/formats/code_blocks.h"

#include <algorithm>
#include <optional>

#include "models/ascii.h"

namespace warpchat {

namespace {

struct Fence {
  size_t indent;  // blanks before it
  char mark;
  size_t length;
  std::string_view info;
};

std::optional<Fence> fence_of(std::string_view line) {
  constexpr size_t kMinFence = 3;
  const size_t indent = line.find_first_not_of(' ');
  if (indent == std::string_view::npos || (line[indent] != '`' && line[indent] != '~')) return std::nullopt;
  const size_t end = std::min(line.find_first_not_of(line[indent], indent), line.size());
  const std::string_view info = trimmed(line.substr(end), " \t\r\n");
  if (end - indent < kMinFence) return std::nullopt;
  if (line[indent] == '`' && info.find('`') != std::string_view::npos) return std::nullopt;  // a code span
  return Fence{indent, line[indent], end - indent, info};
}

bool closes(const std::optional<Fence>& fence, const Fence& opened) {
  return fence && fence->mark == opened.mark && fence->length >= opened.length && fence->info.empty();
}

}  // namespace

std::vector<CodeBlock> code_blocks(std::string_view markdown) {
  std::vector<CodeBlock> blocks;
  std::optional<Fence> opened;
  while (!markdown.empty()) {
    const std::string_view line = markdown.substr(0, std::min(markdown.find('\n'), markdown.size() - 1) + 1);
    markdown.remove_prefix(line.size());
    const std::optional<Fence> fence = fence_of(line);
    if (!opened) {
      if (fence) blocks.push_back({std::string(fence->info), ""});
      opened = fence;
    } else if (closes(fence, *opened)) {
      opened.reset();
    } else {
      const size_t blanks = std::min(line.find_first_not_of(' '), line.size());
      blocks.back().code += line.substr(std::min(blanks, opened->indent));
      if (!line.ends_with('\n')) blocks.back().code += '\n';
    }
  }
  return blocks;
}

}  // namespace warpchat
