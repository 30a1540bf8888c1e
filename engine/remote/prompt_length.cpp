#include "engine/remote/prompt_length.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <string>

namespace warpchat {

namespace {

constexpr size_t kMaxRemembered = 4096;
constexpr std::string_view kBlanks = " \t\r\n";

// Hash of a message sequence, given the hash of all messages before the last.
uint64_t hash_with(uint64_t before, const nlohmann::ordered_json& message) {
  const std::string bytes = message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return (before ^ std::hash<std::string>{}(bytes)) * 0x9E3779B97F4A7C15u + 1;
}

}  // namespace

uint32_t min_tokens(std::string_view text) {
  size_t n = 0;
  for (size_t at = text.find_first_not_of(kBlanks); at != std::string_view::npos; ++n)
    at = text.find_first_not_of(kBlanks, std::min(text.find_first_of(kBlanks, at), text.size()));
  return static_cast<uint32_t>(std::min<size_t>(n, std::numeric_limits<uint32_t>::max() / 2));
}

void PromptLengths::remember(const Messages& messages, uint32_t tokens) {
  uint64_t hash = 0;
  for (const auto& message : messages) hash = hash_with(hash, message);
  if (counted_.size() >= kMaxRemembered) counted_.clear();
  counted_[hash] = tokens;
}

uint32_t PromptLengths::at_least(const Messages& messages) const {
  uint64_t hash = 0;
  uint32_t n = 0;
  for (const auto& message : messages) {
    hash = hash_with(hash, message);
    const auto known = counted_.find(hash);
    const auto content = message.find("content");
    n += content != message.end() && content->is_string() ? min_tokens(content->get_ref<const std::string&>()) : 0;
    if (known != counted_.end()) n = known->second;
  }
  return n;
}

}  // namespace warpchat
