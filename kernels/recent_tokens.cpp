// Open addressing by the token's low bits, at most half full. Which of two tokens takes a slot depends on who comes
// first; what is found of each does not.
#include "kernels/recent_tokens.h"

#include <algorithm>

namespace warpchat {

using namespace ptx;

namespace {
constexpr uint32_t kFree = UINT32_MAX, kFewestSlots = 1024;
constexpr uint32_t kSeenBits = 32768, kSeenWords = kSeenBits / 32;
}  // namespace

uint32_t RecentTokens::slots(uint32_t ring) { return std::max(2 * ring, kFewestSlots); }

uint64_t RecentTokens::shared_bytes(uint32_t ring) {
  return (uint64_t{slots(ring)} * 2 + kSeenWords) * sizeof(uint32_t);
}

RecentTokens::RecentTokens(Builder& b, uint32_t n_vocab, uint32_t ring, const VirtualBlock& block,
                           const PenaltySettings& settings, const Global<u32>& ring_tokens, const Shared<u8>& memory)
    : b_(b),
      slots_(slots(ring)),
      settings_(settings),
      active_(settings.n_tokens > 0 &&
              (settings.repeat != 1.0f || settings.presence != 0.0f || settings.frequency != 0.0f)),
      tokens_(memory.as<u32>()),
      counts_(tokens_ + slots_),
      seen_(counts_ + slots_) {
  b.if_(active_, [&] {
    b.for_("slot", block.thread(), slots_, block.threads(), [&](Reg<u32> slot) {
      tokens_.store(slot, kFree);
      counts_.store(slot, 0);
    });
    b.for_("word", block.thread(), kSeenWords, block.threads(), [&](Reg<u32> word) { seen_.store(word, 0); });
    block.barrier();
    b.for_("i", block.thread(), settings.n_tokens, block.threads(), [&](Reg<u32> i) {
      Reg<u32> number = b.convert<u32>(settings.n_accepted) - 1 - i;
      Reg<u32> token = ring_tokens.load(number & (ring - 1));
      b.if_(token < n_vocab, [&] { count(token); });
    });
    block.barrier();
  });
}

void RecentTokens::count(const Reg<u32>& token) const {
  Var<u32> slot = b_.var("slot", token & (slots_ - 1));
  Var<u32> found = b_.var("found", (tokens_ + slot).compare_and_swap(kFree, token));
  b_.while_([&] { return found != kFree && found != token; },
            [&] {
              slot = (slot + 1) & (slots_ - 1);
              found = (tokens_ + slot).compare_and_swap(kFree, token);
            });
  (counts_ + slot).red(Atomic::kAdd, 1);
  Reg<u32> bit = Reg<u32>(b_.var("one", 1u)) << (token & 31);
  (seen_ + (token & (kSeenBits - 1)) / 32).as<b32>().red(Atomic::kOr, bit.as<b32>());
}

Pred RecentTokens::may_know_four(const Reg<u32>& first) const {
  Var<u32> bits = b_.var("bits", 0u);
  b_.if_(active_, [&] { bits = seen_.load((first & (kSeenBits - 1)) / 32) >> (first & 31); });
  return (bits & 15) != 0;
}

Reg<f32> RecentTokens::penalised(const Reg<u32>& token, const Reg<f32>& logit) const {
  Var<f32> result = b_.var("logit", logit);
  b_.if_(active_, [&] {
    Var<u32> slot = b_.var("slot", token & (slots_ - 1));
    Var<u32> found = b_.var("found", tokens_.load(slot));
    b_.while_([&] { return found != kFree && found != token; },
              [&] {
                slot = (slot + 1) & (slots_ - 1);
                found = tokens_.load(slot);
              });
    b_.if_(found == token, [&] {
      Reg<f32> repeated = b_.select(logit > 0.0f, logit / settings_.repeat, logit * settings_.repeat);
      Reg<f32> occurrences = b_.convert<f32>(counts_.load(slot));
      result = repeated - (settings_.presence + occurrences * settings_.frequency);
    });
  });
  return result;
}

}  // namespace warpchat
