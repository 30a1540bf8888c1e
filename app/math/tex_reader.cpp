#include "app/math/tex_reader.h"

#include <algorithm>

#include "models/utf8.h"

namespace warpchat {

Decoded decode_character(std::string_view text) {
  const Utf8Step step = first_character(text);
  if (step.state != Utf8State::kValid) throw Unreadable();
  return {step.value, step.bytes};
}

std::u32string decode_text(std::string_view text) {
  std::u32string out;
  while (!text.empty()) {
    const auto [c, length] = decode_character(text);
    out += c;
    text.remove_prefix(length);
  }
  return out;
}

std::string_view TexReader::command_name() const {
  if (peek() != '\\' || at_ + 1 >= text_.size()) return "";
  size_t end = at_ + 1;
  while (end < text_.size() && is_tex_letter(text_[end])) ++end;
  return text_.substr(at_ + 1, std::max<size_t>(1, end - at_ - 1));
}

bool TexReader::skip_command(std::string_view name) {
  if (command_name() != name) return false;
  at_ += 1 + name.size();
  return true;
}

void TexReader::skip_option() {
  skip_blanks();
  if (peek() != '[') return;
  at_ = text_.find(']', at_);
  if (at_ == std::string_view::npos) throw Unreadable();
  ++at_;
}

std::string TexReader::raw_group() {
  skip_blanks();
  if (peek() != '{') throw Unreadable();
  std::string out;
  int depth = 0;
  for (; !at_end(); ++at_) {
    const char c = peek();
    if (c == '\\') {
      static constexpr std::string_view kEscaped = " %&$#_{},;";
      if (kEscaped.find(peek(1)) == std::string_view::npos || peek(1) == '\0') throw Unreadable();
      ++at_;
      out += peek() == ',' || peek() == ';' ? ' ' : peek();
    } else if (c == '$') {
      throw Unreadable();
    } else if (c == '{') {
      if (depth++ > 0) throw Unreadable();
    } else if (c == '}') {
      ++at_;
      return out;
    } else {
      out += c == '\n' || c == '~' ? ' ' : c;
    }
  }
  throw Unreadable();
}

std::string_view TexReader::source_group() {
  skip_blanks();
  if (peek() != '{') throw Unreadable();
  const size_t begin = at_ + 1;
  for (int depth = 0; !at_end(); ++at_) {
    if (peek() == '\\') {
      ++at_;
    } else if (peek() == '{') {
      ++depth;
    } else if (peek() == '}' && --depth == 0) {
      ++at_;
      return text_.substr(begin, at_ - 1 - begin);
    }
  }
  throw Unreadable();
}

}  // namespace warpchat
