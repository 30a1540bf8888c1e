// One list of fields for CSV and JSON, as llama-bench names them; the Markdown table shows seven of them, on a GPU how
// kernels were launched, and types of the cache that are not f16.
#include "app/commands/bench_report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>

#include "app/platform/version.h"

namespace warpchat {

namespace {

using nlohmann::ordered_json;

std::vector<double> tokens_per_second(const BenchResult& result) {
  std::vector<double> rates;
  for (double seconds : result.seconds)
    rates.push_back((result.n_prompt + result.n_generate * result.n_parallel) / seconds);
  return rates;
}

std::vector<double> nanoseconds(const BenchResult& result) {
  std::vector<double> values;
  for (double seconds : result.seconds) values.push_back(std::round(seconds * 1e9));
  return values;
}

ordered_json fields(const BenchSubject& s, const BenchResult& r) {
  const BenchStatistics time = statistics(nanoseconds(r)), rate = statistics(tokens_per_second(r));
  ordered_json row = {{"build_commit", kVersion},
                      {"build_number", 0},
                      {"cpu_info", s.cpu},
                      {"gpu_info", ""},
                      {"backends", s.backend},
                      {"model_filename", s.file},
                      {"model_type", s.model},
                      {"model_size", s.bytes},
                      {"model_n_params", s.n_parameters},
                      {"n_batch", s.batch},
                      {"n_ubatch", s.micro_batch},
                      {"n_threads", s.threads},
                      {"type_k", s.type_k},
                      {"type_v", s.type_v},
                      {"n_prompt", r.n_prompt},
                      {"n_gen", r.n_generate},
                      {"n_depth", r.depth},
                      {"n_parallel", r.n_parallel},
                      {"launch", r.launch},
                      {"test_time", r.test_time},
                      {"avg_ns", std::llround(time.mean)},
                      {"stddev_ns", std::llround(time.deviation)},
                      {"avg_ts", rate.mean},
                      {"stddev_ts", rate.deviation}};
  return row;
}

std::string formatted(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string csv(const BenchSubject& subject, const std::vector<BenchResult>& results) {
  std::string text;
  for (const BenchResult& result : results) {
    const ordered_json row = fields(subject, result);
    std::string names, values;
    for (const auto& [name, value] : row.items()) {
      std::string shown = value.is_string() ? value.get<std::string>() : value.dump();
      for (size_t at = 0; (at = shown.find('"', at)) != std::string::npos; at += 2) shown.insert(at, 1, '"');
      names += (names.empty() ? "" : ",") + name;
      values += (values.empty() ? "\"" : ",\"") + shown + "\"";
    }
    if (text.empty()) text = names + "\n";
    text += values + "\n";
  }
  return text;
}

std::string json(const BenchSubject& subject, const std::vector<BenchResult>& results, bool lines) {
  std::string text = lines ? "" : "[\n";
  for (size_t i = 0; i < results.size(); ++i) {
    ordered_json row = fields(subject, results[i]);
    row["samples_ns"] = nanoseconds(results[i]);
    row["samples_ts"] = tokens_per_second(results[i]);
    if (lines)
      text += row.dump() + "\n";
    else
      text += row.dump(2) + (i + 1 < results.size() ? ",\n" : "\n");
  }
  return lines ? text : text + "]\n";
}

std::string parameters_text(uint64_t n) {
  return n >= 1'000'000'000 ? formatted("%.2f B", static_cast<double>(n) * 1e-9)
                            : formatted("%.2f M", static_cast<double>(n) * 1e-6);
}

std::string size_text(uint64_t bytes) {
  constexpr double kGiB = 1024.0 * 1024 * 1024;
  const double value = static_cast<double>(bytes);
  return value >= kGiB ? formatted("%.2f GiB", value / kGiB) : formatted("%.2f MiB", value / kGiB * 1024);
}

std::string markdown(const BenchSubject& subject, const std::vector<BenchResult>& results) {
  std::vector<std::vector<std::string>> rows = {{"model", "size", "params", "backend", "threads", "test", "t/s"}};
  for (const BenchResult& result : results) {
    const BenchStatistics rate = statistics(tokens_per_second(result));
    rows.push_back({subject.model, size_text(subject.bytes), parameters_text(subject.n_parameters), subject.backend,
                    std::to_string(subject.threads), test_name(result),
                    formatted("%.2f", rate.mean) + " ± " + formatted("%.2f", rate.deviation)});
  }
  const auto insert = [&](const std::string& name, const std::function<std::string(const BenchResult&)>& value) {
    for (size_t r = 0; r < rows.size(); ++r) rows[r].insert(rows[r].begin() + 5, r == 0 ? name : value(results[r - 1]));
  };
  const auto is_launched = [](const BenchResult& result) { return !result.launch.empty(); };
  if (std::ranges::any_of(results, is_launched)) insert("launch", [](const BenchResult& r) { return r.launch; });
  // As llama-bench, only what is not the default.
  if (subject.type_v != "f16") insert("type_v", [&](const BenchResult&) { return subject.type_v; });
  if (subject.type_k != "f16") insert("type_k", [&](const BenchResult&) { return subject.type_k; });
  std::vector<size_t> widths(rows[0].size(), 0);
  const auto width_of = [](const std::string& s) { return s.size() - (s.find("±") != std::string::npos ? 1 : 0); };
  for (const auto& row : rows)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  std::string text;
  for (size_t r = 0; r < rows.size(); ++r) {
    for (size_t i = 0; i < widths.size(); ++i) {
      const std::string blanks(widths[i] - width_of(rows[r][i]), ' ');
      const bool left = i == 0 || i == 3;  // names to the left, numbers to the right
      text += "| " + (left ? rows[r][i] + blanks : blanks + rows[r][i]) + " ";
    }
    text += "|\n";
    if (r > 0) continue;
    for (size_t i = 0; i < widths.size(); ++i)
      text += "| " + std::string(widths[i] - 1, '-') + (i == 0 || i == 3 ? "- " : ": ");
    text += "|\n";
  }
  return text;
}

}  // namespace

BenchStatistics statistics(const std::vector<double>& values) {
  double mean = 0, squares = 0;
  for (double value : values) mean += value / static_cast<double>(values.size());
  for (double value : values) squares += (value - mean) * (value - mean);
  return {mean, values.size() < 2 ? 0 : std::sqrt(squares / static_cast<double>(values.size() - 1))};
}

std::string test_name(const BenchResult& result) {
  std::string name =
      result.n_prompt > 0 ? "pp" + std::to_string(result.n_prompt) : "tg" + std::to_string(result.n_generate);
  if (result.n_parallel > 1) name += " x " + std::to_string(result.n_parallel);
  if (result.depth > 0) name += " @ d" + std::to_string(result.depth);
  return name;
}

std::string bench_report(const BenchSubject& subject, const std::vector<BenchResult>& results,
                         const std::string& format) {
  if (format == "csv") return csv(subject, results);
  if (format == "json" || format == "jsonl") return json(subject, results, format == "jsonl");
  return markdown(subject, results);
}

}  // namespace warpchat
