// Any number of requests side by side, on one thread of its own.
#pragma once
#include <exception>
#include <functional>
#include <memory>

#include "engine/http/http_request.h"

namespace warpchat {

class HttpLoop {
 public:
  explicit HttpLoop(HttpOptions options);
  ~HttpLoop();  // stops what is under way

  // answer, or why there is none: HttpStopped, HttpBroken, Error. Called once a request, by the loop's thread, as the
  // request's callbacks are; it may start others.
  using OnEnd = std::function<void(HttpAnswer answer, std::exception_ptr fault)>;

  // Begins once the delay has passed. Redirects are not followed: they are answers.
  uint64_t start(HttpRequest request, OnEnd on_end, std::chrono::milliseconds delay = std::chrono::milliseconds(0));
  void stop(uint64_t request);  // its connection closes; what has ended is passed over

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace warpchat
