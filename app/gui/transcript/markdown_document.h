// A message's text as blocks, kept while the text grows: finished stretches are parsed once.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "app/gui/transcript/markdown_block.h"
#include "app/gui/transcript/markdown_parse.h"
#include "app/gui/transcript/markdown_scanner.h"

namespace warpchat::gui {

class MarkdownDocument {
 public:
  enum class Kind { kMarkdown, kPlain };
  explicit MarkdownDocument(Kind kind = Kind::kMarkdown) : kind_(kind) {}

  // text: valid UTF-8; if it begins with the text before, only what is new costs. source: where it begins in the
  // message. streaming: it will grow, and its end is shown as it will probably look.
  void update(std::string_view text, bool streaming, size_t source = 0);

  const std::vector<MarkdownBlock>& blocks() const { return blocks_; }
  // Bytes that were parsed for good, some of them again, and definitions as often as they were parsed with others.
  size_t n_parsed() const { return n_parsed_ + parsed_.given; }
  size_t n_unchanged() const { return n_unchanged_; }  // blocks at the front that the last update left as they were

 private:
  void reset();
  void scan_new_lines();
  bool may_parse_again() const;
  ParseInput input(size_t begin, std::string_view text) const;
  void parse_tail(bool streaming);

  Kind kind_;
  size_t source_ = 0;
  bool streaming_ = false;
  std::string text_;
  MarkdownScanner scanner_;
  size_t scanned_ = 0;       // bytes that the scanner has read
  size_t tail_ = 0;          // where the last top-level block that may still change begins
  size_t finished_end_ = 0;  // stretches before it are in blocks_ for good
  std::string definitions_;  // that the finished stretches were parsed with
  FootnoteNumbers footnotes_;
  ParseState parsed_;         // behind the finished stretches
  size_t n_parsed_ = 0;       // bytes
  std::vector<size_t> cuts_;  // where the finished stretches begin
  size_t n_finished_ = 0;     // blocks of finished stretches
  std::vector<MarkdownBlock> blocks_;
  size_t n_unchanged_ = 0;
};

}  // namespace warpchat::gui
