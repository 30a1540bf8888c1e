// A line's kind is decided from its first few characters, emphasis by CommonMark's flanking rules with the one
// character after a run of marks. Emphasis ends with its line: an unclosed mark spoils one line at most.
#include "app/terminal/markdown_stream.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "models/utf8.h"

namespace warpchat {

namespace {

constexpr size_t kMinFence = 3, kMaxHeading = 6, kMaxNumber = 9;
constexpr Style kMark{.dim = true};
constexpr int kMaxBar = 64;  // columns

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n'; }
bool is_punctuation(char c) { return std::ispunct(static_cast<unsigned char>(c)) != 0; }

constexpr size_t kMaxCodeHeld = 24;  // bytes of code

// "cpp" of a fence's " cpp title=x" or "{.cpp}".
std::string_view language_of(std::string_view info) {
  const size_t first = std::min(info.find_first_not_of(" `~{."), info.size());
  info.remove_prefix(first);
  return info.substr(0, info.find_first_of(" ,{}:"));
}

enum class BlockKind { kUndecided, kText, kHeading, kBullet, kFence, kQuote, kTable };

bool is_fence_mark(char c) { return c == '`' || c == '~'; }

BlockKind number_or_text(std::string_view s) {
  const size_t digits = std::min(s.find_first_not_of("0123456789"), s.size());
  if (digits > kMaxNumber) return BlockKind::kText;
  if (digits == s.size()) return BlockKind::kUndecided;
  if (s[digits] != '.' && s[digits] != ')') return BlockKind::kText;
  if (digits + 1 == s.size()) return BlockKind::kUndecided;
  return s[digits + 1] == ' ' ? BlockKind::kBullet : BlockKind::kText;
}

// What a line begins, from its first characters without the leading blanks.
BlockKind block_kind(std::string_view s) {
  if (s.empty()) return BlockKind::kUndecided;
  const char first = s[0];
  const size_t run = std::min(s.find_first_not_of(first), s.size());
  const bool only_run = run == s.size();
  if (first == '#') {
    if (run > kMaxHeading) return BlockKind::kText;
    return only_run ? BlockKind::kUndecided : is_space(s[run]) ? BlockKind::kHeading : BlockKind::kText;
  }
  if (is_fence_mark(first)) {
    if (only_run) return BlockKind::kUndecided;
    return run >= kMinFence ? BlockKind::kFence : BlockKind::kText;
  }
  if (first == '-' || first == '*' || first == '+') {
    if (s.size() == 1) return BlockKind::kUndecided;
    return s[1] == ' ' ? BlockKind::kBullet : BlockKind::kText;
  }
  if (first == '>') return BlockKind::kQuote;
  if (first == '|') return BlockKind::kTable;
  if (std::isdigit(static_cast<unsigned char>(first))) return number_or_text(s);
  return BlockKind::kText;
}

}  // namespace

void MarkdownStream::LineStart::add(char c) {
  text += c;
  if (run == 0 && c == ' ')
    ++blanks;
  else if (run == 0 || (after == 0 && c == mark()))
    ++run;
  else
    ++after, is_blank_after &= c == ' ';
}

std::vector<StyledText> MarkdownStream::add(std::string_view text) {
  for (char c : formulas_.add(text)) add_byte(c);
  if (!fence_.empty() && !fence_line_) emit_code(/*line_ends=*/false);
  return std::exchange(out_, {});
}

std::vector<StyledText> MarkdownStream::finish() {
  for (char c : formulas_.finish()) add_byte(c);
  end_line();
  at_line_start_ = true;
  fence_.clear();
  return std::exchange(out_, {});
}

std::vector<StyledText> MarkdownStream::inline_look(std::string_view text) {
  MarkdownStream stream;
  stream.at_line_start_ = false;
  for (char c : text) stream.add_byte(c);
  return stream.finish();
}

void MarkdownStream::add_byte(char c) {
  if (c == '\n') {
    const bool table = table_;
    end_line();
    append(out_, {.text = "\n", .table = table});
    at_line_start_ = true;
    before_ = '\n';
  } else if (at_line_start_) {
    add_to_line_start(c);
  } else {
    add_inline(c);
  }
}

void MarkdownStream::add_to_line_start(char c) {
  line_start_.add(c);
  if (!begin_block()) return;
  at_line_start_ = false;
  const std::string held = std::exchange(line_start_, {}).text;
  for (char h : held) add_inline(h);
}

// Takes the block's own marks off line_start_ and emits them; what remains is inline text.
bool MarkdownStream::begin_block() {
  if (!fence_.empty()) return !may_close_fence();
  if (line_start_.run == 0 || (line_start_.after == 0 && is_fence_mark(line_start_.mark()))) return false;
  const std::string_view marks = line_start_.without_blanks();
  n_read_ += marks.size();
  const BlockKind kind = block_kind(marks);
  if (kind == BlockKind::kUndecided) return false;
  indent_ = marks_ + static_cast<int>(line_start_.blanks);
  table_ = kind == BlockKind::kTable && marks_ == 0;
  heading_ = kind == BlockKind::kHeading;
  if (kind == BlockKind::kFence) {
    open_fence(marks);
  } else if (kind == BlockKind::kHeading) {
    emit(std::exchange(line_start_, {}).text, kMark);
  } else if (kind == BlockKind::kBullet || kind == BlockKind::kQuote) {
    if (kind == BlockKind::kQuote && indent_ < kMaxBar) bars_ |= uint64_t{1} << indent_;
    marks_ += static_cast<int>(line_start_.text.size());
    indent_ = marks_;
    emit(std::exchange(line_start_, {}).text, kind == BlockKind::kQuote ? kMark : Style{});
    return false;  // the line begins anew after its mark
  }
  return true;
}

void MarkdownStream::open_fence(std::string_view marks) {
  fence_ = marks.substr(0, marks.find_first_not_of(marks[0]));
  fence_line_ = true;
  before_ = marks[0];
}

// Whether line_start_ can still be the fence that closes the block: blanks, a run as long as the opening one, blanks.
bool MarkdownStream::may_close_fence() const {
  return line_start_.run == 0 || (line_start_.mark() == fence_[0] && line_start_.is_blank_after);
}

void MarkdownStream::add_inline(char c) {
  if (!fence_.empty()) {
    // A fence of backticks has none after it in its line: this was a code span.
    if (fence_line_ && c == '`' && fence_[0] == '`' && before_ != '`') one_line_fence_ = true;
    if (c != ' ') before_ = c;
    if (!fence_line_) return code_line_.push_back(c);
    info_ += c;
    return emit({&c, 1}, kMark);
  }
  if (table_) return emit({&c, 1}, {});
  if (!mark_run_.empty() && mark_run_[0] != c) end_mark_run(c);
  if (!escaped_ && (c == '`' || (code_run_ == 0 && (c == '*' || c == '_')))) {
    mark_run_ += c;
    return;
  }
  escaped_ = code_run_ == 0 && c == '\\' && !escaped_;
  emit({&c, 1}, text_style());
  before_ = c;
}

void MarkdownStream::end_mark_run(char next) {
  const std::string run = std::exchange(mark_run_, {});
  const size_t n = run.size();
  if (run[0] == '`') {
    const bool opens = code_run_ == 0, closes = code_run_ == n;
    emit(run, opens || closes ? kMark : text_style());
    if (opens || closes) code_run_ = opens ? n : 0;
    before_ = '`';
    return;
  }
  const bool left = !is_space(next), right = !is_space(before_), underscore = run[0] == '_';
  const bool can_close = right && (!underscore || !left || is_punctuation(next));
  const bool can_open = left && (!underscore || !right || is_punctuation(before_));
  const bool for_bold = n == 2 || n == 3, for_italic = n == 1 || n == 3;
  const bool closes = can_close && n <= 3 && (!for_bold || bold_) && (!for_italic || italic_);
  const bool opens = !closes && can_open && n <= 3 && !(for_bold && bold_) && !(for_italic && italic_);
  emit(run, closes || opens ? kMark : text_style());
  if (closes || opens) {
    if (for_bold) bold_ = opens;
    if (for_italic) italic_ = opens;
  }
  before_ = run[0];
}

void MarkdownStream::end_line() {
  if (at_line_start_ && !line_start_.text.empty()) end_undecided_line();
  if (!mark_run_.empty()) end_mark_run('\n');
  if (fence_line_)
    scanner_ = CodeScanner(language_of(std::exchange(info_, {})));
  else if (!fence_.empty())
    emit_code(/*line_ends=*/true);
  if (one_line_fence_) fence_.clear();
  fence_line_ = one_line_fence_ = heading_ = table_ = bold_ = italic_ = escaped_ = false;
  code_run_ = 0;
  indent_ = marks_ = 0;
  bars_ = 0;
}

// A fence without more on its line opens or closes a block; anything else undecided is text.
void MarkdownStream::end_undecided_line() {
  const std::string_view marks = line_start_.without_blanks();
  const bool closes = !fence_.empty() && marks.starts_with(fence_);
  const bool opens = fence_.empty() && (marks.starts_with("```") || marks.starts_with("~~~"));
  if (opens) fence_ = marks;
  fence_line_ = closes || opens;
  at_line_start_ = false;
  for (char c : std::exchange(line_start_, {}).text) {
    if (fence_line_)
      emit({&c, 1}, kMark);
    else
      add_inline(c);
  }
  if (closes) fence_.clear();
}

// Holds back the end of a growing line, up to a limit, while its next characters may change the colour.
void MarkdownStream::emit_code(bool line_ends) {
  std::vector<CodeSpan> spans;
  if (!scanner_.knows_language())
    spans.push_back({code_shown_, code_line_.size(), CodeKind::kPlain});
  else if (line_ends)
    scanner_.scan_line(code_line_, spans);
  else
    n_read_ += scanner_.scan_part(code_line_, spans);
  n_read_ += code_line_.size() - code_shown_;
  size_t known = code_shown_;
  for (const CodeSpan& span : spans) {
    const size_t begin = std::max(span.begin, code_shown_);
    if (span.kind == CodeKind::kString || begin >= span.end) continue;
    const size_t blank = std::string_view(code_line_).substr(begin, span.end - begin).rfind(' ');
    if (blank != std::string::npos) known = begin + blank;
  }
  if (line_ends || !scanner_.knows_language() || code_line_.size() - known > kMaxCodeHeld) known = code_line_.size();
  // The scanner knows bytes; looks change between characters only.
  const auto whole_characters = [&](size_t end) {
    while (end < code_line_.size() && continues_character(code_line_[end])) ++end;
    return end;
  };
  known = whole_characters(known);
  for (const CodeSpan& span : spans) {
    const size_t begin = whole_characters(std::max(span.begin, code_shown_));
    const size_t end = whole_characters(std::min(span.end, known));
    if (begin < end)
      emit(std::string_view(code_line_).substr(begin, end - begin),
           {.code = !scanner_.knows_language(), .kind = span.kind});
  }
  code_shown_ = std::max(code_shown_, known);
  if (!line_ends) return;
  code_line_.clear();
  code_shown_ = 0;
}

void MarkdownStream::emit(std::string_view text, Style style) {
  append(out_, {std::string(text), style, !fence_.empty(), indent_, bars_, table_});
}

Style MarkdownStream::text_style() const {
  return {.bold = bold_ || heading_, .dim = false, .italic = italic_, .code = code_run_ > 0};
}

}  // namespace warpchat
