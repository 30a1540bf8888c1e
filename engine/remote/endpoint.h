// Which machine answers, reached how: an OpenAI-compatible endpoint, and what it says of its models.
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
  std::string url;         // as base_url() gives it; requests go to url + "/chat/completions"
  std::string key;         // sent to that host alone; empty: none
  std::string key_source;  // for people: "the variable OPENAI_API_KEY"
  std::string user_agent = "warpchat";
  std::chrono::milliseconds first_token_limit{600'000};  // without a byte, while a prompt may be computed
  std::chrono::milliseconds stall{30'000};               // without a byte, once tokens come
  std::chrono::milliseconds first_wait{1000};            // before a second try; a later one waits twice as long
};

// "http://host:8000", with or without a slash, means its /v1; any other path is taken as it is, without a slash at its
// end, and without /chat/completions or /models. Without a scheme it is http:// for this machine. Error for what is no
// web address, or has a user, a query or a fragment.
std::string base_url(std::string_view text);

// first_token_limit, stall and first_wait from WARPCHAT_ENDPOINT_TIMEOUT (s), WARPCHAT_ENDPOINT_STALL (s) and
// WARPCHAT_ENDPOINT_WAIT_MS where they are set. Error for what is no number from 1.
void read_limits(Endpoint& endpoint);

HttpOptions http_options(const Endpoint& endpoint);

enum class ServerKind { kUnknown, kVllm, kLlamaCpp, kOllama };

struct RemoteModel {
  std::string id;
  uint32_t context = 0;  // tokens; 0: not said
  ServerKind kind = ServerKind::kUnknown;
};

// The body of GET /models: {"data": [{"id", "owned_by", "max_model_len" or the like}]}. Error: part of a sentence.
std::vector<RemoteModel> parse_models(const std::string& body);

// What somebody who waits is told, and how he ends it: cancelled is asked several times a second.
struct Waiting {
  std::function<void(const std::string&)> note = {};
  std::function<bool()> cancelled = {};
};

// Asks the endpoint; a busy one again, each wait told. Error in one sentence, of which one is that it was cancelled.
std::vector<RemoteModel> list_models(const Endpoint& endpoint, const Waiting& waiting = {});

// Whether a busy server (429, 503) is asked once more after so many tries: how long before, and what people are told.
// nullopt for another answer, after the last try, and where it wants too long a wait.
constexpr int kMostTries = 3;
struct NextTry {
  std::chrono::milliseconds wait;
  std::string sentence;
};
std::optional<NextTry> next_try(const Endpoint& endpoint, const HttpAnswer& answer, int n_tries);

// Up to five of the names, those most like the wanted one first: "a, b, c".
std::string near_names(const std::vector<RemoteModel>& models, const std::string& wanted);

}  // namespace warpchat
