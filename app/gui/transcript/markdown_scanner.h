// Finds where Markdown can be cut, so that the stretches parse to the same blocks as the whole: line by line, in one
// pass over a text that grows.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "app/gui/transcript/markdown_guard.h"

namespace warpchat::gui {

class MarkdownScanner {
 public:
  // Takes the next complete line, with or without its "\n". Returns whether a top-level block certainly begins with it,
  // whatever follows.
  bool begins_block(std::string_view line);

  // Lines so far that are link targets, "[name]: address": they are meant for the whole text.
  const std::string& definitions() const { return definitions_; }
  // Footnotes so far that have names, "[^name]: text".
  const FootnoteNumbers& footnotes() const { return footnotes_; }

 private:
  struct Line;
  bool in_inner_fence(const Line& line);
  bool cuts_before(const Line& line);
  void note_list(const Line& line);
  void note_definition(std::string_view line, const Line& parts);

  std::string definitions_;
  FootnoteNumbers footnotes_;
  size_t n_footnotes_ = 0;    // those named by numbers, too
  bool may_define_ = true;    // the line above is none that a definition could not follow
  bool after_empty_ = true;   // the line above is empty
  bool after_fence_ = false;  // the line above closed a fence
  char fence_mark_ = 0;       // of the current top-level fence; 0: in none
  size_t fence_length_ = 0;   // of it
  char inner_mark_ = 0;       // of a fence in an item or a quote; 0: in none
  size_t inner_length_ = 0;
  bool inner_in_quote_ = false;
  bool in_list_ = false;
  size_t item_indent_ = 0;  // columns from which on a line belongs to the last top-level item
  bool list_may_have_ended_ = false;
  bool lost_ = false;  // the owner of an opening fence is unknown: no more cuts
};

}  // namespace warpchat::gui
