// The results of chat bench in llama-bench's columns: Markdown, CSV, JSON, JSON lines.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace warpchat {

struct BenchSubject {       // the same in every row
  std::string file, model;  // "SmolLM2.gguf", "llama 135M Q4_1"
  uint64_t bytes, n_parameters;
  std::string backend;  // "CPU"
  std::string cpu;      // its name
  uint32_t threads, batch, micro_batch;
  std::string type_k, type_v;  // of the cache: "f16"
};

struct BenchResult {
  uint32_t n_prompt = 0, n_generate = 0, depth = 0;
  uint32_t n_parallel = 1;           // sequences that decode n_generate tokens each
  std::string launch = {};           // how a GPU's kernels were launched: "graph"; "" on the CPU
  std::string test_time = {};        // UTC, ISO 8601, when it began
  std::vector<double> seconds = {};  // of each repetition
};

struct BenchStatistics {
  double mean, deviation;  // the sample's standard deviation; 0 for one value
};
BenchStatistics statistics(const std::vector<double>& values);

// "pp512", "tg128", "tg128 x 4 @ d4096"
std::string test_name(const BenchResult& result);

// format: md, csv, json or jsonl.
std::string bench_report(const BenchSubject& subject, const std::vector<BenchResult>& results,
                         const std::string& format);

}  // namespace warpchat
