// Any number of concurrent requests on one thread.
#pragma once
#include <exception>
#include <functional>
#include <memory>

#include "engine/http/http_request.h"

namespace warpchat {

class HttpLoop {
 public:
  explicit HttpLoop(HttpOptions options);
  ~HttpLoop();  // stops running requests

  // Gets the answer, or the fault: HttpStopped, HttpBroken, Error. Called once per request on the loop's thread, like
  // the request's callbacks; may start other requests.
  using OnEnd = std::function<void(HttpAnswer answer, std::exception_ptr fault)>;

  // Starts after the delay. Redirects are returned as answers, not followed.
  uint64_t start(HttpRequest request, OnEnd on_end, std::chrono::milliseconds delay = std::chrono::milliseconds(0));
  void stop(uint64_t request);  // closes its connection; no effect after the end

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace warpchat
