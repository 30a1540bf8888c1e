// What the profiler overlay shows, taken from the engine at one moment. Never changed once it is shared.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/profile.h"

namespace warpchat::gui {

struct ProfiledToken {
  double start, seconds;  // of the profile's clock
};

struct MemoryUse {
  std::string purpose;  // "weights", "KV cache", "activations", "file mapping"
  uint64_t bytes;
};

// How a kernel is launched, and its text.
struct KernelText {
  std::string name;    // as OperationProfile::name
  std::string launch;  // "grid 480, block 256, shared memory 12 KB"
  std::shared_ptr<const std::string> ptx;
};

struct ProfilerData {
  std::string device;  // as the status line
  bool is_gpu = false, is_emulated = false;
  double peak_bandwidth = 0;                // bytes/s; 0: unknown
  std::vector<OperationProfile> rows;       // since the answer began
  std::vector<std::vector<float>> history;  // of each row: microseconds per token of the last tokens, oldest first
  std::vector<TraceSpan> spans;             // of the last tokens, oldest first; operation: index into rows
  std::vector<ProfiledToken> tokens;        // those that spans cover, oldest first
  uint32_t n_tokens = 0;                    // rows are of so many passes
  uint64_t weight_bytes_per_token = 0;      // that a token has to read; 0: unknown
  std::vector<MemoryUse> memory;
  std::vector<KernelText> kernels;  // on a GPU
};

}  // namespace warpchat::gui
