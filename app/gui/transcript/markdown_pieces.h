// Cuts blocks that are too long to be laid out in one go.
#pragma once
#include <vector>

#include "app/gui/transcript/markdown_block.h"

namespace warpchat::gui {

inline constexpr size_t kPieceBytes = 3000;  // of text; less than two of them in any block
inline constexpr size_t kPieceRows = 30;     // of a table

void append_in_pieces(MarkdownBlock block, std::vector<MarkdownBlock>& blocks);

}  // namespace warpchat::gui
