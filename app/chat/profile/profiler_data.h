// A snapshot for the profiler overlay. Immutable once shared.
#pragma once
#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/device_report.h"
#include "engine/message.h"
#include "engine/profile.h"

namespace warpchat {

struct LoadRow {
  std::string name, value;  // for people
  bool operator==(const LoadRow&) const = default;
};

// The load that a server reports; its kernels cannot be measured.
struct EndpointProfile {
  std::string host;
  bool has_answered = false;  // a reply has arrived
  std::vector<LoadRow> load = {};
  std::string absence = {};  // why there is no load: one sentence
  bool operator==(const EndpointProfile&) const = default;
};

struct ProfilerData {
  std::string device;  // as the status line
  bool is_gpu = false, is_emulated = false;
  double peak_bandwidth = 0;                 // bytes/s; 0: unknown
  std::vector<OperationProfile> rows;        // since the request, prefill included, as in /perf
  std::vector<OperationProfile> token_rows;  // decode only, since the profiler was opened
  uint64_t n_passes = 0;                     // decode passes that token_rows cover
  // The answer's last tokens, oldest first; tokens[i] is token first_token + i, from 0.
  std::vector<ProfiledToken> tokens;
  uint64_t first_token = 0;
  std::vector<TraceSpan> spans;             // calls of those tokens, oldest first; operation: index into rows
  std::vector<TraceSpan> shares;            // each multiprocessor's share of those calls, as recorded
  std::vector<std::vector<float>> history;  // [rows][tokens]: microseconds; may cover fewer tokens than `tokens`
  uint64_t weight_bytes_per_token = 0;      // read per token
  std::vector<MemoryUse> memory;
  std::vector<KernelText> kernels;          // on a GPU
  std::optional<EndpointProfile> endpoint;  // set if a server answers: nothing above is known then
};

// The cost of a finished answer of this run, for comparisons.
struct AnswerProfile {
  uint64_t number = 0;  // of this run's answers, from 1
  std::time_t ended = 0;
  std::string model, device, launch;  // device: --device value, or the server's address; launch: "" without a GPU
  Timings timings;                    // of a continued answer only the last part
  bool is_emulated = false;
  std::vector<OperationProfile> rows;  // decode only; empty: profiling was off
  uint64_t n_passes = 0;               // decode passes that rows cover
};

}  // namespace warpchat
