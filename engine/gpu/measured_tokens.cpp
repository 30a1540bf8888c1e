#include "engine/gpu/measured_tokens.h"

#include <algorithm>
#include <utility>

#include "engine/profile.h"

namespace warpchat {

// The first token is sampled from the prefill's logits, which do not depend on the mode.
MeasuredTokens::MeasuredTokens(Decoder& decoder, LaunchChoice& choice, TokenRun run, Launcher launcher)
    : decoder_(decoder),
      choice_(choice),
      run_(std::move(run)),
      launcher_(std::move(launcher)),
      part_{LaunchMode::kStream, 1} {
  TokenRun first = run_;
  first.max_tokens = 1;
  source_ = launcher_.start(part_.mode, first);
}

MeasuredTokens::~MeasuredTokens() {
  source_.reset();
  launcher_.set_mode(choice_.is_settled() ? choice_.fastest() : LaunchMode::kStream);
}

std::optional<Token> MeasuredTokens::next(const std::atomic<bool>& stop) {
  std::optional<Token> token;
  try {
    if ((!source_ || part_.tokens == 0) && !start_part(choice_.next(launcher_.is_ready), stop)) return std::nullopt;
    token = source_->next(stop);
  } catch (const Error& error) {
    if (part_.mode == LaunchMode::kStream || (!run_.may_rewind && n_given_ > 0)) throw;
    token = next_by_stream(error.what(), stop);
  }
  if (token) on_token(*token);
  return token;
}

std::optional<std::vector<Token>> MeasuredTokens::end() {
  if (is_broken_) return std::nullopt;
  return source_ ? source_->end() : std::vector<Token>();
}

// Decodes the last token returned, which the new mode has not seen.
bool MeasuredTokens::start_part(LaunchChoice::Part part, const std::atomic<bool>& stop) {
  source_.reset();
  n_given_ = part_.tokens = 0;
  is_broken_ = true;
  if (!decoder_.forward({&run_.recent.back(), 1}, run_.position - 1, Logits::kLast, &stop, launcher_.sequence))
    return false;
  is_broken_ = false;
  part_ = {part.mode, static_cast<uint32_t>(std::min<uint64_t>(part.tokens, run_.max_tokens))};
  run_.last_column = 0;
  TokenRun of_part = run_;
  of_part.max_tokens = part_.tokens;
  source_ = launcher_.start(part_.mode, of_part);
  return true;
}

// A failure is the mode's own only if stream mode can compute the token.
std::optional<Token> MeasuredTokens::next_by_stream(const std::string& error, const std::atomic<bool>& stop) {
  const LaunchMode failed = part_.mode;
  source_.reset();
  launcher_.set_mode(LaunchMode::kStream);
  if (!start_part({LaunchMode::kStream, 1}, stop)) return std::nullopt;
  const std::optional<Token> token = source_->next(stop);
  if (token) choice_.leave_out(failed, error);
  return token;
}

void MeasuredTokens::on_token(Token token) {
  const Clock::time_point now = Clock::now();
  if (++n_given_ > LaunchChoice::kWarmTokens)
    choice_.add(part_.mode, std::chrono::duration<double>(now - last_).count());
  last_ = now;
  --part_.tokens;
  --run_.max_tokens;
  ++run_.position;
  run_.recent.push_back(token);
}

void settle_launch_mode(Decoder& decoder) {
  Steps& steps = decoder.steps();
  const uint32_t n_tokens = std::min(64u, decoder.max_positions());
  if (steps.is_launch_mode_final() || n_tokens <= 2 * LaunchChoice::kWarmTokens) return;
  Profile& profile = steps.profile();
  const bool is_profiled = profile.is_enabled();
  profile.set_enabled(false);
  const std::atomic<bool> stop = false;
  const Token first = 0;
  SamplingParams greedy;
  greedy.temperature = 0;
  while (!steps.is_launch_mode_final()) {
    decoder.forward({&first, 1}, 0, Logits::kLast);
    const auto source = make_token_source(decoder, {greedy, {first}, 1, 0, n_tokens});
    for (uint32_t i = 0; i < n_tokens; ++i) source->next(stop);
  }
  profile.set_enabled(is_profiled);
}

}  // namespace warpchat
