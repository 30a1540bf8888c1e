// The pager is a shell command that reads the text from a pipe; it may leave before it has read all.
#include "app/terminal/pager.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "app/output.h"
#include "app/signals.h"
#include "app/terminal/graphemes.h"
#include "app/terminal/piece.h"
#include "app/terminal/styled_text.h"
#include "app/terminal/terminal.h"

namespace warpchat {

namespace {

bool is_installed(const std::string& program) {
  const char* path = std::getenv("PATH");
  for (std::string_view rest = path != nullptr ? path : ""; !rest.empty();) {
    const size_t colon = std::min(rest.find(':'), rest.size());
    if (access((std::string(rest.substr(0, colon)) + "/" + program).c_str(), X_OK) == 0) return true;
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return false;
}

std::string pager_command() {
  if (const char* wanted = std::getenv("PAGER")) return wanted;
  return is_installed("less") ? "less" : "";
}

// So that less shows looks instead of escape sequences, unless the user has said how less should be.
std::vector<std::string> environment_of_pager() {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) variables.emplace_back(*variable);
  if (std::getenv("LESS") == nullptr) variables.emplace_back("LESS=R");
  return variables;
}

// Ctrl-C is the pager's while this lives.
class IgnoredInterrupts {
 public:
  IgnoredInterrupts() {
    struct sigaction ignored = {};
    ignored.sa_handler = SIG_IGN;
    sigaction(SIGINT, &ignored, &before_);
  }
  ~IgnoredInterrupts() { sigaction(SIGINT, &before_, nullptr); }
  IgnoredInterrupts(const IgnoredInterrupts&) = delete;
  IgnoredInterrupts& operator=(const IgnoredInterrupts&) = delete;

 private:
  struct sigaction before_ = {};
};

// 0: no process can be created.
pid_t start(const std::string& command, int input) {
  std::vector<std::string> variables = environment_of_pager();
  std::vector<char*> environment;
  for (std::string& variable : variables) environment.push_back(variable.data());
  environment.push_back(nullptr);
  std::string shell = "sh", flag = "-c", line = command;
  char* arguments[] = {shell.data(), flag.data(), line.data(), nullptr};
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
  posix_spawnattr_init(&attributes);
  sigset_t signals;  // that are ignored here
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGPIPE, SIGXFSZ}) sigaddset(&signals, number);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t pid = 0;
  if (posix_spawn(&pid, "/bin/sh", &files, &attributes, arguments, environment.data()) != 0) pid = 0;
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  return pid;
}

void feed(int pipe, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(pipe, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return;  // it has left
    text.remove_prefix(static_cast<size_t>(n));
  }
}

// False: there is no such command, or it could not be started.
bool run_pager(const std::string& command, std::string_view text) {
  constexpr int kNotExecutable = 126, kNotFound = 127;  // the shell's exit codes
  int pipe[2];
  if (pipe2(pipe, O_CLOEXEC) != 0) return false;
  const IgnoredInterrupts ignored;
  const pid_t pid = start(command, pipe[0]);
  close(pipe[0]);
  if (pid != 0) feed(pipe[1], text);
  close(pipe[1]);
  if (pid == 0) return false;
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return !WIFEXITED(status) || (WEXITSTATUS(status) != kNotFound && WEXITSTATUS(status) != kNotExecutable);
}

}  // namespace

int rows_of(std::string_view text, int columns) {
  const std::string plain = without_escapes(text);
  int rows = 0;
  for (std::string_view rest = plain; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    rows += 1 + std::max(0, text_width(rest.substr(0, end)) - 1) / columns;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return rows;
}

std::string last_rows(const std::string& text, int columns, int rows) {
  size_t begin = text.size();
  while (begin > 0) {
    const size_t before = begin < 2 ? std::string::npos : text.rfind('\n', begin - 2);
    const size_t line = before == std::string::npos ? 0 : before + 1;
    rows -= rows_of(std::string_view(text).substr(line, begin - line), columns);
    if (rows < 0 && begin < text.size()) break;
    begin = line;
  }
  return text.substr(begin);
}

void show_paged(const std::string& text, Terminal& terminal) {
  const TerminalSize size = terminal_size();
  const std::string command = terminal.is_plain() || rows_of(text, size.columns) < size.rows ? "" : pager_command();
  if (!command.empty()) {
    terminal.leave();
    const bool shown = run_pager(command, text);
    terminal.watch();
    if (shown) return;
  }
  for (std::string_view rest = text; !rest.empty() && !has_interrupt(); rest.remove_prefix(piece_bytes(rest)))
    write_styled_output(rest.substr(0, piece_bytes(rest)));
}

}  // namespace warpchat
