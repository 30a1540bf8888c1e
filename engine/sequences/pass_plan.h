// What the next pass contains. Planning changes neither the jobs nor the device; only a search for a draft may.
#pragma once
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <vector>

#include "engine/pass_length.h"
#include "engine/steps.h"

namespace warpchat {

struct Job;
using Jobs = std::list<std::unique_ptr<Job>>;

struct PassLimits {
  uint32_t max_columns, max_positions;  // of a pass; of a sequence
  uint32_t max_verified;                // columns of a draft and the tokens before it
  bool is_recurrent, has_sampler;       // the model; the device
};

// How many of a prompt's tokens go into a pass beside streams, which are the jobs whose answers have begun.
struct InterleavedPrefill {
  static constexpr double kMaxDecodeSlowdown = 2.2;   // target slowdown of decode passes that include prompt tokens
  static constexpr uint32_t kInterleavedPasses = 32;  // mixed passes before a decode-only pass refreshes its time
  bool is_timed;                                      // false in an emulator, where time means nothing
  uint32_t max_tokens = 4;                            // per mixed pass
  uint32_t n_passes = 0;                              // mixed passes since the last refresh
  double stream_seconds = 0;                          // duration of the last decode-only pass
  bool needs_refresh() const { return is_timed && (stream_seconds == 0 || n_passes == kInterleavedPasses); }
  void adapt(uint32_t n_of_prompt, double seconds);  // after a mixed pass
};

// A job's part of a pass.
struct Share {
  Job* job;
  uint32_t n_tokens;              // taken from the job's missing tokens
  bool is_sampled;                // the last token's logits give the next one
  std::vector<Token> draft = {};  // after the missing tokens
  uint32_t n_drafted() const { return static_cast<uint32_t>(draft.size()); }
  uint32_t n_sampled() const { return is_sampled ? 1 + n_drafted() : 0; }
};

struct PassPlan {
  std::vector<Share> shares;    // of the streams, which are all sampled, then of a prompt
  bool has_prompt = false;      // in the last share
  bool verify_draft = false;    // the only share has a draft, or replays accepted tokens
  bool can_run_ahead = false;   // following passes may begin before the host has read the sampled tokens
  bool is_device_loop = false;  // the device goes on with the only job, instead of a pass
  uint32_t n_interleaved = 0;   // InterleavedPrefill::n_passes after this pass
};

PassPlan plan_pass(const Jobs& jobs, const PassLimits& limits, const PassLength& pass_length,
                   const InterleavedPrefill& interleaved, const std::function<std::vector<Token>(Job&)>& find_draft);

uint32_t max_draft(const Job& job, const PassLimits& limits);  // tokens; 0: no draft

}  // namespace warpchat
