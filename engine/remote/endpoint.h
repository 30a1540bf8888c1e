// An OpenAI-compatible endpoint: its address, limits and models.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/http/http_request.h"

namespace warpchat {

struct Endpoint {
  std::string url;         // result of base_url(); requests go to url + "/chat/completions"
  std::string key;         // sent to this host only; empty: none
  std::string key_source;  // for messages: "the variable OPENAI_API_KEY"
  std::string user_agent = "warpchat";
  std::chrono::milliseconds first_token_limit{600'000};  // longest silence before the first token, e.g. during prefill
  std::chrono::milliseconds stall{30'000};               // longest silence after the first token
  std::chrono::milliseconds first_wait{1000};            // before the first retry; doubles with each
};

// "http://host:8000", with or without a slash, means its /v1. Other paths are kept, without a final slash,
// /chat/completions or /models. Without a scheme, this machine and a host with a port other than 443 mean http://,
// another host with a dot https://. Error if it is no web address, or has a user, a query or a fragment.
std::string base_url(std::string_view text);

// Whether the text can only mean a server: it has a scheme of the web, or is this machine or a host with a port.
bool is_server_address(std::string_view text);

// Reads first_token_limit, stall and first_wait from WARPCHAT_ENDPOINT_TIMEOUT (s), WARPCHAT_ENDPOINT_STALL (s) and
// WARPCHAT_ENDPOINT_WAIT_MS, if set. Error unless they are numbers from 1.
void read_limits(Endpoint& endpoint);

HttpOptions http_options(const Endpoint& endpoint);

// Whether the endpoint is one of mistral.ai.
bool is_mistral(const Endpoint& endpoint);

enum class ServerKind { kUnknown, kVllm, kSgLang, kLlamaCpp, kOllama, kMistral };

struct RemoteModel {
  std::string id;
  uint32_t context = 0;  // tokens; 0: unknown
  ServerKind kind = ServerKind::kUnknown;
  std::vector<std::string> capabilities =
      {};  // that the server tells, of images, audio, tools, thinking; in this order
};

// Parses the body of GET /models: {"data": [{"id", "owned_by", "max_model_len" or similar}]}. Error: part of a
// sentence.
std::vector<RemoteModel> parse_models(const std::string& body);

// Progress and cancellation for a waiting caller. cancelled: polled several times a second.
struct Waiting {
  std::function<void(const std::string&)> note = {};
  std::function<bool()> cancelled = {};
};

// Queries the endpoint; retries if it is busy, reporting each wait. Error also if cancelled.
std::vector<RemoteModel> list_models(const Endpoint& endpoint, const Waiting& waiting = {});

// Next try after a busy server (429, 503): the wait, and a message for the user. nullopt for any other answer, after
// the last try, and if the server requests too long a wait.
constexpr int kMaxTries = 3;
struct NextTry {
  std::chrono::milliseconds wait;
  std::string sentence;
};
std::optional<NextTry> next_try(const Endpoint& endpoint, const HttpAnswer& answer, int n_tries);

// Up to five model names, most similar first: "a, b, c".
std::string near_names(const std::vector<RemoteModel>& models, const std::string& wanted);

}  // namespace warpchat
