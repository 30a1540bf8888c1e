// A progress line on standard error while loading, drawn by its own thread and erased at
// the end. Draws nothing where standard error or output is no terminal or may not be drawn on, or if it ends within a
// moment.
#pragma once
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace warpchat {

// A line that is redrawn at the cursor and never exceeds a row.
class StatusLine {
 public:
  std::string draw(std::string_view line, int columns);  // as printable() text; columns: of the terminal now
  std::string clear(int columns);                        // nothing if nothing is drawn

 private:
  int width_ = 0;  // columns of what is drawn
};

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
