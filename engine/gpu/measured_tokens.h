// An answer's tokens while it is being found out which launch mode is fastest: parts of the answer come by one mode
// after the other, which changes no token, and where a mode fails the next one goes on.
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
    std::function<bool(LaunchMode)> is_ready;  // may begin what makes it so
    // The tokens of a run by that mode; Error if it does not work here.
    std::function<std::unique_ptr<TokenSource>(LaunchMode, const TokenRun&)> start;
    std::function<void(LaunchMode)> set_mode;  // of the passes that follow
    uint32_t sequence;                         // the run's
  };
  // choice: outlives this.
  MeasuredTokens(Decoder& decoder, LaunchChoice& choice, TokenRun run, Launcher launcher);
  ~MeasuredTokens() override;

  std::optional<Token> next(const std::atomic<bool>& stop) override;
  std::optional<std::vector<Token>> end() override;

 private:
  using Clock = std::chrono::steady_clock;
  bool start_part(LaunchChoice::Part part, const std::atomic<bool>& stop);
  std::optional<Token> next_by_stream(const std::string& error, const std::atomic<bool>& stop);
  void given(Token token);

  Decoder& decoder_;
  LaunchChoice& choice_;
  TokenRun run_;  // what is left of it
  Launcher launcher_;
  std::unique_ptr<TokenSource> source_;  // of the part
  bool is_broken_ = false;               // the pass before a part
  LaunchChoice::Part part_;              // its mode, and what is left of it
  uint32_t n_given_ = 0;                 // of the part
  Clock::time_point last_;
};

// Decodes at the start of the first sequence's cache, whose content is lost, until the choice is made, if the decoder
// has one to make: for those who measure something else next.
void settle_launch_mode(Decoder& decoder);

}  // namespace warpchat
