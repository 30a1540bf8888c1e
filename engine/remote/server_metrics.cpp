// Table of metric names by server.
#include "engine/remote/server_metrics.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "engine/http/http_url.h"
#include "engine/remote/refusal.h"

namespace warpchat {

namespace {

constexpr std::chrono::seconds kMetricsTimeout{10};

struct Metric {
  std::string_view name;
  std::optional<double> ServerMetrics::*field;
  bool is_share = false;  // combined over several engines by maximum instead of sum
};
constexpr Metric kMetrics[] = {
    {"vllm:num_requests_running", &ServerMetrics::running},
    {"vllm:num_requests_waiting", &ServerMetrics::waiting},
    {"vllm:kv_cache_usage_perc", &ServerMetrics::kv_usage, true},
    {"vllm:gpu_cache_usage_perc", &ServerMetrics::kv_usage, true},  // until 0.10
    {"vllm:prompt_tokens_total", &ServerMetrics::prompt_tokens},
    {"vllm:generation_tokens_total", &ServerMetrics::generated_tokens},
    {"vllm:request_prefill_time_seconds_sum", &ServerMetrics::prompt_seconds},
    {"vllm:request_decode_time_seconds_sum", &ServerMetrics::generate_seconds},
    {"vllm:time_to_first_token_seconds_sum", &ServerMetrics::first_token_seconds},
    {"vllm:time_to_first_token_seconds_count", &ServerMetrics::first_tokens},
    {"vllm:prefix_cache_queries_total", &ServerMetrics::looked_up_tokens},
    {"vllm:prefix_cache_hits_total", &ServerMetrics::found_tokens},
    {"vllm:gpu_prefix_cache_queries_total", &ServerMetrics::looked_up_tokens},  // until 0.10
    {"vllm:gpu_prefix_cache_hits_total", &ServerMetrics::found_tokens},
    {"sglang:num_running_reqs", &ServerMetrics::running},
    {"sglang:num_queue_reqs", &ServerMetrics::waiting},
    {"sglang:token_usage", &ServerMetrics::kv_usage, true},
    {"sglang:prompt_tokens_total", &ServerMetrics::prompt_tokens},
    {"sglang:generation_tokens_total", &ServerMetrics::generated_tokens},
    {"sglang:time_to_first_token_seconds_sum", &ServerMetrics::first_token_seconds},
    {"sglang:time_to_first_token_seconds_count", &ServerMetrics::first_tokens},
    {"sglang:cache_hit_rate", &ServerMetrics::found_share, true},
    {"llamacpp:requests_processing", &ServerMetrics::running},
    {"llamacpp:requests_deferred", &ServerMetrics::waiting},
    {"llamacpp:kv_cache_usage_ratio", &ServerMetrics::kv_usage, true},  // older servers
    {"llamacpp:prompt_tokens_total", &ServerMetrics::prompt_tokens},
    {"llamacpp:prompt_tokens_total", &ServerMetrics::looked_up_tokens},  // excludes cached tokens
    {"llamacpp:prompt_tokens_cached_total", &ServerMetrics::looked_up_tokens},
    {"llamacpp:prompt_tokens_cached_total", &ServerMetrics::found_tokens},
    {"llamacpp:tokens_predicted_total", &ServerMetrics::generated_tokens},
    {"llamacpp:prompt_seconds_total", &ServerMetrics::prompt_seconds},
    {"llamacpp:tokens_predicted_seconds_total", &ServerMetrics::generate_seconds},
};

// name{label="value",...} number [time]: labels may contain any escaped text, so the number follows the last brace.
void take_sample(std::string_view line, ServerMetrics& metrics) {
  const std::string_view name = line.substr(0, line.find_first_of("{ \t"));
  const size_t brace = line.rfind('}');
  line.remove_prefix(brace == std::string_view::npos ? name.size() : brace + 1);
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  double value = 0;
  if (std::from_chars(line.data(), line.data() + line.size(), value).ec != std::errc() || !std::isfinite(value)) return;
  for (const Metric& metric : kMetrics) {
    if (metric.name != name) continue;
    std::optional<double>& field = metrics.*metric.field;
    field = !field ? value : metric.is_share ? std::max(*field, value) : *field + value;
  }
}

}  // namespace

ServerMetrics parse_metrics(std::string_view text) {
  ServerMetrics metrics;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!line.starts_with('#')) take_sample(line, metrics);
  }
  return metrics;
}

HttpRequest metrics_request(const Endpoint& endpoint) {
  const std::string base =
      endpoint.url.ends_with("/v1") ? endpoint.url.substr(0, endpoint.url.size() - 3) : endpoint.url;
  return {.url = base + "/metrics", .redirects = Redirects::kNone, .timeout = kMetricsTimeout};
}

ServerMetrics metrics_of(const Endpoint& endpoint, const HttpAnswer& answer) {
  const std::string host = host_of(endpoint.url), words = server_words(answer.body, endpoint.key);
  if (answer.status == 401 || answer.status == 403) throw Error(host + " does not tell its load to this key");
  if (answer.status != 200)
    throw Error(host + " does not tell its load: /metrics answers " + std::to_string(answer.status) +
                (words.empty() ? "" : " (" + words + ")"));
  const ServerMetrics metrics = parse_metrics(answer.body);
  if (metrics == ServerMetrics{}) throw Error(host + " does not tell its load: nothing in its /metrics is known here");
  return metrics;
}

}  // namespace warpchat
