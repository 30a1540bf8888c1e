// Blocks as one line of text each, for tests: their kind, place, and styled text.
#pragma once
#include <string>
#include <vector>

#include "app/gui/transcript/markdown_block.h"

namespace warpchat::gui {

inline std::string inline_text(const MarkdownBlock& block) {
  std::string out;
  for (const InlineSpan& span : block.spans) {
    std::string marks;
    if (span.bold) marks += 'b';
    if (span.italic) marks += 'i';
    if (span.code) marks += 'c';
    if (span.strike) marks += 's';
    if (span.formula) marks += 'f';
    if (span.underline) marks += 'u';
    if (span.key) marks += 'k';
    if (span.shift != 0) marks += span.shift > 0 ? '^' : '_';
    std::string text = block.text.substr(span.begin, span.end - span.begin);
    if (span.link >= 0) marks += "->" + block.links[static_cast<size_t>(span.link)];
    out += marks.empty() ? text : "{" + marks + ":" + text + "}";
  }
  for (size_t at = 0; (at = out.find('\n', at)) != std::string::npos; ++at) out.replace(at, 1, "/");
  for (size_t at = 0; (at = out.find(kCellBreak, at)) != std::string::npos; ++at)
    out.replace(at, kCellBreak.size(), "|");
  return out;
}

inline std::string block_text(const MarkdownBlock& block) {
  static const char* const kNames[] = {"p", "h", "code", "table", "rule", "formula"};
  std::string out = block.tight ? "tight " : "";
  if (block.continues) out += "continues ";
  static const char* const kNestings[] = {"> ", ". ", "v ", "note ", "tip ", "important ", "warning ", "caution "};
  for (Nesting nesting : block.nesting) out += kNestings[static_cast<int>(nesting)];
  if (block.is_title) out += "title ";
  if (block.is_footnote) out += "footnote ";
  if (!block.marker.empty()) out += "(" + block.marker + ") ";
  if (block.task) out += *block.task ? "[x] " : "[ ] ";
  out += kNames[static_cast<int>(block.kind)];
  if (block.level > 0) out += std::to_string(block.level);
  if (!block.language.empty()) out += " " + block.language;
  for (ColumnAlignment column : block.columns) out += " " + std::string(1, "LCR"[static_cast<int>(column)]);
  return out + ": " + inline_text(block);
}

inline std::vector<std::string> block_texts(const std::vector<MarkdownBlock>& blocks) {
  std::vector<std::string> out;
  for (const MarkdownBlock& block : blocks) out.push_back(block_text(block));
  return out;
}

}  // namespace warpchat::gui
