// Lower bounds of a prompt's tokens, without the model's tokeniser.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_map>

namespace warpchat {

// One token per word between blanks: tokens of served models never span words.
inline uint32_t min_tokens(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  size_t n = 0;
  for (size_t at = text.find_first_not_of(kBlanks); at != std::string_view::npos; ++n)
    at = text.find_first_not_of(kBlanks, std::min(text.find_first_of(kBlanks, at), text.size()));
  return static_cast<uint32_t>(std::min<size_t>(n, std::numeric_limits<uint32_t>::max() / 2));
}

// Remembers a server's counts, so that in a growing conversation all but the latest messages are known exactly.
class PromptLengths {
 public:
  using Messages = nlohmann::ordered_json;  // as sent: [{"role", "content"}]

  void remember(const Messages& messages, uint32_t tokens) {
    uint64_t hash = 0;
    for (const auto& message : messages) hash = hash_with(hash, message);
    if (counted_.size() >= kMaxRemembered) counted_.clear();
    counted_[hash] = tokens;
  }

  // Count of the longest remembered prefix, plus one token per word of the rest.
  uint32_t at_least(const Messages& messages) const {
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

 private:
  static constexpr size_t kMaxRemembered = 4096;

  // Hash of a message sequence, given the hash of all messages before the last.
  static uint64_t hash_with(uint64_t before, const Messages& message) {
    const std::string bytes = message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return (before ^ std::hash<std::string>{}(bytes)) * 0x9E3779B97F4A7C15u + 1;
  }

  std::unordered_map<uint64_t, uint32_t> counted_;  // token counts by hash of the messages
};

}  // namespace warpchat
