// Colours of a message's code blocks, kept while it grows: only the last line of a streaming block is scanned again.
#pragma once
#include <vector>

#include "app/gui/transcript/markdown_block.h"

namespace warpchat::gui {

// Colours blocks[first, ...), of which blocks[first] may have grown out of *before (nullptr: it has not).
void colour_code(std::vector<MarkdownBlock>& blocks, size_t first, const MarkdownBlock* before);

}  // namespace warpchat::gui
