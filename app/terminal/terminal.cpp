// termios and poll.
#include "app/terminal/terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>

#include "app/output.h"
#include "app/signals.h"

namespace warpchat {

TerminalSize terminal_size(int descriptor) {
  winsize size;
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_col, size.ws_row};
}

Terminal::Terminal() : Terminal(moves_cursor() ? Kind::kDrawn : Kind::kPlain) {}
Terminal::Terminal(Kind kind) : plain_(kind == Kind::kPlain) { tcgetattr(STDIN_FILENO, &original_); }
Terminal::~Terminal() { leave(); }

void Terminal::edit() {
  if (plain_) return watch();
  termios mode = original_;
  mode.c_iflag &= ~static_cast<tcflag_t>(BRKINT | ICRNL | INLCR | IGNCR | INPCK | ISTRIP | IXON);
  mode.c_cflag |= CS8;
  mode.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON | IEXTEN | ISIG);
  mode.c_cc[VMIN] = 1;
  mode.c_cc[VTIME] = 0;
  set_terminal_mode(original_, mode, /*bracketed_paste=*/true);
}

void Terminal::watch() {
  termios mode = original_;
  mode.c_iflag &= ~static_cast<tcflag_t>(ICRNL | INLCR | IGNCR);
  mode.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON);
  mode.c_lflag |= ISIG;
  mode.c_cc[VMIN] = 1;
  mode.c_cc[VTIME] = 0;
  set_terminal_mode(original_, mode, /*bracketed_paste=*/!plain_);
}

void Terminal::leave() { restore_terminal(); }

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
  return Input::kBytes;
}

}  // namespace warpchat
