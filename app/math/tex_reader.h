// Reads TeX byte by byte: blanks, names, groups.
#pragma once
#include <string>
#include <string_view>

#include "models/ascii.h"

namespace warpchat {

struct Unreadable {};  // thrown: the text is no formula

struct Decoded {
  char32_t character;
  size_t bytes;
};
Decoded decode_character(std::string_view text);
std::u32string decode_text(std::string_view text);

inline bool is_tex_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

class TexReader {
 public:
  explicit TexReader(std::string_view text) : text_(text) {}

 protected:
  bool at_end() const { return at_ >= text_.size(); }
  char peek(size_t n = 0) const { return at_ + n < text_.size() ? text_[at_ + n] : '\0'; }
  void skip_blanks() {
    while (is_blank(peek())) ++at_;
  }
  std::string_view command_name() const;  // of the command that begins here, "" if none does; at_ stays
  bool skip_command(std::string_view name);
  void skip_option();               // "[...]"
  std::string raw_group();          // what "{...}" holds, as characters
  std::string_view source_group();  // the same, with groups and commands in it

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace warpchat
