#include "app/gui/transcript/markdown_block.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "models/utf8.h"

namespace warpchat::gui {
namespace {

constexpr size_t kPieceBytes = 3000;  // of text; less than two of them in any block
constexpr size_t kPieceRows = 30;     // of a table

// A copy of block[begin, end) that looks as it does there.
MarkdownBlock piece_of(const MarkdownBlock& block, size_t begin, size_t end) {
  MarkdownBlock piece;
  piece.kind = block.kind;
  piece.level = block.level;
  piece.nesting = block.nesting;
  piece.is_title = block.is_title;
  piece.folds = block.folds;
  piece.is_footnote = block.is_footnote;
  piece.language = block.language;
  piece.columns = block.columns;
  piece.widths = block.widths;
  piece.words = block.words;
  piece.text = block.text.substr(begin, end - begin);
  if (begin == 0) {
    piece.marker = block.marker;
    piece.task = block.task;
    piece.tight = block.tight;
    piece.is_summary = block.is_summary;
  } else {
    piece.continues = true;
  }
  auto first = std::upper_bound(block.spans.begin(), block.spans.end(), begin,
                                [](size_t value, const InlineSpan& span) { return value < span.end; });
  std::map<int32_t, int32_t> links;  // those of the block that this piece shows
  for (auto span = first; span != block.spans.end() && span->begin < end; ++span) {
    piece.spans.push_back(*span);
    piece.spans.back().begin = std::max(span->begin, begin) - begin;
    piece.spans.back().end = std::min(span->end, end) - begin;
    if (span->link < 0) continue;
    const auto [link, is_new] = links.try_emplace(span->link, static_cast<int32_t>(piece.links.size()));
    if (is_new) piece.links.push_back(block.links[static_cast<size_t>(span->link)]);
    piece.spans.back().link = link->second;
  }
  if (!block.sources.empty()) piece.sources.push_back({0, source_of(block, begin)});
  auto mark = std::upper_bound(block.sources.begin(), block.sources.end(), begin,
                               [](size_t value, const SourceMark& m) { return value < m.text; });
  for (; mark != block.sources.end() && mark->text < end; ++mark) {
    piece.sources.push_back({mark->text - begin, mark->source});
  }
  return piece;
}

// The last good place for a cut after `begin`: behind a line, else a space, else a character.
size_t cut_after(std::string_view text, size_t begin) {
  const std::string_view piece = text.substr(begin, kPieceBytes);
  for (const char end : {'\n', ' '}) {
    const size_t at = piece.rfind(end);
    if (at != std::string_view::npos && at > 0) return begin + at + 1;
  }
  size_t cut = begin + piece.size();
  while (cut > begin + 1 && continues_character(text[cut])) --cut;
  return cut;
}

void append_text_pieces(const MarkdownBlock& block, std::vector<MarkdownBlock>& blocks) {
  bool line_ended = true;
  for (size_t begin = 0; begin < block.text.size();) {
    const size_t end = block.text.size() - begin < 2 * kPieceBytes ? block.text.size() : cut_after(block.text, begin);
    const bool ends_line = end < block.text.size() && block.text[end - 1] == '\n';
    MarkdownBlock piece = piece_of(block, begin, ends_line ? end - 1 : end);
    piece.piece_of_text = begin > 0 && !line_ended;
    blocks.push_back(std::move(piece));
    line_ended = ends_line;
    begin = end;
  }
}

// Formulas that stand alone get blocks of their own, without the line ends round them.
void append_formulas_apart(const MarkdownBlock& block, std::vector<MarkdownBlock>& blocks) {
  bool is_first = true;
  const auto add = [&](size_t begin, size_t end, BlockKind kind) {
    while (begin < end && (block.text[begin] == '\n' || block.text[begin] == ' ')) ++begin;
    while (begin < end && (block.text[end - 1] == '\n' || block.text[end - 1] == ' ')) --end;
    if (begin == end) return;
    MarkdownBlock piece = piece_of(block, begin, end);
    piece.kind = kind;
    piece.continues = false;
    piece.tight = !is_first || block.tight;
    if (is_first) piece.marker = block.marker, piece.task = block.task;
    piece.is_summary = is_first && block.is_summary;
    is_first = false;
    append_in_pieces(std::move(piece), blocks);
  };
  size_t at = 0;
  for (const InlineSpan& span : block.spans) {
    if (!span.display) continue;
    add(at, span.begin, BlockKind::kParagraph);
    add(span.begin, span.end, BlockKind::kFormula);
    at = span.end;
  }
  add(at, block.text.size(), BlockKind::kParagraph);
}

void append_table_pieces(const MarkdownBlock& block, std::vector<MarkdownBlock>& blocks) {
  const size_t n = kPieceRows * block.columns.size();
  for (size_t first = 0; first < block.cells.size(); first += n) {
    const size_t last = std::min(first + n, block.cells.size()) - 1;
    const size_t begin = block.cells[first].begin;
    MarkdownBlock piece = piece_of(block, begin, block.cells[last].end);
    for (size_t i = first; i <= last; ++i) {
      piece.cells.push_back({block.cells[i].begin - begin, block.cells[i].end - begin});
    }
    blocks.push_back(std::move(piece));
  }
}

}  // namespace

void append_in_pieces(MarkdownBlock block, std::vector<MarkdownBlock>& blocks) {
  const bool is_table = block.kind == BlockKind::kTable && !block.columns.empty();
  const bool has_formula = std::any_of(block.spans.begin(), block.spans.end(), [](const auto& s) { return s.display; });
  if (block.kind == BlockKind::kFormula) {
    blocks.push_back(std::move(block));
  } else if (block.kind == BlockKind::kParagraph && has_formula) {
    append_formulas_apart(block, blocks);
  } else if (is_table && block.cells.size() > kPieceRows * block.columns.size()) {
    append_table_pieces(block, blocks);
  } else if (!is_table && block.text.size() >= 2 * kPieceBytes) {
    append_text_pieces(block, blocks);
  } else {
    blocks.push_back(std::move(block));
  }
}

}  // namespace warpchat::gui
