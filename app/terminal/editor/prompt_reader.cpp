// Bytes to keys to the editor to the screen, until a line is complete. Keys typed ahead stay for the next line.
#include "app/terminal/editor/prompt_reader.h"

#include <termios.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <utility>

#include "app/platform/output.h"
#include "app/platform/signals.h"
#include "app/platform/text/styled_text.h"
#include "app/terminal/editor/external_editor.h"
#include "models/ascii.h"
#include "models/error.h"

namespace warpchat {

PromptReader::PromptReader(Terminal& terminal, History& history, LineEditor::Completer complete)
    : terminal_(terminal), editor_(history, std::move(complete)), view_(wants_style()), ahead_(history) {}

PromptLine PromptReader::read(std::string text, const std::string& hint, LineKind kind) {
  if (terminal_.is_plain()) return read_plain((text.empty() ? "" : "was: " + text + "\n") + "You: ");
  is_reading_ = true;
  const std::shared_ptr<void> ends(nullptr, [this](void*) { is_reading_ = false; });
  set_row_below("");
  terminal_.edit();
  take_interrupt();  // one that came too late for what it was meant to stop
  editor_.begin(std::move(text), kind);
  const std::string row = hint.substr(0, static_cast<size_t>(std::max(terminal_size().columns - 1, 0)));
  editor_.hint(row.empty() || !wants_style() ? row : escape_sequence({.dim = true}) + row + escape_sequence({}));
  view_.forget();
  if (!n_probed_) probe_widths();
  std::optional<EditOutcome> outcome = press_keys(ahead_.release());
  for (;;) {
    draw();
    if (outcome) return take_line(*outcome);
    std::string bytes;
    const Terminal::Input input = terminal_.read(bytes, decoder_.waiting() ? kEscapeDelay : kForEver);
    if (input == Terminal::Input::kEnd) return {PromptLine::Kind::kEnd};
    if (input == Terminal::Input::kSignal) {
      take_resize();
      if (take_interrupt()) outcome = press_keys({{KeyKind::kControl, {}, 'C'}});
    } else {
      outcome = press_keys(input == Terminal::Input::kNothing ? decoder_.timeout() : decoder_.add(bytes));
    }
  }
}

PromptLine PromptReader::ask(const std::string& name, const std::optional<std::string>& preset) {
  if (!terminal_.is_plain()) {
    say(name + ":");
    return read(preset.value_or(""), "Enter takes it, Ctrl-C leaves the prompt", LineKind::kValue);
  }
  PromptLine line = read_plain(name + (preset ? " [" + *preset + "]" : "") + ": ");
  if (line.kind == PromptLine::Kind::kText && line.text.empty()) line.text = preset.value_or("");
  return line;
}

std::optional<char> ask_key(Terminal& terminal, const std::string& question, std::string_view letters, char at_end) {
  terminal.edit();
  write_text(question);
  KeyDecoder decoder;
  for (;;) {
    std::string bytes;
    const Terminal::Input input = terminal.read(bytes, decoder.waiting() ? kEscapeDelay : kForEver);
    if (input == Terminal::Input::kSignal && take_interrupt()) return std::nullopt;
    if (input == Terminal::Input::kEnd) return at_end;
    if (input == Terminal::Input::kSignal) continue;
    for (const Key& key : input == Terminal::Input::kNothing ? decoder.timeout() : decoder.add(bytes)) {
      if (key.kind == KeyKind::kControl && key.letter == 'C') return write_output("\n"), std::nullopt;
      const bool is_end = key.kind == KeyKind::kControl && key.letter == 'D';
      const char letter = is_end ? at_end : key.kind == KeyKind::kText ? lower_case(key.text)[0] : ' ';
      if (letters.find(letter) == std::string_view::npos) continue;
      write_output(std::string(1, letter) + "\n");
      return letter;
    }
  }
}

std::optional<char> PromptReader::ask_key(const std::string& question, std::string_view letters, char at_end) {
  keep_for_next_line();
  set_row_below("");
  const std::shared_ptr<void> ends(nullptr, [this](void*) { terminal_.watch(); });
  return warpchat::ask_key(terminal_, question, letters, at_end);
}

// What has been typed and was not read.
void PromptReader::keep_for_next_line() {
  if (!terminal_.is_plain()) return read_ahead();
  std::string bytes;
  while (terminal_.read(bytes, std::chrono::milliseconds(0)) == Terminal::Input::kBytes)
    for (Key& key : decoder_.add(bytes)) waiting_.push_back(std::move(key));
}

PromptLine PromptReader::take_line(EditOutcome outcome) {
  write_styled_output(view_.finish());
  if (outcome == EditOutcome::kInterrupted) return {PromptLine::Kind::kInterrupted, editor_.text()};  // still edits
  terminal_.watch();
  if (outcome == EditOutcome::kEnd) return {PromptLine::Kind::kEnd};
  return {PromptLine::Kind::kText, editor_.take_line()};
}

void PromptReader::read_ahead() {
  constexpr int kMaxReads = 64;  // at once, so that a long paste does not hold up an answer
  termios mode;
  const bool is_left = tcgetattr(STDIN_FILENO, &mode) != 0 || (mode.c_lflag & ICANON) != 0;  // others read from it
  if (terminal_.is_plain() || is_reading_ || is_left) return;
  std::string bytes;
  for (int i = 0; i < kMaxReads && terminal_.read(bytes, std::chrono::milliseconds(0)) == Terminal::Input::kBytes;
       ++i) {
    last_bytes_ = std::chrono::steady_clock::now();
    ahead_.press(decoder_.add(bytes));
  }
  if (decoder_.waiting() && std::chrono::steady_clock::now() - last_bytes_ >= kEscapeDelay)
    ahead_.press(decoder_.timeout());
  const std::string row = ahead_.row(terminal_size().columns);
  set_row_below(row.empty() || !wants_style() ? row : escape_sequence({.dim = true}) + row + escape_sequence({}));
}

// A line, or lines between two of nothing but """.
PromptLine PromptReader::read_plain(const std::string& question) {
  terminal_.edit();
  take_interrupt();
  write_output(question);
  const std::shared_ptr<void> reads_ahead(nullptr, [this](void*) { terminal_.watch(); });
  constexpr std::string_view kQuotes = "\"\"\"";
  std::string quoted;
  for (bool in_quotes = false;;) {
    const size_t end = plain_input_.find('\n');
    if (end != std::string::npos) {
      const std::string line = plain_input_.substr(0, end);
      plain_input_.erase(0, end + 1);
      if (line != kQuotes && !in_quotes) return {PromptLine::Kind::kText, line};
      if (line == kQuotes && in_quotes) return {PromptLine::Kind::kText, quoted};
      if (in_quotes) quoted += (quoted.empty() ? "" : "\n") + line;
      in_quotes = true;
      continue;
    }
    if (waiting_.empty()) {
      std::string bytes;
      const Terminal::Input input = terminal_.read(bytes, decoder_.waiting() ? kEscapeDelay : kForEver);
      if (input == Terminal::Input::kEnd) return {PromptLine::Kind::kEnd};
      if (input == Terminal::Input::kSignal && take_interrupt()) {
        plain_input_.clear();
        typed_.clear();
        write_output("^C\n");
        return {PromptLine::Kind::kInterrupted};
      }
      if (input != Terminal::Input::kSignal)
        waiting_ = input == Terminal::Input::kNothing ? decoder_.timeout() : decoder_.add(bytes);
    }
    type_waiting();
    if (typed_.ended()) return {PromptLine::Kind::kEnd};
  }
}

// Up to a line's end: what follows is shown when it is asked for.
void PromptReader::type_waiting() {
  std::string echo;
  size_t n = 0;
  while (n < waiting_.size() && !echo.ends_with('\n') && !typed_.ended()) echo += typed_.press(waiting_[n++]);
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(n));
  if (!echo.empty()) write_output(echo);
  plain_input_ += typed_.take_entered();
}

