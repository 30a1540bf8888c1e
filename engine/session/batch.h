// Sequences decoded side by side, one token of each a pass, which join and leave between tokens: what a server needs.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/decoder.h"
#include "engine/sampler.h"

namespace warpchat {

class Batch {
 public:
  explicit Batch(Decoder& decoder);

  uint32_t size() const { return static_cast<uint32_t>(order_.size()); }  // sequences that have joined
  bool is_full() const { return size() == decoder_.max_sequences(); }

  struct Request {
    std::vector<Token> prompt;  // not empty, shorter than a cache
    SamplingParams sampling;
  };
  // Computes the prompt, and samples its first token, which the next step gives: the sequence's number, to be used
  // again after it has left. Not for a full batch. Error if the device fails: no sequence is lost but this one.
  uint32_t join(const Request& request);
  void leave(uint32_t sequence);

  struct Next {
    uint32_t sequence;
    Token token;
  };
  // One token of each sequence, in the order of their joining. One whose cache has no position left gives no more, and
  // must leave. Error if the device fails: what the caches hold is then unknown, and all must leave.
  std::span<const Next> step();

 private:
  struct Sequence {
    std::vector<Token> tokens;  // its prompt, and what was given
    SamplingParams params;
    std::optional<Sampler> sampler;  // where the host samples
    std::optional<Token> first;      // sampled when it joined, not yet given
  };
  Token sample_first(Sequence& sequence, uint32_t column);
  void decode(std::span<const uint32_t> sequences);
  void sample(std::span<const uint32_t> sequences);
  void give(uint32_t sequence, Token token);

  Decoder& decoder_;
  std::vector<std::optional<Sequence>> sequences_;
  std::vector<uint32_t> order_;
  std::vector<uint32_t> on_device_;  // whose tokens and sampler states the device holds, column by column
  std::vector<Next> given_;
};

}  // namespace warpchat
