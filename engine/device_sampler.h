// Sampling by the device that computed the logits: neither logits nor the host lie between one token and the next.
#pragma once
#include <span>

#include "engine/sampler.h"

namespace warpchat {

class DeviceSampler {
 public:
  virtual ~DeviceSampler() = default;

  // How a sequence of the last pass chooses. recent: what penalties count, oldest first.
  struct Start {
    SamplingParams params;
    std::span<const Token> recent;
  };
  // After a pass in which no run wanted the logits of several tokens: one start for each run that wanted those of its
  // last. They hold for the passes that follow, of those sequences, until a pass has tokens from the host again. Or
  // after a run one by one that wanted all: one for each of its tokens, for this choice alone.
  virtual void start(std::span<const Start> columns) = 0;
  virtual void sample() = 0;  // chooses the next token of each; does not wait
  // In place of Steps::begin: the next pass takes the tokens just chosen, each at its sequence's next position.
  virtual void begin_next() = 0;
  // Waits for the oldest sample that has not been read; at most two may be under way. Valid until the next call.
  virtual std::span<const Token> read() = 0;
};

}  // namespace warpchat
