// Asks an endpoint for its load as long as somebody looks, beside everything else.
#pragma once
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>

#include "app/desk/board.h"
#include "app/desk/inbox.h"
#include "app/desk/server_load.h"
#include "engine/http/http_loop.h"

namespace warpchat {

class LoadWatch : public std::enable_shared_from_this<LoadWatch> {
 public:
  // post: to the desk's thread, on which all of this happens.
  LoadWatch(Board& board, std::function<void(Task)> post, const Endpoint& endpoint);

  void begin(const std::string& status);  // asks, and shows that it does; status: as the status line has it
  void turn();                            // to be called often: asks again when it is time

 private:
  using Clock = std::chrono::steady_clock;
  void ask();
  void take(const HttpAnswer& answer, const std::exception_ptr& fault);
  void show(EndpointProfile profile);

  Board& board_;
  std::function<void(Task)> post_;
  Endpoint endpoint_;
  std::string status_;
  bool asks_ = false;
  Clock::time_point next_;
  std::optional<LoadSample> last_, before_;
  HttpLoop loop_;  // ends first
};

}  // namespace warpchat
