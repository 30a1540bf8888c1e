// What is asked of a server, what it answers, and how that can fail.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "models/error.h"

namespace warpchat {

// It was asked to stop.
class HttpStopped : public Error {
 public:
  HttpStopped() : Error("stopped") {}
};

// The connection broke, stalled or never came to be, and may do better another time; any other fault is a plain Error.
class HttpBroken : public Error {
 public:
  explicit HttpBroken(const std::string& sentence, long seconds = 0) : Error(sentence), least_seconds(seconds) {}
  long least_seconds;  // that the server wants to pass before another try
};

// There was no connection at all: unknown host, nobody listening, no network.
class HttpUnreachable : public HttpBroken {
 public:
  using HttpBroken::HttpBroken;
};

struct HttpAnswer {
  long status = 0;
  std::map<std::string, std::string> headers;  // names in lower case; of several, the last
  std::string body;                            // what on_body does not take
  std::string url;                             // that answered, after redirects

  std::string header(const std::string& name) const;  // empty: none
  long retry_after() const;                           // seconds; dates and anything else count as nothing said: 0
};

// Whether the same request may be answered later: too many requests, overloaded, restarting.
bool may_do_better_later(long status);

enum class Redirects { kNone, kSameHost, kAll };

struct HttpRequest {
  std::string url;
  bool head = false;
  std::optional<std::string> json = {};        // posted; else nothing is sent along
  Redirects redirects = Redirects::kSameHost;  // others are answers like any
  uint64_t from = 0;                           // the first wanted byte
  std::chrono::seconds timeout{0};             // of everything; 0: none
  // Asked as it runs: this long without a byte, and it counts as broken. Without it the options' stall holds.
  std::function<std::chrono::milliseconds()> longest_silence = {};
  // The answer's begin, redirects left out; called once, before the first on_body. What these throw ends the request.
  std::function<void(const HttpAnswer&)> on_answer = {};
  std::function<void(std::span<const std::byte>)> on_body = {};  // of answers with a status of 2xx
};

struct HttpOptions {
  std::string token;   // sent as a bearer token to `origin` alone; empty: none
  std::string origin;  // "https://huggingface.co"; unencrypted requests only if it is http://
  std::string user_agent;
  std::chrono::seconds stall{30};            // this long with hardly a byte, and the connection counts as broken
  size_t most_text_bytes = size_t{8} << 20;  // of a body without on_body; of what is no 2xx, more is dropped
};

}  // namespace warpchat
