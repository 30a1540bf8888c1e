// A message as a flat list of blocks with styled text. Offsets are bytes: of a block's text, which is what is read and
// copied, and of the message's source, which is what the model wrote.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/formats/code_scanner.h"

namespace warpchat::gui {

// The look of text[begin, end).
struct InlineSpan {
  size_t begin = 0, end = 0;
  bool bold = false, italic = false, code = false, strike = false, underline = false;
  bool key = false;      // of a keyboard
  int shift = 0;         // 1: above the line, -1: below it
  uint32_t formula = 0;  // distinct in its message's stretch; 0: none. Its text is the source with its marks
  bool display = false;  // of a formula: it stands alone
  int32_t link = -1;     // index of its target in MarkdownBlock::links; -1: none
  bool operator==(const InlineSpan&) const = default;
};

// The block's text from `text` on was written at `source` and after it, byte for byte until the next of these.
struct SourceMark {
  size_t text = 0, source = 0;
  bool operator==(const SourceMark&) const = default;
};

enum class BlockKind { kParagraph, kHeading, kCode, kTable, kRule, kFormula };
// kDetails: a fold, <details>; those from kNote on: quotes that say how important they are.
enum class Nesting { kQuote, kItem, kDetails, kNote, kTip, kImportant, kWarning, kCaution };
enum class ColumnAlignment { kLeft, kCentre, kRight };

inline constexpr std::string_view kCellBreak = "\u2028";  // a line's end within a cell

struct TableCell {
  size_t begin, end;  // of the block's text
  bool operator==(const TableCell&) const = default;
};

// Colours of code in a known language. They are derived from the block's text and language and the earlier pieces.
struct CodeColours {
  std::vector<CodeSpan> spans;  // of the text, in order; none: it is plain
  CodeScanner scanner;          // before the last line
  size_t last_line = 0;         // where that begins
  size_t n_before_last = 0;     // spans
  bool operator==(const CodeColours&) const { return true; }
};

struct MarkdownBlock {
  BlockKind kind = BlockKind::kParagraph;
  int level = 0;                 // of a heading: 1 to 6
  std::vector<Nesting> nesting;  // from outside
  std::string marker;            // of an item's first block: "-" or "12."
  std::optional<bool> task;      // of an item's first block: whether its box is ticked
  bool is_title = false;         // the line over the fold or the alert that it lies in
  std::vector<uint32_t> folds;   // <details> that it lies in, from outside; numbered from 1 in the part of a message
  bool is_summary = false;       // it opens and closes the last of them, and shows while that is closed
  bool is_footnote = false;      // its marker is its number
  bool is_rtl = false;           // the list or quote around it reads from right to left
  bool tight = false;            // it follows the block above without a space between
  bool continues = false;        // it is the next piece of the block above, which is too long for one
  bool piece_of_text = false;    // it continues a block in the middle of a line
  std::string language;          // of code; empty: not said

  std::string text;  // "\n": a line's end; of a table: "\t" between cells, "\n" between rows, U+2028 in a cell
  CodeColours colours;
  std::vector<InlineSpan> spans;  // cover the text in order
  std::vector<std::string> links;
  std::vector<SourceMark> sources;  // in order
  std::vector<ColumnAlignment> columns;
  std::vector<TableCell> cells;  // row by row; the first row is the head, but not in a piece that continues
  std::vector<uint32_t> widths;  // width of each column of the whole table, in characters
  std::vector<uint32_t> words;   // longest unbreakable word of each column, in characters

  bool operator==(const MarkdownBlock&) const = default;
};

// Quotes and the like have a bar beside them.
inline bool has_bar(Nesting nesting) { return nesting != Nesting::kItem; }

// Where in the source this offset of a block's text comes from.
size_t source_of(const MarkdownBlock& block, size_t offset);

size_t item_depth(const MarkdownBlock& block);

// The outermost fold that has to open before the block shows; 0: none. is_open: whether the fold of this number is.
template <class IsOpen>
uint32_t closed_fold_around(const MarkdownBlock& block, const IsOpen& is_open) {
  const size_t n = block.folds.size() - (block.is_summary ? 1 : 0);
  for (size_t i = 0; i < n; ++i)
    if (!is_open(block.folds[i])) return block.folds[i];
  return 0;
}

// As it is read: text[begin, end), with the item's marker if it is copied from its start.
std::string copied_text(const MarkdownBlock& block, size_t begin, size_t end);
// What stands between two neighbouring blocks of a message when both are copied.
std::string copied_gap(const MarkdownBlock& below);

// Cuts a block that is too long to be laid out in one go.
void append_in_pieces(MarkdownBlock block, std::vector<MarkdownBlock>& blocks);

}  // namespace warpchat::gui
