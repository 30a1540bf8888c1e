// Reports SIGINT, SIGTERM and SIGHUP, so that the window closes as by its button. A second signal ends the program at
// once.
#pragma once
#include <atomic>
#include <functional>
#include <thread>

namespace warpchat::gui {

class SignalWatch {
 public:
  // Create it before any other thread, so that they inherit the blocked signals.
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
