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
  bool operator==(const ServerMetrics&) const = default;
};

// Lines that are no samples, and samples with other names, are passed over.
ServerMetrics parse_metrics(std::string_view text);

// Asks for /metrics beside the endpoint's /v1. Error in one sentence where there is none.
ServerMetrics fetch_metrics(const Endpoint& endpoint);

}  // namespace warpchat
