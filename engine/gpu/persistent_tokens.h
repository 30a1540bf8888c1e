// Tokens of a sequence from consecutive persistent launches, each as long as possible.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "engine/gpu/persistent_launch.h"
#include "engine/token_source.h"

namespace warpchat {

class PersistentTokens final : public TokenSource {
 public:
  struct Start {
    Token first;                                        // already sampled, at run.position
    uint64_t page_table;                                // PersistentLaunch::Request's
    uint64_t delta_state = 0;                           // PersistentLaunch::Request's
    uint32_t tokens_per_launch = UINT32_MAX;            // at least 1
    StampRequest stamps = {};                           // PersistentLaunch::Request's
    std::function<void(uint32_t position)> ended = {};  // after each launch, with its first token's position
  };
  // launch: used by nothing else meanwhile.
  PersistentTokens(PersistentLaunch& launch, TokenRun run, Start start);
  ~PersistentTokens() override;  // ends the launch

  std::optional<Token> next(const std::atomic<bool>& stop) override;
  std::optional<std::vector<Token>> end() override;

 private:
  Token next_of_launch();
  void start_launch();
  void end_launch();

  PersistentLaunch& launch_;
  TokenRun run_;
  Start start_;
  uint64_t n_given_ = 0;
  uint32_t launched_at_ = 0;  // position of the launch's first token
};

}  // namespace warpchat
