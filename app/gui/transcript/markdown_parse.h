// Markdown through md4c: one stretch of whole top-level blocks to a flat list.
#pragma once
#include <string_view>
#include <vector>

#include "app/gui/transcript/markdown_block.h"
#include "app/gui/transcript/markdown_guard.h"

namespace warpchat::gui {

inline const FootnoteNumbers kNoFootnotes;

struct ParseInput {
  std::string_view text;              // valid UTF-8
  size_t source = 0;                  // where it begins in the message
  std::string_view definitions = {};  // link targets that stand elsewhere in the message, as lines of Markdown
  const FootnoteNumbers& footnotes = kNoFootnotes;
  size_t details = 0;       // parts to skip, <details>, that are open where it begins
  bool unfinished = false;  // more of it will come
};

// Appends the blocks and returns how many <details> are open at the end. HTML is text, except a few tags without
// attributes that matter: of looks (b, i, sub, kbd, ...), br, details, summary. A line's end in a paragraph stays one.
// Long blocks come in pieces, so that each can be laid out by itself.
size_t parse_markdown(const ParseInput& input, std::vector<MarkdownBlock>& blocks);

}  // namespace warpchat::gui
