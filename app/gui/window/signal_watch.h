// SIGINT, SIGTERM and SIGHUP as something to be told of, so that the window closes as by its button. A second one ends
// the program at once.
#pragma once
#include <atomic>
#include <functional>
#include <thread>

namespace warpchat::gui {

class SignalWatch {
 public:
  // To be made before any other thread, so that these inherit that signals are not for them.
  // on_signal: called on the watch's own thread.
  explicit SignalWatch(std::function<void()> on_signal);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  int caught() const { return caught_; }  // the signal's number; 0: none

 private:
  void watch();
  std::function<void()> on_signal_;
  std::atomic<int> caught_ = 0;
  std::thread thread_;
};

}  // namespace warpchat::gui
