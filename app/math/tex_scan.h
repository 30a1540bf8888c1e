// Reads the notations that are translated to TeX. Nothing in it fails: what is not closed ends with the text.
#pragma once
#include <algorithm>
#include <string_view>

namespace warpchat {

class TexScan {
 public:
  explicit TexScan(std::string_view text) : rest_(text) {}

  bool at_end() const { return rest_.empty(); }
  char peek(size_t n = 0) const { return n < rest_.size() ? rest_[n] : '\0'; }
  std::string_view rest() const { return rest_; }
  void skip(size_t n) { rest_.remove_prefix(std::min(n, rest_.size())); }
  void skip_blanks() { run(" \t\r\n~"); }

  std::string_view run(std::string_view characters) { return consume(rest_.find_first_not_of(characters)); }
  std::string_view letters() { return consume(n_letters()); }

  // "{...}" with its braces.
  std::string_view group() {
    size_t at = 0;
    for (size_t depth = 0; at < rest_.size(); ++at) {
      if (rest_[at] == '\\') {
        ++at;
      } else if (rest_[at] == '{') {
        ++depth;
      } else if (rest_[at] == '}' && --depth == 0) {
        return consume(at + 1);
      }
    }
    return consume(rest_.size());
  }

  // What "[...]" holds; empty if there is none.
  std::string_view option() {
    const size_t close = peek() == '[' ? rest_.find(']') : std::string_view::npos;
    if (close == std::string_view::npos) return {};
    return consume(close + 1).substr(1, close - 1);
  }

  std::string_view command_name() {
    skip(1);
    const size_t n = n_letters();
    return consume(n == 0 ? 1 : n);
  }

  // "\name" with the groups behind it and, after letters, the blank that ends the name.
  std::string_view command() {
    const std::string_view all = rest_;
    command_name();
    if (peek() == ' ') skip(1);
    while (peek() == '{') group();
    return all.substr(0, all.size() - rest_.size());
  }

 private:
  size_t n_letters() const {
    size_t at = 0;
    const auto is_letter = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
    };
    while (at < rest_.size() && is_letter(rest_[at])) ++at;
    return at;
  }
  std::string_view consume(size_t n) {
    const std::string_view taken = rest_.substr(0, n);
    rest_.remove_prefix(taken.size());
    return taken;
  }

  std::string_view rest_;
};

}  // namespace warpchat
