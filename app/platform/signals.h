// Signals: Ctrl-C either ends the program or sets a flag for take_interrupt(); every exit restores the terminal. One
// process has one terminal and one set of handlers, so these are functions over hidden global state.
#pragma once
#include <termios.h>

#include <string>

namespace warpchat {

constexpr int kInterruptedExitCode = 130;

// All signals that end or stop a program, and SIGWINCH; SIGPIPE and SIGXFSZ are ignored, so that writes fail instead.
// SIGSEGV, SIGBUS, SIGILL and SIGFPE restore the terminal and say one sentence, which names a mapped file that was cut
// short. Then the signal takes its default action, so that the exit status tells it. Not under sanitizers.
void install_signal_handlers();

enum class OnInterrupt {
  kExit,  // at once, with 130
  kNote,  // sets a flag for take_interrupt(); the fifth unread one exits
};
OnInterrupt on_interrupt(OnInterrupt what);  // returns what held before; at first kExit

class NotedInterrupts {  // while it lives, Ctrl-C sets a flag
 public:
  NotedInterrupts() : before_(on_interrupt(OnInterrupt::kNote)) {}
  ~NotedInterrupts() { on_interrupt(before_); }
  NotedInterrupts(const NotedInterrupts&) = delete;
  NotedInterrupts& operator=(const NotedInterrupts&) = delete;

 private:
  OnInterrupt before_;
};
bool take_interrupt();  // whether there was one since the last call
bool has_interrupt();   // whether take_interrupt() would return true
bool take_resize();     // whether the terminal's size may have changed, or the program was stopped and went on

int signal_descriptor();  // readable after a signal; poll it beside the keyboard
void drain_signal_descriptor();

// What a terminal is asked for beyond its mode; each is given back before the program leaves it.
struct KeyReports {
  bool pastes = false;     // pasted text stands between two marks
  bool modifiers = false;  // keys with Shift, Alt and Ctrl tell them, so that Shift-Enter is no Enter
  bool operator==(const KeyReports&) const = default;
};

// Sets the terminal's mode: applied here, and again after a stop with Ctrl-Z. Every exit restores the first call's
// `original` and ends the reports. Where no report changes, nothing is written to the terminal.
void set_terminal_mode(const termios& original, const termios& mode, KeyReports reports);
void restore_terminal();

// A file that is deleted if a signal ends the program before this does. Of many at once, in any threads, the first
// eight are.
class RemovedOnExit {
 public:
  explicit RemovedOnExit(const std::string& path);
  ~RemovedOnExit();
  RemovedOnExit(const RemovedOnExit&) = delete;
  RemovedOnExit& operator=(const RemovedOnExit&) = delete;

 private:
  int slot_ = -1;
};

void clear_line_on_exit(bool drawn);   // whether standard error's current line shows a spinner
void clear_below_on_exit(bool drawn);  // whether there is something below standard output's current line

}  // namespace warpchat
