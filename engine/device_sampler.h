// Sampling on the device that computed the logits. Neither logits nor the host are in the path between two tokens.
#pragma once
#include <cstdint>
#include <span>

#include "engine/sampler.h"

namespace warpchat {

class DeviceSampler {
 public:
  virtual ~DeviceSampler() = default;

  // How one sequence of the last pass samples. recent: tokens that penalties count, oldest first.
  struct Start {
    SamplingParams params;
    std::span<const Token> recent;
    std::span<const uint32_t> mask = {};  // bit i % 32 of word i / 32: token i may be chosen; empty: every token
  };
  // Call after a pass in which each run wanted the logits of at most its last token, with one start for each run that
  // wanted them. The starts hold for the following passes of those sequences, until a pass has tokens from the host.
  // After a draft verification that wanted all logits: one start for each of its tokens, for this choice alone.
  virtual void start(std::span<const Start> columns) = 0;
  virtual void sample() = 0;  // samples the next token of each sequence; does not wait
  // Replaces Steps::begin: the next pass reads the sampled tokens, each at its sequence's next position.
  virtual void begin_next() = 0;
  // Waits for the oldest unread sample; at most two may be pending. Valid until the next call.
  virtual std::span<const Token> read() = 0;
};

}  // namespace warpchat
