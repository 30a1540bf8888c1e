// Polls an endpoint for its load while the profiler is open, in the background.
#pragma once
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>

#include "app/chat/profile/server_load.h"
#include "app/chat/state/inbox.h"
#include "app/chat/state/state_store.h"
#include "engine/http/http_loop.h"

namespace warpchat {

class LoadWatch : public std::enable_shared_from_this<LoadWatch> {
 public:
  // post: runs a task on the controller's thread, on which this object is used.
  LoadWatch(StateStore& state, std::function<void(Task)> post, const Endpoint& endpoint);

  void begin(const std::string& status);  // asks, and shows that it does; status: the status line
  void turn();                            // call often: asks again when it is time

 private:
  using Clock = std::chrono::steady_clock;
  void ask();
  void on_answer(const HttpAnswer& answer, const std::exception_ptr& fault);
  void show(EndpointProfile profile);

  StateStore& state_;
  std::function<void(Task)> post_;
  Endpoint endpoint_;
  std::string status_;
  bool asks_ = false;
  Clock::time_point next_;
  std::optional<LoadSample> last_, before_;
  HttpLoop loop_;  // destroyed first
};

}  // namespace warpchat
