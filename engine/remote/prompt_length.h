// Lower bounds of a prompt's tokens, without the model's tokeniser.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>
#include <unordered_map>

namespace warpchat {

// One token per word between blanks: tokens of served models never span words.
uint32_t min_tokens(std::string_view text);

// Remembers a server's counts, so that in a growing conversation all but the latest messages are known exactly.
class PromptLengths {
 public:
  using Messages = nlohmann::ordered_json;  // as sent: [{"role", "content"}]

  void remember(const Messages& messages, uint32_t tokens);

  // Count of the longest remembered prefix, plus one token per word of the rest.
  uint32_t at_least(const Messages& messages) const;

 private:
  std::unordered_map<uint64_t, uint32_t> counted_;  // token counts by hash of the messages
};

}  // namespace warpchat
