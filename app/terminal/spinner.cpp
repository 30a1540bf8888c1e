// Ten frames a second after a short wait.
#include "app/terminal/spinner.h"

#include <array>
#include <chrono>
#include <string_view>
#include <system_error>
#include <utility>

#include "app/output.h"
#include "app/signals.h"

namespace warpchat {

namespace {

using std::chrono::milliseconds;
constexpr milliseconds kFirstFrame{200}, kFrame{100};
constexpr std::array<std::string_view, 8> kFrames = {"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧"};

}  // namespace

std::string spinner_frame(const std::string& label, double fraction, unsigned tick) {
  std::string frame = std::string(kFrames[tick % kFrames.size()]) + " " + label;
  if (fraction > 0) frame += " " + std::to_string(static_cast<int>(100 * fraction)) + "%";
  return frame;
}

Spinner::Spinner(std::string label) : label_(std::move(label)) {
  if (!error_is_terminal() || !moves_cursor()) return;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {  // where the system gives no thread, there is nothing to look at
  }
}

Spinner::~Spinner() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ending_.notify_all();
  thread_.join();
}

void Spinner::run() {
  std::unique_lock lock(mutex_);
  if (ending_.wait_for(lock, kFirstFrame, [this] { return ended_; })) return;
  clear_line_on_exit(true);
  for (unsigned tick = 0; !ended_; ++tick) {
    write_error("\r" + spinner_frame(label_, fraction_, tick) + "\x1b[K");
    ending_.wait_for(lock, kFrame, [this] { return ended_; });
  }
  write_error("\r\x1b[K");
  clear_line_on_exit(false);
}

}  // namespace warpchat
