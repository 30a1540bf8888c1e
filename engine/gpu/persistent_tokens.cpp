#include "engine/gpu/persistent_tokens.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "engine/gpu/sampler_state.h"
#include "models/error.h"

namespace warpchat {

PersistentTokens::PersistentTokens(PersistentLaunch& launch, TokenRun run, Start start)
    : launch_(launch), run_(std::move(run)), start_(std::move(start)) {
  run_.recent.push_back(start_.first);
}

PersistentTokens::~PersistentTokens() {
  try {
    end_launch();
  } catch (const Error&) {  // the next pass reports it, too
  }
}

// Continues from the last returned token, which is the last of run_.recent.
void PersistentTokens::start_launch() {
  PersistentLaunch::Request request;
  request.token = run_.recent.back();
  request.position = run_.position;
  request.max_tokens = static_cast<uint32_t>(std::min<uint64_t>(run_.max_tokens - n_given_, start_.tokens_per_launch));
  request.sampler = sampler_state(run_.sampling);
  request.recent = run_.recent;
  request.end_tokens =
      std::span(run_.end_tokens).first(std::min<size_t>(run_.end_tokens.size(), DecodeRequest::kMaxEndTokens));
  request.page_table = start_.page_table;
  request.delta_state = start_.delta_state;
  request.stamps = start_.stamps;
  launched_at_ = run_.position;
  launch_.start(request);
}

void PersistentTokens::end_launch() {
  if (!launch_.is_running()) return;
  launch_.cut();
  if (start_.ended) start_.ended(launched_at_);
}

std::optional<Token> PersistentTokens::next(const std::atomic<bool>& stop) {
  if (stop) {
    if (run_.may_rewind) end_launch();
    return std::nullopt;
  }
  assert(n_given_ < run_.max_tokens);
  if (n_given_ == 0) {
    ++n_given_;
    return start_.first;
  }
  const Token token = next_of_launch();
  ++n_given_;
  ++run_.position;
  run_.recent.push_back(token);
  return token;
}

std::optional<std::vector<Token>> PersistentTokens::end() {
  std::vector<Token> tokens;
  if (!launch_.is_running()) return tokens;
  launch_.stop();
  while (const std::optional<Token> token = launch_.next()) tokens.push_back(*token);
  if (start_.ended) start_.ended(launched_at_);
  return tokens;
}

Token PersistentTokens::next_of_launch() {
  if (launch_.is_running()) {
    if (const std::optional<Token> token = launch_.next()) return *token;
    if (start_.ended) start_.ended(launched_at_);  // the launch decoded all it was asked for
  }
  start_launch();
  return launch_.next().value();
}

}  // namespace warpchat
