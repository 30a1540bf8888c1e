// A line is read from left to right, a token a step. Tokens look at most one character ahead, keys at a line's begin
// excepted, so that a line keeps its colours as it grows. No token looks farther than kWindow, so that a place so far
// before a growing line's end is certain, and reading goes on from there.
#include "app/formats/code_scanner.h"

#include <algorithm>
#include <utility>

#include "app/formats/code_languages.h"
#include "models/ascii.h"

namespace warpchat {

namespace {

using State = CodeScanner::State;
using Place = CodeScanner::Place;
using std::string_view;
constexpr size_t kNpos = string_view::npos;
constexpr size_t kWindow = 256;  // bytes; what is longer is read as several tokens

bool is_gap(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_letter(char c) { return is_upper(c) || (c >= 'a' && c <= 'z') || c == '_' || (c & 0x80) != 0; }
bool has(string_view set, char c) { return c != '\0' && set.find(c) != kNpos; }
bool has(const std::vector<string_view>& sorted, string_view word) {
  return std::binary_search(sorted.begin(), sorted.end(), word);
}

string_view trimmed_statement(string_view text) {
  while (!text.empty() && is_gap(text.front())) text.remove_prefix(1);
  while (!text.empty() && (is_gap(text.back()) || text.back() == ';')) text.remove_suffix(1);
  return text;
}

class LineReader {
 public:
  LineReader(const CodeLanguage& language, string_view line, State& state, std::vector<CodeSpan>& out, size_t shift)
      : language_(language), row_(*language.row), line_(line), state_(state), out_(out), shift_(shift) {}

  // place: where to begin, and with what that line has shown before.
  void begin_at(const Place& place) {
    at_ = place.at;
    heredoc_ = place.heredoc;
    is_blank_ = place.is_blank;
  }
  // place: becomes the last place that is certain, whatever follows.
  void keep_place(Place& place, size_t line_size, bool is_embedded) {
    place_ = &place;
    line_size_ = line_size;
    is_embedded_ = is_embedded;
  }

  size_t n_read() const { return n_read_; }

  void read() {
    if (row_.form == CodeForm::kDiff) return read_diff();
    if (at_ == 0 && state_.closing.empty() && !row_.separators.empty()) read_key();
    while (at_ < line_.size()) {
      if (place_ != nullptr) note_place();
      if (state_.embedded) {
        read_embedded();
      } else if (!state_.closing.empty()) {
        read_inside();
      } else if (!read_comment() && !(row_.form == CodeForm::kMarkup ? read_markup() : read_token())) {
        add(1, CodeKind::kPlain);
      }
    }
    if (std::exchange(state_.ends_with_line, false)) state_.closing.clear();
    if (!heredoc_.empty() && state_.closing.empty()) open(heredoc_, CodeKind::kString, false), state_.whole_line = true;
  }

 private:
  // A key is decided by the first two windows of its line. Places have a distance, so that a state is copied
  // seldom.
  void note_place() {
    if (at_ + kWindow > line_size_ || line_size_ < 2 * kWindow || at_ < place_->at + kWindow / 4) return;
    *place_ = {at_, state_, heredoc_, is_blank_};
    if (is_embedded_) place_->state.embedded = &language_;
  }

  bool add(size_t length, CodeKind kind) {
    const size_t begin = shift_ + at_;
    n_read_ += std::min(length, kWindow);
    is_blank_ = is_blank_ && length == 1 && is_gap(next());
    at_ += std::min(length, line_.size() - at_);
    if (begin == shift_ + at_) return true;
    if (!out_.empty() && out_.back().kind == kind && out_.back().end == begin)
      out_.back().end = shift_ + at_;
    else
      out_.push_back({begin, shift_ + at_, kind});
    return true;
  }
  bool is(char sign) const { return row_.signs.find(sign) != kNpos; }
  char at(size_t i) const { return i < line_.size() ? line_[i] : '\0'; }
  char next(size_t n = 0) const { return at(at_ + n); }
  string_view rest() const { return line_.substr(at_); }
  string_view window() const { return line_.substr(at_, kWindow); }
  size_t to(char c) const { return std::min(window().find(c), window().size() - 1) + 1; }  // bytes up to and with it
  bool in_word(char c) const { return is_letter(c) || is_digit(c) || has(row_.in_words, c); }
  bool after_word() const { return at_ > 0 && in_word(line_[at_ - 1]); }
  size_t begin() const { return std::min(line_.find_first_not_of(" \t"), line_.size()); }
  size_t word_end(size_t from) const {
    const size_t longest = std::min(line_.size(), std::max(from, at_ + kWindow));
    while (from < longest && in_word(line_[from])) ++from;
    return from;
  }

  void read_diff() {
    for (string_view head : {"diff ", "index ", "--- ", "+++ ", "@@"}) {
      if (line_.starts_with(head)) return (void)add(line_.size(), CodeKind::kDirective);
    }
    const char mark = next();
    add(line_.size(), mark == '+' ? CodeKind::kAdded : mark == '-' ? CodeKind::kRemoved : CodeKind::kPlain);
  }

  // "key: value", "- key: value", "key = value", "[section]", "target: files"; YAML's blocks of text.
  void read_key() {
    const bool yaml = row_.separators == ":", ini = row_.separators == "=";
    size_t from = begin();
    if (state_.block_indent >= 0) {
      if (from == line_.size() || static_cast<int>(from) > state_.block_indent) {
        return (void)add(line_.size(), CodeKind::kString);
      }
      state_.block_indent = -1;
    }
    if (from > kWindow) return;
    const string_view head = line_.substr(0, 2 * kWindow);
    while (yaml && at(from) == '-' && at(from + 1) == ' ')
      from = std::min(head.find_first_not_of(' ', from + 1), head.size());
    if (at(0) == '\t' && !yaml && !ini) return;
    if (ini && at(from) == '[') {
      add(from, CodeKind::kPlain);
      return (void)add(head.find_last_of(']', head.find_first_of("#;")) + 1 - from, CodeKind::kType);
    }
    const size_t end = head.find_first_of(yaml ? ":#{[&*!|>" : "=:#;", from);
    if (end == kNpos || end == from || !has(row_.separators, line_[end])) return;
    if (yaml && end + 1 < line_.size() && !is_gap(line_[end + 1])) return;
    add(from, CodeKind::kPlain);
    add(line_.find_last_not_of(" \t+?:", end - 1) + 1 - from, CodeKind::kFunction);
    const string_view value = trimmed_statement(head.substr(end + 1));
    if (yaml && value.size() <= 3 && has("|>", value.empty() ? '\0' : value[0]))
      state_.block_indent = static_cast<int>(from);
  }

  void open(string_view closing, CodeKind kind, bool escapes, string_view opening = {}) {
    state_.closing = closing;
    state_.opening = opening;
    state_.kind = kind;
    state_.escapes = escapes;
    state_.ends_with_line = false;
    state_.depth = 1;
  }

  // In a comment or a string: up to what closes it, at most a window.
  void read_inside() {
    if (state_.whole_line) {
      if (line_.size() < 2 * kWindow && trimmed_statement(line_) == state_.closing)
        state_.closing.clear(), state_.whole_line = false;
      return (void)add(line_.size(), CodeKind::kString);
    }
    size_t end = at_;
    const size_t longest = std::min(line_.size(), at_ + kWindow);
    while (end < longest && !state_.closing.empty()) {
      const string_view here = line_.substr(end);
      if (state_.escapes && here[0] == '\\') {
        end += 2;
      } else if (here.starts_with(state_.closing)) {
        end += state_.closing.size();
        if (--state_.depth == 0) state_.closing.clear();
      } else if (!state_.opening.empty() && here.starts_with(state_.opening)) {
        end += state_.opening.size();
        ++state_.depth;
      } else {
        ++end;
      }
    }
    add(end - at_, state_.kind);
    if (!state_.closing.empty()) return;
    state_.ends_with_line = false;
    if (is(sign::kKeys) && state_.kind == CodeKind::kString && next() == ':') out_.back().kind = CodeKind::kFunction;
  }

  // Opens a string of `length` bytes before its text; one that goes on over lines may stay open.
  bool read_string(size_t length, string_view closing, bool escapes, bool goes_on) {
    add(length, CodeKind::kString);
    open(closing, CodeKind::kString, escapes);
    state_.ends_with_line = !goes_on;
    read_inside();
    return true;
  }

  // "[[", "[==[": how long; 0: none begins here.
  size_t long_bracket(size_t from) const {
    if (!is(sign::kLongBracket) || at(from) != '[') return 0;
    const size_t end = line_.substr(0, from + kWindow / 2).find_first_not_of('=', from + 1);
    return at(end) == '[' ? end + 1 - from : 0;
  }
  std::string closing_bracket(size_t length) const { return ']' + std::string(length - 2, '=') + ']'; }

  bool read_comment() {
    if (is(sign::kAttribute) && next() == '#' && (next(1) == '[' || (next(1) == '!' && next(2) == '['))) {
      return add(to(']'), CodeKind::kDirective);
    }
    if (!language_.comment_opens.empty() && rest().starts_with(language_.comment_opens)) {
      add(language_.comment_opens.size(), CodeKind::kComment);
      const string_view nested = is(sign::kNested) ? language_.comment_opens : string_view();
      open(language_.comment_closes, CodeKind::kComment, false, nested);
      return true;
    }
    for (string_view comment : language_.line_comments) {
      if (!rest().starts_with(comment)) continue;
      if (comment.size() == 1 && at_ > 0 && !is_gap(line_[at_ - 1])) continue;
      if (const size_t bracket = long_bracket(at_ + comment.size())) {
        add(comment.size() + bracket, CodeKind::kComment);
        return open(closing_bracket(bracket), CodeKind::kComment, false), true;
      }
      return add(line_.size(), CodeKind::kComment);
    }
    return false;
  }

  bool read_quote() {
    for (const auto* quotes : {&language_.long_quotes, &language_.quotes}) {
      for (string_view quote : *quotes) {
        if (!rest().starts_with(quote)) continue;
        const bool escapes = (' ' + std::string(row_.raw_quotes) + ' ').find(' ' + std::string(quote) + ' ') == kNpos;
        const string_view closing = quote.ends_with("@\"") ? quote.substr(quote.size() - 1) : quote;
        return read_string(quote.size(), closing, escapes, quotes == &language_.long_quotes);
      }
    }
    if (const size_t bracket = long_bracket(at_)) return read_string(bracket, closing_bracket(bracket), false, true);
    return false;
  }

  bool read_token() {
    const char c = next(), second = next(1);
    if (is_gap(c)) return add(1, CodeKind::kPlain);
    if (is(sign::kLifetime) && c == '\'') return read_lifetime();
    if (read_quote()) return true;
    if (is(sign::kPreprocessor) && c == '#' && is_blank_) return read_preprocessor();
    if (is(sign::kDecorator) && c == '@' && is_letter(second)) {
      size_t end = word_end(at_ + 1);
      while (at(end) == '.' && is_letter(at(end + 1)) && end + 1 < at_ + kWindow) end = word_end(end + 1);
      return add(end - at_, CodeKind::kDirective);
    }
    if (is(sign::kVariable) && c == '$') return read_variable();
    if (is(sign::kHeredoc) && c == '<' && second == '<') return read_heredoc();
    if (is(sign::kDots) && c == '.' && is_letter(second)) {
      const string_view word = line_.substr(at_, word_end(at_ + 1) - at_);
      return add(word.size(), has(language_.types, word) ? CodeKind::kType : CodeKind::kDirective);
    }
    if (is(sign::kStyles) && read_style()) return true;
    if (is_digit(c) || (has(".-", c) && is_digit(second) && !after_word() &&
                        (c == '.' ? at_ == 0 || line_[at_ - 1] != '.' : in_word('-')))) {
      return read_number();
    }
    if (is_letter(c) || (in_word(c) && (is_letter(second) || second == '-'))) return read_word();
    return false;
  }

  // Counts braces; .class, #id, #ffc0cb.
  bool read_style() {
    const char c = next();
    if (c == '{') ++state_.braces;
    if (c == '}') state_.braces = std::max(0, state_.braces - 1);
    if (!has(".#", c) || !in_word(next(1)) || (c == '.' && is_digit(next(1)))) return false;
    const size_t end = word_end(at_ + 1);
    const bool is_colour = c == '#' && state_.braces > 0 &&
                           line_.substr(0, end).find_first_not_of("0123456789abcdefABCDEF", at_ + 1) == kNpos;
    return add(end - at_, is_colour ? CodeKind::kNumber : CodeKind::kType);
  }

  bool read_number() {
    const bool hex = next() == '0' && (next(1) | 32) == 'x';
    size_t end = at_ + 1;
    for (const size_t longest = std::min(line_.size(), at_ + kWindow); end < longest; ++end) {
      const char c = line_[end], before = line_[end - 1], after = at(end + 1);
      const bool exponent = has("+-", c) && has(hex ? "pP" : "eE", before) && is_digit(after);
      const bool point = c == '.' && after != '.' && !is_letter(after);
      if (!is_letter(c) && !is_digit(c) && !exponent && !point && !(c == '\'' && is_digit(after))) break;
    }
    return add(end - at_, CodeKind::kNumber);
  }

  bool read_word() {
    const string_view word = line_.substr(at_, word_end(at_) - at_);
    const char after = next(word.size());
    if (is(sign::kRawString) && (word.back() | 32) == 'r' && word.size() <= 3 && has("\"#", after)) {
      if (read_raw_string(word.size())) return true;
    }
    if (is(sign::kPrefix) && has("\"'", after) && word.find_first_not_of("bBfFLrRuU8") == kNpos) {
      return add(word.size(), CodeKind::kString);
    }
    const std::string lower = is(sign::kAnyCase) ? lower_case(word) : std::string();
    const string_view known = is(sign::kAnyCase) ? lower : word;
    if (has(language_.keywords, known)) return add(word.size(), CodeKind::kKeyword);
    if (has(language_.types, known)) return add(word.size(), CodeKind::kType);
    if (is(sign::kAttribute) && after == '!' && next(word.size() + 1) != '=') {
      return add(word.size() + 1, CodeKind::kFunction);
    }
    if (after == '(' || (after == ':' && state_.braces > 0)) return add(word.size(), CodeKind::kFunction);
    const bool names_type = is(sign::kCapital) && is_upper(word[0]) && word.find('_') == kNpos &&
                            std::any_of(word.begin(), word.end(), [](char c) { return c >= 'a' && c <= 'z'; });
    return add(word.size(), names_type ? CodeKind::kType : CodeKind::kPlain);
  }

  // C++: R"mark(...)mark", Rust: r##"..."##.
  bool read_raw_string(size_t prefix) {
    const size_t from = at_ + prefix;
    if (line_[from - 1] == 'R') {
      const size_t paren = line_.substr(0, from + 18).find('(', from);
      if (paren == kNpos || paren - from > 17) return false;
      return read_string(paren + 1 - at_, ')' + std::string(line_.substr(from + 1, paren - from - 1)) + '"', false,
                         true);
    }
    const size_t quote = std::min(window().find_first_not_of('#', prefix), window().size()) + at_;
    if (at(quote) != '"') return false;
    return read_string(quote + 1 - at_, '"' + std::string(quote - from, '#'), false, true);
  }

  // 'a' and '\n' are characters, 'a alone is a lifetime.
  bool read_lifetime() {
    const size_t close = line_.substr(0, at_ + 6).find('\'', at_ + 2);
    const bool is_character = next(1) == '\\' || close == at_ + 2 || ((next(1) & 0x80) != 0 && close <= at_ + 5);
    if (is_character) return read_string(1, "'", true, false);
    return add(word_end(at_ + 1) - at_, CodeKind::kType);
  }

  bool read_preprocessor() {
    const size_t word = std::min(window().find_first_not_of(" \t", 1), window().size()) + at_;
    add(word_end(word) - at_, CodeKind::kDirective);
    if (!line_.substr(word).starts_with("include")) return true;
    while (is_gap(next())) add(1, CodeKind::kPlain);
    if (next() == '<') add(to('>'), CodeKind::kString);
    return true;
  }

  bool read_variable() {
    if (next(1) == '{') return add(to('}'), CodeKind::kType);
    if (next(1) == '(') {
      const size_t end = word_end(at_ + 2);
      const bool is_name = at(end) == ')' || end == line_.size();
      return add(is_name ? end + 1 - at_ : 1, is_name ? CodeKind::kType : CodeKind::kPlain);
    }
    if (has("@<?#^*!$", next(1))) return add(2, CodeKind::kType);
    return add(word_end(at_ + 1) - at_, CodeKind::kType);
  }

  // <<EOF, <<-"EOF", <<~SQL, PHP's <<<EOT: the text begins with the next line.
  bool read_heredoc() {
    size_t name = std::min(window().find_first_not_of('<'), window().size()) + at_;
    while (has("-~\"'", at(name))) ++name;
    if (!is_upper(at(name))) return false;
    const size_t end = word_end(name);
    heredoc_ = line_.substr(name, end - name);
    return add(end + (has("\"'", at(end)) ? 1 : 0) - at_, CodeKind::kString);
  }

  bool read_markup() {
    const char c = next();
    if (state_.in_tag) {
      if (has("\"'", c)) return read_quote();
      if (in_word(c)) return add(word_end(at_) - at_, CodeKind::kFunction);
      if (c != '>') return false;
      state_.in_tag = false;
      if (state_.tag == "script") state_.embedded = code_language("javascript");
      if (state_.tag == "style") state_.embedded = code_language("css");
      return add(1, CodeKind::kKeyword);
    }
    if (const size_t end = window().substr(0, 10).find(';'); c == '&' && end != kNpos)
      return add(end + 1, CodeKind::kNumber);
    if (c != '<') return false;
    if (has("!?", next(1))) return add(to('>'), CodeKind::kDirective);
    const size_t name = at_ + (next(1) == '/' ? 2 : 1);
    if (!is_letter(at(name))) return false;
    state_.in_tag = true;
    state_.tag = name == at_ + 1 ? lower_case(line_.substr(name, word_end(name) - name)) : "";
    return add(word_end(name) - at_, CodeKind::kKeyword);
  }

  void read_embedded() {
    const size_t end = std::min(line_.find("</" + state_.tag, at_), line_.size());
    const CodeLanguage* inner = std::exchange(state_.embedded, nullptr);
    LineReader reader(*inner, line_.substr(0, end), state_, out_, shift_);
    reader.at_ = at_;
    if (place_ != nullptr) reader.keep_place(*place_, line_size_, /*is_embedded=*/true);
    reader.read();
    n_read_ += reader.n_read();
    at_ = end;
    state_.embedded = inner;
    if (end < line_.size()) state_ = {};
  }

  const CodeLanguage& language_;
  const CodeRow& row_;
  string_view line_;
  State& state_;
  std::vector<CodeSpan>& out_;
  size_t shift_, at_ = 0;
  std::string heredoc_;
  bool is_blank_ = true;  // nothing but blanks before at_
  Place* place_ = nullptr;
  size_t line_size_ = 0, n_read_ = 0;
  bool is_embedded_ = false;
};

}  // namespace

CodeScanner::CodeScanner(string_view name) : language_(code_language(lower_case(name))) {}

size_t CodeScanner::scan_part(string_view line, std::vector<CodeSpan>& spans) {
  if (!language_) return scan_line(line, spans), 0;
  if (!place_) place_.emplace(Place{.state = state_});
  const Place from = *place_;
  State state = from.state;
  LineReader reader(*language_, line, state, spans, 0);
  reader.begin_at(from);
  reader.keep_place(*place_, line.size(), /*is_embedded=*/false);
  reader.read();
  return reader.n_read();
}

void CodeScanner::scan_line(string_view line, std::vector<CodeSpan>& spans, size_t at) {
  if (!language_) {
    if (!line.empty()) spans.push_back({at, at + line.size(), CodeKind::kPlain});
    return;
  }
  if (place_) state_ = place_->state;
  LineReader reader(*language_, line, state_, spans, at);
  if (place_) reader.begin_at(*place_);
  reader.read();
  place_.reset();
}

}  // namespace warpchat
