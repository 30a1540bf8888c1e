// What a serving program tells of its load: the text of its /metrics, in Prometheus' exposition format.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "engine/remote/endpoint.h"

namespace warpchat {

// Of vLLM, SGLang and llama.cpp, since the server's start; what it does not tell is nullopt.
struct ServerMetrics {
  std::optional<double> running, waiting;  // requests
  std::optional<double> kv_usage;          // of the KV cache, 0 to 1; of several engines the fullest
  std::optional<double> prompt_tokens, generated_tokens;
  std::optional<double> prompt_seconds, generate_seconds;
  std::optional<double> first_token_seconds, first_tokens;  // their sum, and how many
  std::optional<double> looked_up_tokens, found_tokens;     // of prompts, in the prefix cache
  std::optional<double> found_share;                        // where they are not counted: found of looked up, 0 to 1
  bool operator==(const ServerMetrics&) const = default;
};

// Lines that are no samples, and samples with other names, are passed over.
ServerMetrics parse_metrics(std::string_view text);

// GET /metrics beside the endpoint's /v1.
HttpRequest metrics_request(const Endpoint& endpoint);

// Error in one sentence where the answer tells nothing of the load.
ServerMetrics metrics_of(const Endpoint& endpoint, const HttpAnswer& answer);

}  // namespace warpchat
