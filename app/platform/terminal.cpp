// termios and poll.
#include "app/platform/terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "app/platform/output.h"
#include "app/platform/signals.h"

namespace warpchat {

namespace {

constexpr char kControlD = '\x04';

// By TERM. Where it is unknown, a sequence that means something else might be sent.
bool tells_modifiers() {
  constexpr std::string_view kKnown[] = {"xterm", "tmux", "kitty", "alacritty", "foot", "ghostty", "wezterm"};
  const char* term = std::getenv("TERM");
  const std::string_view name = term != nullptr ? term : "";
  const char* tmux = std::getenv("TMUX");
  return (tmux != nullptr && *tmux != '\0') ||
         std::ranges::any_of(kKnown, [&](std::string_view known) { return name.find(known) != name.npos; });
}

}  // namespace

TerminalSize terminal_size(int descriptor) {
  winsize size;
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_col, size.ws_row};
}

Terminal::Terminal() : Terminal(moves_cursor() ? Kind::kDrawn : Kind::kPlain) {}
Terminal::Terminal(Kind kind) : plain_(kind == Kind::kPlain) { tcgetattr(STDIN_FILENO, &original_); }
Terminal::~Terminal() { restore_terminal(); }

void Terminal::edit() {
  if (plain_) return read_keys(0);
  termios mode = original_;
  mode.c_iflag &= ~static_cast<tcflag_t>(BRKINT | ICRNL | INLCR | IGNCR | INPCK | ISTRIP | IXON);
  mode.c_cflag |= CS8;
  mode.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON | IEXTEN | ISIG);
  mode.c_cc[VMIN] = 1;
  mode.c_cc[VTIME] = 0;
  set_mode(mode, {.pastes = true, .modifiers = tells_modifiers()});
}

void Terminal::watch() { read_keys(NOFLSH); }

void Terminal::read_keys(tcflag_t flush) {
  termios mode = original_;
  mode.c_iflag &= ~static_cast<tcflag_t>(ICRNL | INLCR | IGNCR);
  mode.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON | NOFLSH);
  mode.c_lflag |= ISIG | flush;
  mode.c_cc[VMIN] = 1;
  mode.c_cc[VTIME] = 0;
  set_mode(mode, {.pastes = !plain_});  // reported modifiers would make Ctrl-C a key
}

void Terminal::set_mode(const termios& mode, const KeyReports& reports) {
  set_terminal_mode(original_, mode, reports);
  int waiting = 0;  // asked now: before, a line could arrive between the question and the change
  if (std::exchange(is_original_, false) && ioctl(STDIN_FILENO, FIONREAD, &waiting) == 0)
    n_cooked_ = static_cast<size_t>(std::max(waiting, 0));
}

void Terminal::leave() {
  set_row_below("");
  restore_terminal();
  is_original_ = true;
}

Terminal::Input Terminal::read(std::string& bytes, std::chrono::milliseconds timeout) {
  pollfd sources[] = {{STDIN_FILENO, POLLIN, 0}, {signal_descriptor(), POLLIN, 0}};
  const int n = poll(sources, 2, static_cast<int>(timeout.count()));
  if (n == 0) return Input::kNothing;
  if (n < 0) return errno == EINTR ? Input::kSignal : Input::kEnd;
  if (sources[1].revents != 0) {
    drain_signal_descriptor();
    return Input::kSignal;
  }
  char buffer[4096];
  const ssize_t got = ::read(STDIN_FILENO, buffer, sizeof buffer);
  if (got < 0 && errno == EINTR) return Input::kSignal;
  if (got <= 0) return Input::kEnd;
  bytes.assign(buffer, static_cast<size_t>(got));
  const size_t n_cooked = std::min(n_cooked_, bytes.size());
  const auto cooked_end = bytes.begin() + static_cast<std::ptrdiff_t>(n_cooked);
  std::replace(bytes.begin(), cooked_end, '\n', '\r');
  std::replace(bytes.begin(), cooked_end, '\0', kControlD);
  n_cooked_ -= n_cooked;
  return Input::kBytes;
}

}  // namespace warpchat
