// One loop: events that are there are gathered and written at once, so that a fast model costs one write a batch.
#include "app/answer_stream.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "app/output.h"
#include "app/signals.h"
#include "app/terminal/answer_view.h"
#include "app/terminal/spinner.h"
#include "app/terminal/terminal.h"
#include "engine/profile_report.h"
#include "models/error.h"
#include "models/message.h"

namespace warpchat {

namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;
constexpr milliseconds kTick{100};
constexpr milliseconds kBeforeSpinner{300};
constexpr int kMostEventsAtOnce = 64;  // a model may be faster than the terminal; Ctrl-C must still be seen
constexpr std::string_view kClearLine = "\r\x1b[K";

// Where answers go when nobody watches: the text as it is, a thought between its tags.
class PlainAnswer {
 public:
  explicit PlainAnswer(bool hide_thinking) : hide_thinking_(hide_thinking) {}

  std::string add(const TextDelta& delta) {
    if (delta.text.empty() || (delta.thinking && hide_thinking_)) return "";
    std::string text = std::exchange(thinks_, delta.thinking) == delta.thinking ? ""
                       : delta.thinking                                         ? "<think>\n"
                                                                                : "\n</think>\n\n";
    text += delta.text;
    ends_line_ = text.back() == '\n';
    return text;
  }
  std::string finish() { return (thinks_ ? "\n</think>\n" : ends_line_ ? "" : "\n"); }

 private:
  bool hide_thinking_, thinks_ = false, ends_line_ = true;
};

class AnswerStream {
 public:
  explicit AnswerStream(const ChatSettings& settings)
      : terminal_(output_is_terminal()),
        styled_(wants_style()),
        plain_(settings.hide_thinking),
        view_({settings.word_wrap ? terminal_size().columns : 0, styled_, settings.hide_thinking}) {}

  void take(const Event& event) {
    std::visit([this](const auto& e) { handle(e); }, event);
  }
  void tick();
  void flush();
  std::optional<GenerationEnd> end() const { return end_; }

 private:
  void handle(const PromptProgress& progress) { progress_ = progress; }
  void handle(const TextDelta& delta);
  void handle(const Usage&) {}
  void handle(const ToolCallDelta&) {}
  void handle(const Notice& notice);
  void handle(const GenerationEnd& end);
  void write_text(const std::string& text);

  bool terminal_, styled_;
  PlainAnswer plain_;
  AnswerView view_;
  std::string out_;
  bool spinner_drawn_ = false, text_shown_ = false;
  unsigned frame_ = 0;
  Clock::time_point next_frame_ = Clock::now() + kBeforeSpinner;
  PromptProgress progress_{0, 0};
  std::optional<GenerationEnd> end_;
};

void AnswerStream::write_text(const std::string& text) {
  if (text.empty()) return;
  if (spinner_drawn_) out_ += kClearLine;
  spinner_drawn_ = false;
  text_shown_ = true;
  out_ += text;
}

void AnswerStream::handle(const TextDelta& delta) {
  if (take_resize()) view_.set_width(terminal_size().columns);
  write_text(terminal_ ? view_.add(delta.text, delta.thinking) : plain_.add(delta));
}

void AnswerStream::handle(const Notice& notice) {
  if (!terminal_) return write_error("chat: " + notice.text + "\n");
  write_text((styled_ ? "\x1b[2m(" : "(") + notice.text + (styled_ ? ")\x1b[0m\n" : ")\n"));
}

void AnswerStream::handle(const GenerationEnd& end) {
  write_text(terminal_ ? view_.finish() : plain_.finish());
  if (spinner_drawn_) out_ += kClearLine;
  spinner_drawn_ = false;
  if (end.reason == EndReason::kContextFull) handle(Notice{"the context is full: the answer ends here"});
  end_ = end;
}

// Draws a frame when it is time for one: events may come faster or slower than frames should.
void AnswerStream::tick() {
  const auto now = Clock::now();
  if (!terminal_ || text_shown_ || now < next_frame_) return;
  next_frame_ = now + kTick;
  const bool reading = progress_.done < progress_.total || progress_.total == 0;
  const double fraction = progress_.total > 0 ? static_cast<double>(progress_.done) / progress_.total : 0;
  const std::string label = reading ? "reading the prompt" : "thinking";
  out_ += "\r" + spinner_frame(label, reading ? fraction : 0, frame_++) + "\x1b[K";
  spinner_drawn_ = true;
}

void AnswerStream::flush() {
  if (!out_.empty()) write_output(std::exchange(out_, {}));
}

std::string line(const char* format, double a, double b = 0, double c = 0, double d = 0) {
  char text[160];
  std::snprintf(text, sizeof text, format, a, b, c, d);
  return text;
}

double per_second(uint32_t n, double seconds) { return seconds > 0 ? n / seconds : 0; }

std::string summary(const Timings& t, uint64_t seed) {
  const uint32_t computed = t.prompt_tokens - t.reused_tokens;
  if (t.first_token_seconds <= 0)
    return "prompt       " + std::to_string(t.prompt_tokens) + " tokens, stopped while they were read\n";
  const std::string prompt =
      t.prompt_seconds > 0 ? line("prompt       %.0f tokens, %.0f of them computed in %.3f s: %.1f t/s\n",
                                  t.prompt_tokens, computed, t.prompt_seconds, per_second(computed, t.prompt_seconds))
                           : line("prompt       %.0f tokens, %.0f of them reused\n", t.prompt_tokens, t.reused_tokens);
  return prompt +
         line("answer       %.0f tokens in %.3f s: %.1f t/s\n", t.generated_tokens, t.generate_seconds,
              per_second(t.generated_tokens, t.generate_seconds)) +
         line("first token  after %.3f s\n", t.first_token_seconds) + "seed         " + std::to_string(seed) + "\n";
}

StreamedAnswer stream_to_end(const EventSource& source, const ChatSettings& settings) {
  AnswerStream stream(settings);
  StreamedAnswer answer;
  const NotedInterrupts noted;
  while (!stream.end()) {
    std::optional<Event> event = source.next(kTick);
    stream.tick();
    for (int n = 1; event; ++n) {
      stream.take(*event);
      event = stream.end() || n == kMostEventsAtOnce ? std::nullopt : source.next(milliseconds(0));
    }
    stream.flush();
    if (take_interrupt()) {
      answer.interrupted = true;
      source.stop();
    }
  }
  answer.end = *stream.end();
  if (answer.end.reason == EndReason::kFailed) throw Error(answer.end.error);
  return answer;
}

}  // namespace

EventSource events_of(Generation& generation) {
  return {[&](milliseconds timeout) { return generation.next_event(timeout); }, [&] { generation.stop(); }};
}

StreamedAnswer stream_answer(const EventSource& source, const ChatSettings& settings) {
  bool has_ended = false;
  const auto next = [&](milliseconds timeout) {
    std::optional<Event> event = source.next(timeout);
    has_ended |= event && std::holds_alternative<GenerationEnd>(*event);
    return event;
  };
  try {
    return stream_to_end({next, source.stop}, settings);
  } catch (...) {
    source.stop();
    while (!has_ended) next(kTick);
    throw;
  }
}

std::string timing_report(const Timings& timings, uint64_t seed, const Profile& profile) {
  const std::vector<OperationProfile> rows = profile.rows();
  const bool measured = std::ranges::any_of(rows, [](const OperationProfile& row) { return row.calls > 0; });
  return summary(timings, seed) + (measured ? "\n" + profile_table(rows, profile.peak_bandwidth()) : "");
}

}  // namespace warpchat
