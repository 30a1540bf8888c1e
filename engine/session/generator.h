// Runs generations on a worker thread: prompt tokens in, events out. Keeps the tokens whose keys and values are in the
// cache, so that a prompt's common prefix is not computed again.
#pragma once
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "engine/sampler.h"
#include "engine/session/events.h"
#include "engine/session/model.h"

namespace warpchat {

struct GenerationRequest {
  std::vector<Token> prompt;  // not empty, shorter than the context
  SamplingParams sampling;
  int32_t max_tokens = -1;  // -1: until the end of the answer or of the context
  bool ignore_end = false;  // go on past end-of-generation tokens (benchmarks)
};

class Generator {
 public:
  explicit Generator(Model& model);
  ~Generator();  // stops and joins

  void start(GenerationRequest request);  // must not be busy; Error if the system gives no thread
  void stop();                            // asks; the generation ends within one token, or one pass of a prompt
  bool busy() const { return busy_; }
  void wait();  // until not busy

  EventQueue& events() { return events_; }

 private:
  void run(const GenerationRequest& request);
  bool prefill(const GenerationRequest& request, Timings& timings);
  EndReason generate(const GenerationRequest& request, Timings& timings);

  Model& model_;
  EventQueue events_;
  std::vector<Token> cached_;  // tokens whose keys and values lie in the cache, by position
  uint32_t last_column_ = 0;   // of the last pass: the one with logits
  std::thread worker_;
  std::atomic<bool> busy_ = false, stop_ = false;
};

}  // namespace warpchat
