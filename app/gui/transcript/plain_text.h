// A user's message: plain text, except fenced code.
#pragma once
#include <string_view>
#include <vector>

#include "app/gui/transcript/markdown_block.h"

namespace warpchat::gui {

// Appends the blocks; source: where the text begins in the message.
void parse_plain_text(std::string_view text, size_t source, std::vector<MarkdownBlock>& blocks);

}  // namespace warpchat::gui
