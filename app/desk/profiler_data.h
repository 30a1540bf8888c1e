// What the profiler overlay shows, taken from the engine at one moment. Never changed once it is shared.
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

// Of another machine that answers: nothing is measured there, but it may tell of its load.
struct EndpointProfile {
  std::string host;
  bool has_answered = false;  // it has been asked, and this is what came of it
  std::vector<LoadRow> load = {};
  std::string absence = {};  // why there is none: one sentence
  bool operator==(const EndpointProfile&) const = default;
};

struct ProfilerData {
  std::string device;  // as the status line
  bool is_gpu = false, is_emulated = false;
  double peak_bandwidth = 0;                 // bytes/s; 0: unknown
  std::vector<OperationProfile> rows;        // since the answer was asked for, with its prompt: as /perf
  std::vector<OperationProfile> token_rows;  // the part of it behind the prompt, since somebody looks
  uint64_t n_passes = 0;                     // of one token each, that token_rows are of
  // The answer's last tokens, oldest first; tokens[i] is its token number first_token + i, from 0.
  std::vector<ProfiledToken> tokens;
  uint64_t first_token = 0;
  std::vector<TraceSpan> spans;             // calls of those tokens, oldest first; operation: index into rows
  std::vector<TraceSpan> shares;            // of multiprocessors in them, as recorded
  std::vector<std::vector<float>> history;  // of each row: microseconds in each of the first so many of the tokens
  uint64_t weight_bytes_per_token = 0;      // that a token has to read
  std::vector<MemoryUse> memory;
  std::vector<KernelText> kernels;          // on a GPU
  std::optional<EndpointProfile> endpoint;  // who answers in place of a model here, of which nothing above is known
};

// What an answer of this run took, kept when it has ended, to be held against another one.
struct AnswerProfile {
  uint64_t number = 0;  // of this run's answers, from 1
  std::time_t ended = 0;
  std::string model, device, launch;  // device: as --device takes it, or where another machine is; launch: "" of no GPU
  Timings timings;                    // of what was generated then; of an answer that went on, of this part alone
  bool is_emulated = false;
  std::vector<OperationProfile> rows;  // behind its prompt, while somebody looked; empty: nobody did
  uint64_t n_passes = 0;               // of one token each, that rows are of
};

}  // namespace warpchat
