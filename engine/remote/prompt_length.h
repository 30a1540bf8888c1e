// How many tokens a prompt has at least, for who does not have the model's tokeniser.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>
#include <unordered_map>

namespace warpchat {

// One for each word, as parted by blanks: tokens of served models do not reach from one word into the next.
uint32_t least_tokens(std::string_view text);

// Learns from what a server has counted: of a conversation that goes on, all but the last message is known exactly.
class PromptLengths {
 public:
  using Messages = nlohmann::ordered_json;  // as they are sent: [{"role", "content"}]

  void remember(const Messages& messages, uint32_t tokens);

  // Of the longest beginning that is remembered, and a token a word of the rest.
  uint32_t at_least(const Messages& messages) const;

 private:
  std::unordered_map<uint64_t, uint32_t> counted_;  // tokens, by the messages' hash
};

}  // namespace warpchat
