// posix_spawn of /bin/sh, whose input is a pipe or the terminal.
#include "app/platform/shell_command.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>

namespace warpchat {

namespace {

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

// 0: no process can be created. input: below 0: this program's.
pid_t start(const ShellCommand& command, int input) {
  std::vector<std::string> variables = command.variables;
  for (char** variable = environ; *variable != nullptr; ++variable) variables.emplace_back(*variable);
  std::vector<char*> environment;
  for (std::string& variable : variables) environment.push_back(variable.data());
  environment.push_back(nullptr);
  std::string shell = "sh", flag = "-c", line = command.line, argument = command.argument;
  char* arguments[] = {shell.data(), flag.data(), line.data(), shell.data(), argument.data(), nullptr};
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  if (input >= 0) posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
  posix_spawnattr_init(&attributes);
  sigset_t signals;  // that are ignored here
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGPIPE, SIGXFSZ}) sigaddset(&signals, number);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  const short own_session = command.outlives ? POSIX_SPAWN_SETSID : 0;
  posix_spawnattr_setflags(&attributes, static_cast<short>(POSIX_SPAWN_SETSIGDEF | own_session));
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

pid_t start_and_feed(const ShellCommand& command) {
  if (!command.input) return start(command, -1);
  int pipe[2];
  if (pipe2(pipe, O_CLOEXEC) != 0) return 0;
  const pid_t pid = start(command, pipe[0]);
  close(pipe[0]);
  if (pid != 0) feed(pipe[1], *command.input);
  close(pipe[1]);
  return pid;
}

}  // namespace

bool is_installed(const std::string& program) {
  const char* path = std::getenv("PATH");
  for (std::string_view rest = path != nullptr ? path : ""; !rest.empty();) {
    const size_t colon = std::min(rest.find(':'), rest.size());
    if (access((std::string(rest.substr(0, colon)) + "/" + program).c_str(), X_OK) == 0) return true;
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return false;
}

std::optional<int> run_shell_command(const ShellCommand& command) {
  const IgnoredInterrupts ignored;
  const pid_t pid = start_and_feed(command);
  if (pid == 0) return std::nullopt;
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

}  // namespace warpchat
