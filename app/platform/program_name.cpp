#include "app/platform/program_name.h"

#include <algorithm>

namespace warpchat {

namespace {

constexpr std::string_view kPlaceholder = "{chat}";
constexpr size_t kMaxBytes = 64;

std::string& called_name() {
  static std::string name = "chat";
  return name;
}

// A name that needs no quotes in a shell or a completion script, and that no shell reads as a flag.
bool is_plain_word(std::string_view word) {
  const auto is_letter_or_digit = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  if (word.empty() || word.size() > kMaxBytes || !is_letter_or_digit(word[0])) return false;
  return std::ranges::all_of(word, [&](char c) { return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-'; });
}

}  // namespace

void set_program_name(std::string_view called) {
  const std::string_view word = called.substr(called.rfind('/') + 1);  // npos + 1 is 0
  called_name() = is_plain_word(word) ? word : "chat";
}

const std::string& program_name() { return called_name(); }

std::string with_program_name(std::string_view text) {
  std::string filled(text);
  for (size_t at = filled.find(kPlaceholder); at != std::string::npos; at = filled.find(kPlaceholder, at)) {
    filled.replace(at, kPlaceholder.size(), called_name());
    at += called_name().size();
  }
  return filled;
}

}  // namespace warpchat
