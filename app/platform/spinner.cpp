// Ten frames a second after a short wait.
#include "app/platform/spinner.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <system_error>
#include <utility>

#include "app/platform/output.h"
#include "app/platform/signals.h"
#include "app/platform/terminal.h"
#include "app/platform/text/graphemes.h"
#include "models/text_format.h"
#include "models/threads.h"

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

std::string StatusLine::draw(std::string_view line, int columns) {
  std::string out = width_ > 0 ? clear(columns) : "\r";
  const std::string text = printable(line, line.size());
  size_t end = 0;
  while (end < text.size()) {
    const size_t next = next_grapheme(text, end);
    const int width = width_ + grapheme_width(text.substr(end, next - end));
    if (width >= columns) break;
    width_ = width;
    end = next;
  }
  return out.append(text, 0, end) + "\x1b[K";
}

// A terminal that has become narrower has broken it into rows.
std::string StatusLine::clear(int columns) {
  if (width_ == 0) return "";
  const int above = (std::exchange(width_, 0) - 1) / std::max(columns, 1);
  return above > 0 ? "\x1b[" + std::to_string(above) + "A\r\x1b[J" : "\r\x1b[K";
}

Spinner::Spinner(std::string label) : label_(std::move(label)) {
  if (!error_is_terminal() || !moves_cursor()) return;
  try {
    thread_ = guarded_thread([this] { run(); }, [](const char*) { clear_line_on_exit(false); });
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
  StatusLine line;
  for (unsigned tick = 0; !ended_; ++tick) {
    write_styled_error(line.draw(spinner_frame(label_, fraction_, tick), terminal_size(STDERR_FILENO).columns));
    ending_.wait_for(lock, kFrame, [this] { return ended_; });
  }
  write_styled_error(line.clear(terminal_size(STDERR_FILENO).columns));
  clear_line_on_exit(false);
}

}  // namespace warpchat
