// When to draw: as soon as something changed, but once per refresh of the display; never otherwise.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>

namespace warpchat::gui {

class Pacer {
 public:
  explicit Pacer(double refresh_seconds) : refresh_(refresh_seconds) {}
  void set_refresh(double seconds) { refresh_ = seconds; }  // the window is on another display

  // ImGui settles hovering, focus and sizes in the frames after the input that moved them.
  void saw_input() { due_ = std::max(due_, 1 + kSettlingFrames); }
  void saw_update(bool more_will_come) { due_ = std::max(due_, more_will_come ? 1 : 2); }
  void saw_motion() { due_ = std::max(due_, 1); }
  void wake_at(double time) { wake_ = std::min(wake_, time); }

  // Seconds to wait for events before a frame is to be drawn: 0: draw now; infinity: nothing is to be drawn.
  double wait(double now) const {
    const double earliest = last_ + refresh_;
    if (due_ > 0) return std::max(earliest - now, 0.0);
    return std::max(std::max(wake_, earliest) - now, 0.0);
  }
  // A frame begins; panels request the next wake-up while they draw.
  void begin_frame(double now) {
    last_ = now;
    wake_ = kNever;
    due_ = std::max(due_ - 1, 0);
    ++n_frames_;
  }
  uint64_t n_frames() const { return n_frames_; }

  static constexpr double kNever = std::numeric_limits<double>::infinity();

 private:
  static constexpr int kSettlingFrames = 2;
  double refresh_, last_ = -kNever, wake_ = kNever;
  int due_ = 1;
  uint64_t n_frames_ = 0;
};

}  // namespace warpchat::gui
