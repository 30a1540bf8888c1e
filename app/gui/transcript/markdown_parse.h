// Markdown through md4c: one stretch of whole top-level blocks to a flat list.
#pragma once
#include <string_view>
#include <vector>

#include "app/gui/transcript/markdown_block.h"
#include "app/gui/transcript/markdown_guard.h"

namespace warpchat::gui {

inline constexpr size_t kDeepestFold = 6;  // deeper ones belong to that one

// Folds, <details>, that are open between two stretches.
struct OpenFolds {
  std::vector<uint32_t> numbers;  // from outside, at most kDeepestFold
  size_t deeper = 0;              // more that are open within the last of them
  uint32_t n = 0;                 // folds so far
  bool lacks_title = false;       // the last of them has neither a summary nor text yet
};

// What one stretch leaves for the next.
struct ParseState {
  OpenFolds folds;
  size_t grown = 0;  // bytes by which the stretches became longer than kGrowth times their text
  size_t given = 0;  // bytes of definitions that were parsed with them
};

inline const FootnoteNumbers kNoFootnotes;
inline const ParseState kNothingParsed;

struct ParseInput {
  std::string_view text;              // valid UTF-8
  size_t source = 0;                  // where it begins in the message
  std::string_view definitions = {};  // link targets that stand elsewhere in the message, as lines of Markdown
  const FootnoteNumbers& footnotes = kNoFootnotes;
  const ParseState& before = kNothingParsed;
  size_t max_grown = kFreeGrowth;  // the most that ParseState::grown may become
  bool unfinished = false;         // more of it will come

  // A short text can name a long link target, or ask for empty cells, any number of times.
  static constexpr size_t kGrowth = 16, kFreeGrowth = 1 << 20;  // bytes
};

// Appends the blocks. HTML is text, except a few tags without attributes that matter: of looks (b, i, sub, kbd, ...),
// br, details, summary. A line's end in a paragraph stays one. Long blocks come in pieces, so that each can be laid out
// by itself. A stretch that would grow too long is shown as it was written.
ParseState parse_markdown(const ParseInput& input, std::vector<MarkdownBlock>& blocks);

}  // namespace warpchat::gui
