// An answer's tokens while launch modes are measured: consecutive parts of the answer use different modes. The tokens
// do not depend on the mode. If a mode fails, another takes over.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "engine/gpu/gpu_steps.h"
#include "engine/gpu/launch_choice.h"
#include "engine/token_source.h"

namespace warpchat {

class MeasuredTokens final : public TokenSource {
 public:
  struct Launcher {
    std::function<bool(LaunchMode)> is_ready;  // may start preparing the mode
    // Tokens of a run in that mode; Error if it does not work here.
    std::function<std::unique_ptr<TokenSource>(LaunchMode, const TokenRun&)> start;
    std::function<void(LaunchMode)> set_mode;  // for following passes
    uint32_t sequence;                         // the run's sequence
  };
  // choice: must outlive this.
  MeasuredTokens(Decoder& decoder, LaunchChoice& choice, TokenRun run, Launcher launcher);
  ~MeasuredTokens() override;

  std::optional<Token> next(const std::atomic<bool>& stop) override;
  std::optional<std::vector<Token>> end() override;

 private:
  using Clock = std::chrono::steady_clock;
  bool start_part(LaunchChoice::Part part, const std::atomic<bool>& stop);
  std::optional<Token> next_by_stream(const std::string& error, const std::atomic<bool>& stop);
  void on_token(Token token);

  Decoder& decoder_;
  LaunchChoice& choice_;
  TokenRun run_;  // the rest of the run
  Launcher launcher_;
  std::unique_ptr<TokenSource> source_;  // source of the current part
  bool is_broken_ = false;               // the pass before a part was interrupted
  LaunchChoice::Part part_;              // mode and remaining tokens
  uint32_t n_given_ = 0;                 // tokens returned in this part
  Clock::time_point last_;
};

// Decodes at the start of the first sequence's cache, overwriting it, until the launch mode is chosen. For benchmarks,
// before they measure something else.
void settle_launch_mode(Decoder& decoder);

}  // namespace warpchat