std::optional<EditOutcome> PromptReader::press_keys(const std::vector<Key>& keys) {
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].kind == KeyKind::kCursorColumn) take_cursor_column(keys[i].column);
    const EditOutcome outcome = editor_.press(keys[i]);
    switch (outcome) {
      case EditOutcome::kEditing:
        break;
      case EditOutcome::kLine:
      case EditOutcome::kInterrupted:
      case EditOutcome::kEnd:
        ahead_.press({keys.begin() + static_cast<std::ptrdiff_t>(i) + 1, keys.end()});
        return outcome;
      case EditOutcome::kSuspend:
        draw();
        write_styled_output(view_.finish());
        raise(SIGTSTP);
        break;
      case EditOutcome::kEditOutside:
        edit_outside();
        break;
      case EditOutcome::kClearScreen:
        write_styled_output("\x1b[H\x1b[2J");
        view_.forget();
        break;
    }
  }
  return std::nullopt;
}

// Below what is shown, which an editor on the whole screen leaves as it was.
void PromptReader::edit_outside() {
  draw();
  write_styled_output(view_.finish());
  try {
    editor_.change(edit_in_editor(editor_.text(), terminal_));
  } catch (const Error& error) {
    print_error(error.what());
  }
}

void PromptReader::probe_widths() {
  n_probed_ = 0;
  std::string question;
  for (std::string_view probe : kWidthProbes) question += "\r" + std::string(probe) + "\x1b[6n";
  write_styled_output(question + "\r\x1b[K");
}

void PromptReader::take_cursor_column(int column) {
  const bool joined = column == 3;  // after two columns, counted from 1
  switch ((*n_probed_)++) {
    case 0:
      width_rules_.joins_skin_tones = joined;
      break;
    case 1:
      width_rules_.joins_sequences = joined;
      break;
    case 2:
      width_rules_.widens_presentations = joined;
      break;
    default:
      return;
  }
  set_width_rules(width_rules_);
}

void PromptReader::draw() {
  const TerminalSize size = terminal_size();
  const auto max_rows = static_cast<size_t>(std::max(size.rows, 1));
  PromptLayout layout = editor_.layout(size.columns, max_rows);
  clear_below_on_exit(layout.n_listed > 0);
  write_styled_output(view_.draw(std::move(layout), size.columns, size.rows));
}

}  // namespace warpchat
