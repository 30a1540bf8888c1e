// A server's load, parsed from /metrics in Prometheus' exposition format.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "engine/remote/endpoint.h"

namespace warpchat {

// From vLLM, SGLang and llama.cpp, since the server's start; nullopt if not reported.
struct ServerMetrics {
  std::optional<double> running, waiting;  // requests
  std::optional<double> kv_usage;          // fraction of the KV cache; of the fullest engine
  std::optional<double> prompt_tokens, generated_tokens;
  std::optional<double> prompt_seconds, generate_seconds;
  std::optional<double> first_token_seconds, first_tokens;  // sum and count
  std::optional<double> looked_up_tokens, found_tokens;     // prompt tokens, in the prefix cache
  std::optional<double> found_share;                        // if tokens are not counted: found over looked up, 0 to 1
  bool operator==(const ServerMetrics&) const = default;
};

// Ignores lines that are no samples, and unknown names.
ServerMetrics parse_metrics(std::string_view text);

// GET /metrics next to the endpoint's /v1.
HttpRequest metrics_request(const Endpoint& endpoint);

// Error if the answer has no known load metric.
ServerMetrics metrics_of(const Endpoint& endpoint, const HttpAnswer& answer);

}  // namespace warpchat
