// One HTTP request at a time by libcurl: TLS verified, proxies from the environment, stalls noticed, answers bounded,
// redirects followed by hand, so that the token goes to its own host alone.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "models/error.h"

namespace warpchat {

// stop() was called.
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
};

enum class Redirects { kNone, kSameHost, kAll };

struct HttpRequest {
  std::string url;
  bool head = false;
  Redirects redirects = Redirects::kSameHost;  // others are answers like any
  uint64_t from = 0;                           // the first wanted byte
  std::chrono::seconds timeout{0};             // of everything; 0: none
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

class HttpClient {
 public:
  explicit HttpClient(HttpOptions options);
  ~HttpClient();

  HttpAnswer send(const HttpRequest& request);  // HttpStopped, HttpBroken, Error
  void stop();                                  // from any thread: the request at hand and all later ones throw
  bool wait(std::chrono::milliseconds time);    // false, and earlier, if stopped

 private:
  struct State;
  HttpAnswer send_once(const HttpRequest& request, const std::string& url);
  std::unique_ptr<State> state_;
};

// "https://host:port", the port left out where it is the scheme's own; empty for what is no http(s) URL.
std::string origin_of(const std::string& url);
std::string host_of(const std::string& url);  // for messages: "host" or "host:port"

// reference as a server gives it, relative to base; empty if it is no URL.
std::string resolve_url(const std::string& base, const std::string& reference);

std::string escape_url_path(const std::string& path);   // every byte but letters, digits, - . _ ~ and / as %XX
std::string escape_url_value(const std::string& text);  // the same, and / too

}  // namespace warpchat
