#include "kernels/sampling/recent_tokens.h"

namespace warpchat {

using namespace ptx;

RecentTokens::RecentTokens(Builder& b, uint32_t n_vocab, uint32_t ring, const PenaltySettings& settings,
                           const RecentTokensMemory& memory)
    : b_(b),
      n_vocab_(n_vocab),
      ring_(ring),
      settings_(settings),
      memory_(memory),
      has_penalties_(settings.window > 0 &&
                     (settings.repeat != 1.0f || settings.presence != 0.0f || settings.frequency != 0.0f)) {}

void RecentTokens::penalise(const Reg<u32>& token, Var<f32>& logit) const {
  b_.if_(has_penalties_, [&] { penalise_one_of_four(token, logit); });
}

void RecentTokens::if_any_of_four(const Reg<u32>& first, const std::function<void()>& body) const {
  b_.if_(has_penalties_, [&] {
    const Vec<u32, 4> counts = memory_.counts.load<4>(first);
    b_.if_((counts[0] | counts[1] | counts[2] | counts[3]) != 0, body);
  });
}

void RecentTokens::penalise_one_of_four(const Reg<u32>& token, Var<f32>& logit) const {
  Reg<u32> n = memory_.counts.load(token);
  b_.if_(n > 0, [&] {
    Reg<f32> repeated = b_.select(logit > 0.0f, logit / settings_.repeat, logit * settings_.repeat);
    logit = repeated - (settings_.presence + b_.convert<f32>(n) * settings_.frequency);
  });
}

void RecentTokens::accept(const Reg<u32>& token) const {
  Reg<u64> n_accepted = memory_.n_accepted.load();
  Reg<u32> number = b_.convert<u32>(n_accepted);
  b_.if_(has_penalties_, [&] {
    b_.if_(n_accepted >= wide(settings_.window), [&] {
      Reg<u32> oldest =
          memory_.tokens.load((number - settings_.window) & (ring_ - 1));  // may be the slot of the new token
      b_.if_(oldest < n_vocab_, [&] { count(oldest, UINT32_MAX); });
    });
    count(token, 1);
  });
  memory_.tokens.store(number & (ring_ - 1), token);
  memory_.n_accepted.store(0, n_accepted + 1);
}

void RecentTokens::count(const Reg<u32>& token, uint32_t difference) const {
  (memory_.counts + token).red(Atomic::kAdd, difference, Order::kRelaxed, Scope::kBlock);
}

}  // namespace warpchat
