// One HTTP request at a time: stoppable from another thread, redirects followed by hand, so that the token goes to its
// own host alone.
#pragma once
#include <memory>

#include "engine/http/http_request.h"

namespace warpchat {

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

}  // namespace warpchat
