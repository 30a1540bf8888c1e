// One HTTP request at a time, stoppable from another thread. Redirects are followed here, not by libcurl, so that the
// token is sent to its own host only.
#pragma once
#include <memory>

#include "engine/http/http_request.h"

namespace warpchat {

class HttpClient {
 public:
  explicit HttpClient(HttpOptions options);
  ~HttpClient();

  HttpAnswer send(const HttpRequest& request);  // throws HttpStopped, HttpBroken, Error
  void stop();                                  // thread-safe; the current and all later requests throw
  bool wait(std::chrono::milliseconds time);    // false if stopped, without waiting longer

 private:
  struct State;
  HttpAnswer send_once(const HttpRequest& request, const std::string& url);
  std::unique_ptr<State> state_;
};

}  // namespace warpchat
