// Only async-signal-safe calls in handlers: open, read, write, close, tcsetattr, unlink, pause, _exit, raise.
#include "app/platform/signals.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <string_view>

#include "app/platform/program_name.h"
#include "engine/file_mappings.h"
#include "models/fault_stack.h"

namespace warpchat {

namespace {

constexpr size_t kLongestPath = 4096;
constexpr std::string_view kPlainTerminal = "\x1b[?25h\x1b[0m";  // cursor, plain text
constexpr std::string_view kReportPastes = "\x1b[?2004h", kNoPastes = "\x1b[?2004l";
// Kitty's protocol on its stack, and xterm's modifyOtherKeys; a terminal ignores the one that it does not know.
constexpr std::string_view kReportModifiers = "\x1b[>1u\x1b[>4;1m", kNoModifiers = "\x1b[<u\x1b[>4m";

constexpr int kInterruptsThatExit = 5;  // four unread interrupts mean that the program hangs

std::atomic<bool> exit_on_interrupt = true, resized = false, error_has_terminal = false;
std::atomic<int> interrupts = 0;  // since the last take_interrupt()
std::atomic<bool> terminal_changed = false, line_drawn = false, below_drawn = false;
std::atomic<KeyReports> reported = KeyReports();
termios original_mode, current_mode;
struct DoomedFile {
  enum class Use : uint8_t { kFree, kBeingSet, kSet };
  std::atomic<Use> use = Use::kFree;
  char path[kLongestPath];
};
DoomedFile doomed_files[8];
int wake_pipe[2] = {-1, -1};
char own_name[64];  // of the program

void put(int fd, std::string_view bytes) { [[maybe_unused]] const ssize_t n = write(fd, bytes.data(), bytes.size()); }

void wake() { put(wake_pipe[1], "!"); }

// Whether there was anything to change.
bool change_reports(KeyReports wanted) {
  const KeyReports before = reported.exchange(wanted);
  if (wanted.pastes != before.pastes) put(STDOUT_FILENO, wanted.pastes ? kReportPastes : kNoPastes);
  if (wanted.modifiers != before.modifiers) put(STDOUT_FILENO, wanted.modifiers ? kReportModifiers : kNoModifiers);
  return wanted != before;
}

void leave_no_trace() {
  if (line_drawn) put(STDERR_FILENO, "\r\x1b[K");
  if (below_drawn) put(STDOUT_FILENO, "\x1b[J");
  restore_terminal();
  for (const DoomedFile& file : doomed_files)
    if (file.use == DoomedFile::Use::kSet) unlink(file.path);
}

void handle_interrupt(int) {
  const int saved = errno;
  if (++interrupts >= kInterruptsThatExit || exit_on_interrupt) {
    leave_no_trace();
    if (error_has_terminal) put(STDERR_FILENO, "\n");
    _exit(kInterruptedExitCode);
  }
  wake();
  errno = saved;
}

void handle_end(int number) {
  leave_no_trace();
  signal(number, SIG_DFL);
  raise(number);
}

struct Fault {
  int number;
  std::string_view what;
};
constexpr Fault kFaults[] = {{SIGSEGV, "wrong memory access, SIGSEGV"},
                             {SIGBUS, "memory that cannot be read, SIGBUS"},
                             {SIGILL, "an instruction that this processor does not have, SIGILL"},
                             {SIGFPE, "an impossible division, SIGFPE"}};

// A path as the terminal may get it.
std::string_view harmless(std::span<char> path) {
  for (size_t i = 0; i < path.size(); ++i) {
    const auto c = static_cast<unsigned char>(path[i]);
    const bool is_c1 = c == 0xC2 && i + 1 < path.size() && static_cast<unsigned char>(path[i + 1]) < 0xA0;
    if (c < ' ' || c == 0x7F || is_c1) path[i] = '?';
  }
  return {path.data(), path.size()};
}

// One sentence in one write, so that no other thread's text comes between.
void say_fault(const Fault& fault, const void* address) {
  std::array<char, kLongestPath> path;
  std::array<char, kLongestPath + 512> text;
  size_t n = 0;
  const auto add = [&](std::string_view part) {
    part = part.substr(0, text.size() - n);
    std::copy(part.begin(), part.end(), text.begin() + static_cast<std::ptrdiff_t>(n));
    n += part.size();
  };
  const size_t length = fault.number == SIGBUS ? mapped_file_at(address, path) : 0;
  if (error_has_terminal) add("\n");
  add(own_name);
  if (length > 0) {
    add(": ");
    add(harmless(std::span(path).first(length)));
    add(" was cut short while it was in use, or its disk failed (SIGBUS); restore the file and start again\n");
  } else {
    add(": a fault of the program ended it (");
    add(fault.what);
    add("); conversations are stored; please report what led to it\n");
  }
  put(STDERR_FILENO, {text.data(), n});
}

// The default action follows, once this returns and the signal is no longer blocked.
void handle_fault(int number, siginfo_t* info, void*) {
  static std::atomic<bool> is_handled = false;
  while (is_handled.exchange(true)) pause();  // another thread's fault ends the program
  leave_no_trace();
  const auto* fault =
      std::find_if(std::begin(kFaults), std::end(kFaults), [&](const Fault& f) { return f.number == number; });
  say_fault(*fault, info->si_addr);
  signal(number, SIG_DFL);
  raise(number);
}

void handle_stop(int) {
  const int saved = errno;
  const bool changed = terminal_changed;
  const termios mode = current_mode;
  const KeyReports reports = reported;
  if (line_drawn) put(STDERR_FILENO, "\r\x1b[K");
  if (below_drawn) put(STDOUT_FILENO, "\x1b[J");
  restore_terminal();
  raise(SIGSTOP);
  if (changed) set_terminal_mode(original_mode, mode, reports);
  resized = true;
  wake();
  errno = saved;
}

void handle_resize(int) {
  const int saved = errno;
  resized = true;
  wake();
  errno = saved;
}

void handle(int number, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, nullptr);
}

void handle_faults() {
  static const FaultStack stack;
  program_name().copy(own_name, sizeof own_name - 1);
  struct sigaction action = {};
  action.sa_sigaction = handle_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigfillset(&action.sa_mask);
  for (const Fault& fault : kFaults) sigaction(fault.number, &action, nullptr);
}

}  // namespace

