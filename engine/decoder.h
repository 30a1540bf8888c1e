// The decoder: tokens in, logits out, on whichever device its steps belong to.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "engine/pass_length.h"
#include "engine/steps.h"

namespace warpchat {

struct PrefillWatch {  // of a long prompt
  const std::atomic<bool>* stop = nullptr;
  std::function<void(std::span<const Token> of_pass)> after_pass;  // that has been computed; in order
};

class Decoder {
 public:
  Decoder(const ModelConfig& config, std::unique_ptr<Steps> steps);

  uint32_t max_columns() const { return steps_->max_columns(); }
  uint32_t max_logits_columns() const { return steps_->max_logits_columns(); }
  uint32_t max_sequences() const { return steps_->max_sequences(); }
  uint32_t max_positions() const { return steps_->max_positions(); }

  // One pass over runs of different sequences: together at most max_columns() tokens, at most max_logits_columns()
  // whose logits are wanted, and all positions below max_positions(). A sequence's positions before its run must have
  // been decoded before; later ones are forgotten. False if `stop` was set before the second half of the last layer
  // began: nothing of the pass counts then.
  bool forward(std::span<const Run> runs, const std::atomic<bool>* stop = nullptr);
  // The same of one run.
  bool forward(std::span<const Token> tokens, uint32_t position, Logits wanted, const std::atomic<bool>* stop = nullptr,
               uint32_t sequence = 0);

  // A prompt of any length, in passes as long as PassLength says, with the logits of its last token: the column of
  // them. Returns when all is computed; or within a pass of a stop, with nullopt: the passes that were told of count
  // all the same.
  std::optional<uint32_t> prefill(std::span<const Token> tokens, uint32_t position, uint32_t sequence = 0,
                                  const PrefillWatch& watch = {});
  // One pass as by forward over the tokens that the device's sampler has just chosen, each at its sequence's next
  // position, with the logits of all.
  bool forward_sampled(const std::atomic<bool>* stop = nullptr);

  // After a pass that wanted them: the logits of one of its columns, [n_vocab], valid until the next pass.
  std::span<const float> logits(uint32_t column) { return steps_->read_logits(column); }

  PassLength& pass_length() { return pass_length_; }  // of prompts

  void wait() { steps_->wait(); }  // for the passes begun; Error if one failed

  Steps& steps() { return *steps_; }
  const ModelConfig& config() const { return config_; }

 private:
  bool run(const std::atomic<bool>* stop);  // the pass begun

  ModelConfig config_;
  std::unique_ptr<Steps> steps_;
  PassLength pass_length_;
};

}  // namespace warpchat
