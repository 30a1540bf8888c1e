// Markdown through md4c: one stretch of whole top-level blocks to a flat list.
#pragma once
#include <string_view>
#include <vector>

#include "app/gui/transcript/markdown_block.h"

namespace warpchat::gui {

struct ParseInput {
  std::string_view text;              // valid UTF-8
  size_t source = 0;                  // where it begins in the message
  std::string_view definitions = {};  // link targets that stand elsewhere in the message, as lines of Markdown
  bool unfinished = false;            // more of it will come
};

// Appends the blocks; raw HTML is text, and a line's end in a paragraph stays one. Long blocks come in pieces, so that
// each can be laid out by itself.
void parse_markdown(const ParseInput& input, std::vector<MarkdownBlock>& blocks);

}  // namespace warpchat::gui