void install_signal_handlers() {
  if (pipe2(wake_pipe, O_CLOEXEC | O_NONBLOCK) != 0) wake_pipe[0] = wake_pipe[1] = -1;
  error_has_terminal = isatty(STDERR_FILENO) != 0;
  handle(SIGPIPE, SIG_IGN);
  handle(SIGXFSZ, SIG_IGN);
  handle(SIGINT, handle_interrupt);
  for (const int number : {SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGALRM, SIGXCPU, SIGUSR1, SIGUSR2})
    handle(number, handle_end);
  handle(SIGTSTP, handle_stop);
  handle(SIGWINCH, handle_resize);
  if (kHandlesFatalSignals) handle_faults();
}

OnInterrupt on_interrupt(OnInterrupt what) {
  const bool exits = what == OnInterrupt::kExit;
  const bool exited = exit_on_interrupt.exchange(exits);
  if (exits != exited) interrupts = 0;
  return exited ? OnInterrupt::kExit : OnInterrupt::kNote;
}

bool take_interrupt() { return interrupts.exchange(0) > 0; }

bool has_interrupt() { return interrupts > 0; }

bool take_resize() { return resized.exchange(false); }

int signal_descriptor() { return wake_pipe[0]; }

void drain_signal_descriptor() {
  char buffer[64];
  while (read(wake_pipe[0], buffer, sizeof buffer) > 0) continue;
}

void set_terminal_mode(const termios& original, const termios& mode, KeyReports reports) {
  if (!terminal_changed) original_mode = original;
  current_mode = mode;
  terminal_changed = true;
  tcsetattr(STDIN_FILENO, TCSANOW, &mode);
  change_reports(reports);
}

void restore_terminal() {
  if (!terminal_changed.exchange(false)) return;
  if (change_reports({})) put(STDOUT_FILENO, kPlainTerminal);
  tcsetattr(STDIN_FILENO, TCSANOW, &original_mode);
}

RemovedOnExit::RemovedOnExit(const std::string& path) {
  if (path.size() >= kLongestPath) return;
  for (size_t i = 0; i < std::size(doomed_files) && slot_ < 0; ++i) {
    auto free = DoomedFile::Use::kFree;
    if (!doomed_files[i].use.compare_exchange_strong(free, DoomedFile::Use::kBeingSet)) continue;
    std::strcpy(doomed_files[i].path, path.c_str());
    doomed_files[i].use = DoomedFile::Use::kSet;
    slot_ = static_cast<int>(i);
  }
}

RemovedOnExit::~RemovedOnExit() {
  if (slot_ >= 0) doomed_files[slot_].use = DoomedFile::Use::kFree;
}

void clear_line_on_exit(bool drawn) { line_drawn = drawn; }
void clear_below_on_exit(bool drawn) { below_drawn = drawn; }

}  // namespace warpchat
