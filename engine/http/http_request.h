// HTTP requests, answers and errors.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/error.h"

namespace warpchat {

// The request was stopped.
class HttpStopped : public Error {
 public:
  HttpStopped() : Error("stopped") {}
};

// The connection broke, stalled or could not be made; a retry may succeed. Other faults are plain Errors.
class HttpBroken : public Error {
 public:
  explicit HttpBroken(const std::string& sentence, long seconds = 0) : Error(sentence), min_seconds(seconds) {}
  long min_seconds;  // minimum wait before a retry, requested by the server
};

// No connection: unknown host, no listener, no network.
class HttpUnreachable : public HttpBroken {
 public:
  using HttpBroken::HttpBroken;
};

struct HttpAnswer {
  long status = 0;
  std::map<std::string, std::string> headers;  // names in lower case; the last of duplicates
  std::string body;                            // unless on_body consumes it
  std::string url;                             // after redirects

  std::string header(const std::string& name) const;  // empty: none

  // The wait that the server asks for: of retry-after-ms, or of Retry-After as seconds or as a date, which is compared
  // with the answer's own date. 0: none.
  std::chrono::milliseconds retry_after() const;
};

// Whether a retry may succeed: too many requests, overloaded, restarting.
bool may_do_better_later(long status);

enum class Redirects { kNone, kSameHost, kAll };

struct HttpRequest {
  std::string url;
  bool head = false;
  bool remove = false;                         // DELETE
  std::optional<std::string> json = {};        // sent by POST; none: GET
  Redirects redirects = Redirects::kSameHost;  // others are returned as answers
  std::vector<std::string> headers = {};       // "Name: value", to HttpOptions::origin only
  uint64_t from = 0;                           // first byte wanted
  std::chrono::seconds timeout{0};             // for the whole request; 0: none
  // Polled during the request, which counts as a broken connection from then on. Empty: none.
  std::function<std::chrono::steady_clock::time_point()> deadline = {};
  // Polled during the request: silence longer than this counts as a broken connection. Empty: HttpOptions::stall.
  std::function<std::chrono::milliseconds()> longest_silence = {};
  // Bytes given to on_body that end a silence, in total; a comment that only keeps the connection open is none. Empty:
  // all bytes.
  std::function<uint64_t()> payload_bytes = {};
  // The answer's header, without redirects; called once before the first on_body. Exceptions of callbacks end the
  // request.
  std::function<void(const HttpAnswer&)> on_answer = {};
  std::function<void(std::span<const std::byte>)> on_body = {};  // for answers with status 2xx
};

struct HttpOptions {
  std::string token;   // bearer token, sent to `origin` only; empty: none
  std::string origin;  // "https://huggingface.co"; unencrypted requests need an http:// origin
  std::string user_agent;
  std::chrono::seconds stall{30};           // nearly no bytes for this long counts as a broken connection
  size_t max_text_bytes = size_t{8} << 20;  // limit of a body without on_body; longer errors are truncated
};

}  // namespace warpchat
