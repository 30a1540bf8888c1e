// The decoder: tokens in, logits out, on the device that its steps belong to.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "engine/pass_length.h"
#include "engine/steps.h"
#include "kernels/operation.h"

namespace warpchat {

// The operations of a text decoder's pass, in order: the page that engine/decoder.cpp is.
Network text_decoder(const ModelConfig& config);

struct PrefillWatch {  // progress of a long prompt
  const std::atomic<bool>* stop = nullptr;
  std::function<void(std::span<const Token> of_pass)> after_pass;  // called in order, after each pass is computed
};

class Decoder {
 public:
  Decoder(const ModelConfig& config, std::unique_ptr<Steps> steps);

  uint32_t max_columns() const { return steps_->max_columns(); }
  uint32_t max_logits_columns() const { return steps_->max_logits_columns(); }
  uint32_t max_sequences() const { return steps_->max_sequences(); }
  uint32_t max_positions() const { return steps_->max_positions(); }

  // One pass over runs of different sequences: at most max_columns() tokens in total, at most max_logits_columns()
  // wanted logits, all positions below max_positions(). A sequence's positions before its run must have been decoded;
  // later ones are discarded. Returns false if `stop` was set before the second half of the last layer began; the pass
  // then does not count.
  bool forward(std::span<const Run> runs, const std::atomic<bool>* stop = nullptr);
  // The same for one run.
  bool forward(std::span<const Token> tokens, uint32_t position, Logits wanted, const std::atomic<bool>* stop = nullptr,
               uint32_t sequence = 0);

  // Prefills a prompt of any length in passes chosen by PassLength, and returns the column of the last token's logits
  // once all is computed. Returns nullopt within one pass of a stop; passes reported to after_pass still count.
  std::optional<uint32_t> prefill(std::span<const Token> tokens, uint32_t position, uint32_t sequence = 0,
                                  const PrefillWatch& watch = {});
  // Like forward(), over the tokens that the device's sampler has just chosen, each at its sequence's next position.
  // Every token's logits are wanted.
  bool forward_sampled(const std::atomic<bool>* stop = nullptr);

  // Logits of one column of the last pass that wanted them: [n_vocab], valid until the next pass.
  std::span<const float> logits(uint32_t column) { return steps_->read_logits(column); }

  PassLength& pass_length() { return pass_length_; }  // for prompts

  void wait() { steps_->wait(); }  // until all passes begun are computed; Error if one failed

  Steps& steps() { return *steps_; }
  const ModelConfig& config() const { return config_; }

 private:
  bool run(const std::atomic<bool>* stop);  // runs the pass begun

  ModelConfig config_;
  Network network_;
  std::unique_ptr<Steps> steps_;
  PassLength pass_length_;
};

}  // namespace warpchat
