// The spinner is drawn over the line that the answer will begin on.
#include "app/terminal/answer_printer.h"

#include <utility>

#include "app/platform/output.h"
#include "app/platform/signals.h"
#include "app/platform/terminal.h"
#include "app/platform/text/piece.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

using std::chrono::milliseconds;
constexpr milliseconds kFrame{100};
constexpr milliseconds kBeforeSpinner{300};
constexpr milliseconds kBeforeWord{1500};  // of waiting, where nothing is drawn

}  // namespace

std::string cut_text(int32_t max_tokens) {
  return "the answer was cut at " +
         (max_tokens < 0 ? "the server's limit" : counted(static_cast<uint64_t>(max_tokens), "token"));
}

std::string PlainAnswer::add(std::string_view text, bool thinking) {
  if (thinking && hide_thinking_) holds_ = false;  // the server marks its thoughts
  if (text.empty() || (thinking && hide_thinking_)) return "";
  if (holds_) {
    held_ += text;
    return "";
  }
  const std::string gap = !std::exchange(parts_, false) ? "" : ends_line_ ? "\n" : "\n\n";
  const bool turns = std::exchange(thinks_, thinking) != thinking;
  ends_line_ = text.back() == '\n';
  has_text_ = true;
  return gap + (!turns ? "" : thinking ? "<think>\n" : "\n</think>\n\n") + std::string(text);
}

std::string PlainAnswer::reclassify(bool thinking) {
  if (std::exchange(holds_, false)) {
    if (thinking) held_.clear();
    return "";
  }
  thinks_ = false;
  if (!thinking) return "";
  return std::string(ends_line_ ? "" : "\n") + (hide_thinking_ ? "\n" : "</think>\n\n");
}

// A thought that was cut has no end.
std::string PlainAnswer::finish(bool reasoning_ended) {
  holds_ = false;
  const std::string rest = add(std::exchange(held_, {}), /*thinking=*/false);
  const bool ends_thought = thinks_ && reasoning_ended;
  return rest + (ends_thought ? "\n</think>\n" : ends_line_ ? "" : "\n");
}

AnswerLook answer_look(bool hide_thinking, bool in_conversation) {
  return {.width = output_width(),
          .rows = terminal_size().rows,
          .styled = wants_style(),
          .hide_thinking = hide_thinking,
          .movable = moves_cursor(),
          .words = !moves_cursor(),
          .roles = !moves_cursor() && in_conversation};
}

AnswerPrinter::AnswerPrinter(const ChatSettings& settings, bool in_conversation, bool may_be_thought)
    : terminal_(output_is_terminal()),
      plain_(settings.hide_thinking, may_be_thought),
      view_(answer_look(settings.hide_thinking, in_conversation)),
      next_frame_(Clock::now() + (moves_cursor() ? kBeforeSpinner : kBeforeWord)) {}

void AnswerPrinter::clear_spinner() { out_ += spinner_.clear(terminal_size().columns); }

void AnswerPrinter::put(const std::string& text) {
  if (text.empty()) return;
  clear_spinner();
  text_shown_ = true;
  out_ += std::exchange(resumed_, {}) + text;
}

void AnswerPrinter::text(std::string_view text, bool thinking) {
  if (take_resize()) {
    const TerminalSize size = terminal_size();
    put(view_.resize(size.columns, size.rows));
  }
  awaited_.clear();
  if (!terminal_) return put(plain_.add(text, thinking));
  for (; !text.empty() && !cut_; text.remove_prefix(piece_bytes(text))) {
    if (unseen_ >= kMaxPiece) {
      unseen_ = 0;
      flush();
      if (cut_ = has_interrupt(); cut_) return;
    }
    const std::string_view piece = text.substr(0, piece_bytes(text));
    put(view_.add(piece, thinking));
    unseen_ += piece.size();
  }
}

void AnswerPrinter::notice(const std::string& text) {
  if (!terminal_) return print_error(text);
  clear_spinner();
  flush();
  say("(" + text + ")");
}

void AnswerPrinter::reclassify(bool thinking) {
  put(terminal_ ? view_.reclassify(thinking) : plain_.reclassify(thinking));
}

void AnswerPrinter::end_round(const std::vector<std::string>& lines) {
  if (!terminal_) return plain_.end_round();
  put(view_.end_round(lines));
  awaited_.clear();
  text_shown_ = said_ = false;
  progress_ = {0, 0};
  next_frame_ = Clock::now() + (moves_cursor() ? kBeforeSpinner : kBeforeWord);
}

void AnswerPrinter::wait_for(const std::string& what) {
  if (what == awaited_) return;
  end_line();
  awaited_ = what;
  said_ = false;
  next_frame_ = Clock::now() + (moves_cursor() ? kBeforeSpinner : kBeforeWord);
}

void AnswerPrinter::end_line() {
  if (terminal_) put(view_.finish());
  clear_spinner();
  flush();
}

void AnswerPrinter::resume(const Message& begun) {
  if (terminal_) resumed_ = view_.resume(begun.reasoning, begun.content);
}

void AnswerPrinter::end(bool reasoning_ended) {
  put(terminal_ ? view_.finish() : plain_.finish(reasoning_ended));
  clear_spinner();
}

void AnswerPrinter::tick() {
  const auto now = Clock::now();
  if (!terminal_ || (text_shown_ && awaited_.empty()) || now < next_frame_) return;
  next_frame_ = now + kFrame;
  const bool reading = progress_.done < progress_.total || progress_.total == 0;
  const double fraction = progress_.total > 0 ? static_cast<double>(progress_.done) / progress_.total : 0;
  const std::string what = !awaited_.empty() ? awaited_ : reading ? "reading the prompt" : "thinking";
  if (moves_cursor()) {
    out_ += spinner_.draw(spinner_frame(what, reading && awaited_.empty() ? fraction : 0, frame_++),
                          terminal_size().columns);
  } else if (!std::exchange(said_, true)) {
    out_ += "(" + what + ")\n";
  }
}

void AnswerPrinter::flush() {
  if (out_.empty()) return;
  const std::string out = std::exchange(out_, {});
  if (!terminal_) return write_output(out);
  const bool fills_row = text_shown_ && view_.fills_row(terminal_size().columns);
  write_styled_output(out, fills_row ? CursorIs::kBehindRow : CursorIs::kWithinRow);
}

}  // namespace warpchat
