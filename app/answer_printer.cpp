// The spinner is drawn over the line that the answer will begin on.
#include "app/answer_printer.h"

#include <utility>

#include "app/output.h"
#include "app/signals.h"
#include "app/terminal/spinner.h"
#include "app/terminal/terminal.h"

namespace warpchat {

namespace {

using std::chrono::milliseconds;
constexpr milliseconds kFrame{100};
constexpr milliseconds kBeforeSpinner{300};
constexpr std::string_view kClearLine = "\r\x1b[K";

}  // namespace

std::string PlainAnswer::add(std::string_view text, bool thinking) {
  if (text.empty() || (thinking && hide_thinking_)) return "";
  const bool turns = std::exchange(thinks_, thinking) != thinking;
  ends_line_ = text.back() == '\n';
  return (!turns ? "" : thinking ? "<think>\n" : "\n</think>\n\n") + std::string(text);
}

std::string PlainAnswer::finish() { return thinks_ ? "\n</think>\n" : ends_line_ ? "" : "\n"; }

AnswerPrinter::AnswerPrinter(const ChatSettings& settings)
    : terminal_(output_is_terminal()),
      styled_(wants_style()),
      plain_(settings.hide_thinking),
      view_({settings.word_wrap ? terminal_size().columns : 0, styled_, settings.hide_thinking}),
      next_frame_(Clock::now() + kBeforeSpinner) {}

void AnswerPrinter::clear_spinner() {
  if (std::exchange(spinner_drawn_, false)) out_ += kClearLine;
}

void AnswerPrinter::put(const std::string& text) {
  if (text.empty()) return;
  clear_spinner();
  text_shown_ = true;
  out_ += text;
}

void AnswerPrinter::text(std::string_view text, bool thinking) {
  if (take_resize()) view_.set_width(terminal_size().columns);
  put(terminal_ ? view_.add(text, thinking) : plain_.add(text, thinking));
}

void AnswerPrinter::notice(const std::string& text) {
  if (!terminal_) return write_error("chat: " + text + "\n");
  clear_spinner();
  out_ += (styled_ ? "\x1b[2m(" : "(") + text + (styled_ ? ")\x1b[0m\n" : ")\n");
}

void AnswerPrinter::end() {
  put(terminal_ ? view_.finish() : plain_.finish());
  clear_spinner();
}

void AnswerPrinter::tick() {
  const auto now = Clock::now();
  if (!terminal_ || text_shown_ || now < next_frame_) return;
  next_frame_ = now + kFrame;
  const bool reading = progress_.done < progress_.total || progress_.total == 0;
  const double fraction = progress_.total > 0 ? static_cast<double>(progress_.done) / progress_.total : 0;
  out_ +=
      "\r" + spinner_frame(reading ? "reading the prompt" : "thinking", reading ? fraction : 0, frame_++) + "\x1b[K";
  spinner_drawn_ = true;
}

void AnswerPrinter::flush() {
  if (!out_.empty()) write_output(std::exchange(out_, {}));
}

}  // namespace warpchat
