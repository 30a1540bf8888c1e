// Something to look at while loading: a line on standard error, drawn by a thread of its own, gone without trace at
// the end. Draws nothing where standard error or output is no terminal, or if it ends within a moment.
#pragma once
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace warpchat {

class Spinner {
 public:
  explicit Spinner(std::string label);
  ~Spinner();
  void set_progress(double fraction) { fraction_ = fraction; }  // 0..1; shown once it is above 0

 private:
  void run();
  std::string label_;
  std::atomic<double> fraction_ = 0;
  std::mutex mutex_;
  std::condition_variable ending_;
  bool ended_ = false;
  std::thread thread_;
};

// One frame of it: "⠙ loading 45%". tick counts frames.
std::string spinner_frame(const std::string& label, double fraction, unsigned tick);

}  // namespace warpchat
