// What the profiler overlay shows, taken from the engine at one moment. Never changed once it is shared.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/device_report.h"
#include "engine/profile.h"

namespace warpchat {

struct ProfilerData {
  std::string device;  // as the status line
  bool is_gpu = false, is_emulated = false;
  double peak_bandwidth = 0;                 // bytes/s; 0: unknown
  std::vector<OperationProfile> rows;        // since the answer was asked for, with its prompt: as /perf
  std::vector<OperationProfile> token_rows;  // the part of it behind the prompt, since somebody looks
  uint64_t n_passes = 0;                     // that token_rows are of: one for each token but the first
  // The answer's last tokens, oldest first; tokens[i] is its token number first_token + i, from 0.
  std::vector<ProfiledToken> tokens;
  uint64_t first_token = 0;
  std::vector<TraceSpan> spans;             // calls of those tokens, oldest first; operation: index into rows
  std::vector<TraceSpan> shares;            // of multiprocessors in them, as recorded
  std::vector<std::vector<float>> history;  // of each row: microseconds in each of the first so many of the tokens
  uint64_t weight_bytes_per_token = 0;      // that a token has to read
  std::vector<MemoryUse> memory;
  std::vector<KernelText> kernels;  // on a GPU
};

}  // namespace warpchat
