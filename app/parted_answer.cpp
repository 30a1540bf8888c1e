// Inverse to each other, but for blanks.
#include "app/parted_answer.h"

#include <algorithm>

namespace warpchat {

namespace {

constexpr std::string_view kOpen = "<think>", kClose = "</think>", kBlank = " \t\r\n";

void cut_blanks(std::string& text) { text.resize(text.find_last_not_of(kBlank) + 1); }

// What may be the beginning of the tag, and the blanks before it.
void cut_beginning_of_tag(std::string& text) {
  cut_blanks(text);
  for (size_t n = std::min(text.size(), kClose.size() - 1); n > 0; --n) {
    if (!text.ends_with(kClose.substr(0, n))) continue;
    text.resize(text.size() - n);
    return cut_blanks(text);
  }
}

bool may_become_tag(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
  return kOpen.starts_with(text);
}

}  // namespace

Message parted(const std::string& role, std::string_view text, bool grows) {
  Message message{.role = role, .content = std::string(text)};
  if (role != "assistant") return message;
  part_reasoning(message);
  if (!grows) return message;
  if (message.content.empty()) cut_beginning_of_tag(message.reasoning);
  if (message.reasoning.empty() && may_become_tag(message.content)) message.content.clear();
  return message;
}

std::string joined(const Message& message) {
  const std::string content = text_for_model(message);
  if (message.reasoning.empty()) return content;
  const std::string thought = std::string(kOpen) + "\n" + message.reasoning;
  return content.empty() ? thought : thought + "\n" + std::string(kClose) + "\n\n" + content;
}

}  // namespace warpchat
