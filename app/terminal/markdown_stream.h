// Styles streamed Markdown without changing its characters, so that text copied from the terminal is what the model
// wrote. Marks are dimmed; headings, emphasis, code, lists, quotes and tables are recognised line by line.
// Only formulas change: they are written in Unicode if they fit in a line.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "app/formats/code_scanner.h"
#include "app/math/formula_stream.h"
#include "app/platform/text/styled_text.h"

namespace warpchat {

class MarkdownStream {
 public:
  explicit MarkdownStream(int columns = 0) : formulas_(columns) {}  // of the terminal; 0: lines are never broken

  // Returns the text with a known style; the rest (a line's beginning, a run of marks) is held back.
  std::vector<StyledText> add(std::string_view text);
  std::vector<StyledText> finish();

  // The look of a text that stands in a line, such as a table's cell.
  static std::vector<StyledText> inline_look(std::string_view text);

  size_t n_read() const { return n_read_; }  // bytes gone over to find out what they are

 private:
  // The begin of a line, and what it consists of, so that however long it gets it is not gone over again.
  struct LineStart {
    std::string text = {};
    size_t blanks = 0;  // at its begin
    size_t run = 0;     // equal characters after them
    size_t after = 0;   // characters after those
    bool is_blank_after = true;

    void add(char c);
    char mark() const { return text[blanks]; }  // that the run consists of, if there is one
    std::string_view without_blanks() const { return std::string_view(text).substr(blanks); }
  };

  void add_byte(char c);
  void add_to_line_start(char c);
  bool begin_block();  // decides what kind of line line_start_ opens; false while it is undecided
  void add_inline(char c);
  void end_mark_run(char next);  // decides what mark_run_ means, now that the character after it is known
  void open_fence(std::string_view marks);
  bool may_close_fence() const;
  void end_line();
  void end_undecided_line();
  void emit(std::string_view text, Style style);
  void emit_code(bool line_ends);
  Style text_style() const;

  FormulaStream formulas_;
  std::vector<StyledText> out_;
  bool at_line_start_ = true;
  LineStart line_start_;   // held until the line's kind is decided
  std::string fence_;      // the run of ` or ~ that opened the code block we are in
  CodeScanner scanner_;    // of the code block's language
  std::string code_line_;  // of the block
  size_t code_shown_ = 0;  // bytes of it
  size_t n_read_ = 0;
  std::string info_;             // what follows the fence
  bool fence_line_ = false;      // this line is a fence itself
  bool one_line_fence_ = false;  // and closed on it
  bool heading_ = false, table_ = false;
  int indent_ = 0;     // of the lines that wrapping adds
  uint64_t bars_ = 0;  // of the indent: StyledText::bars
  int marks_ = 0;      // columns of the quote and list marks before the line's text
  bool bold_ = false, italic_ = false, escaped_ = false;
  size_t code_run_ = 0;   // backticks that opened the code span we are in
  std::string mark_run_;  // held: a run of one of * _ `
  char before_ = '\n';    // the character before the one being read, before the run if one is held
};

}  // namespace warpchat
