// Code as coloured spans, line by line, by a table with a row a language (code_languages.cpp): what one line leaves
// open (a comment, a string, a here-document) is carried to the next, so that a text which grows is read once. Any
// bytes are accepted; anything that is not code of the language is plain.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/platform/text/code_kind.h"

namespace warpchat {

struct CodeSpan {
  size_t begin, end;  // bytes
  CodeKind kind;
  bool operator==(const CodeSpan&) const = default;
};

struct CodeLanguage;  // app/formats/code_languages.h

// A copy reads on by itself: an unfinished line is read by a copy, and again when it has grown. Meanwhile colours
// change only behind its last blank outside of strings; but a key of YAML, INI or a makefile is known at its ":" or
// "=".
class CodeScanner {
 public:
  // name: as after a fence, "cpp", "C++", in any case. Code in a language without a row is plain.
  explicit CodeScanner(std::string_view name = {});
  bool knows_language() const { return language_ != nullptr; }

  // Appends the spans of the next line (without "\n"): they cover it in order, none is empty, neighbours differ in
  // kind. `at` is added to their offsets.
  // After scan_part of the same line it begins where that would.
  void scan_line(std::string_view line, std::vector<CodeSpan>& spans, size_t at = 0);

  // The same for a line that is to grow, from its first place that is not yet certain: at most a few hundred bytes
  // before what is new, however long the line is. Returns how many bytes were gone over.
  size_t scan_part(std::string_view line, std::vector<CodeSpan>& spans);

  // What the lines so far have left open.
  struct State {
    std::string closing;       // text that ends a comment or a string; empty: in neither
    std::string_view opening;  // of a comment that nests
    CodeKind kind = CodeKind::kPlain;
    bool escapes = false;                    // a backslash hides what follows
    bool ends_with_line = false;             // what is open does
    bool whole_line = false;                 // closing stands alone in its line
    int depth = 1;                           // of nested comments
    int braces = 0;                          // CSS: declarations are inside
    int block_indent = -1;                   // YAML: deeper lines are text
    bool in_tag = false;                     // markup, between < and >
    const CodeLanguage* embedded = nullptr;  // markup: of <script> or <style>, whose end tag is `tag`
    std::string tag;
  };
  struct Place {  // within a line
    size_t at = 0;
    State state = {};
    std::string heredoc = {};  // that begins with the next line
    bool is_blank = true;      // so far
  };

 private:
  const CodeLanguage* language_;
  State state_;                 // before the line
  std::optional<Place> place_;  // of a line that grows
};

}  // namespace warpchat
