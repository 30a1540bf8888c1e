// The child is limited from here before it has read anything, and its output is read until it ends or is killed.
#include "app/platform/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "models/error.h"

namespace warpchat {

namespace {

using Clock = std::chrono::steady_clock;
using Kind = ChildEnd::Kind;

constexpr size_t kMaxErrorBytes = 4096;
constexpr int kBetweenLooks = 20;  // ms

class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) throw Error(std::string("cannot create a pipe: ") + std::strerror(errno));
    fcntl(ends_[0], F_SETFL, O_NONBLOCK);
  }
  ~Pipe() { close_writer(), close_reader(); }
  Pipe(const Pipe&) = delete;
  int reader() const { return ends_[0]; }
  int writer() const { return ends_[1]; }
  void close_writer() { close_end(1); }
  void close_reader() { close_end(0); }

  // What has come, kept up to so many bytes; false once there is no more.
  bool read_some(std::string& text, size_t max) {
    char buffer[1 << 16];
    for (;;) {
      const ssize_t n = read(ends_[0], buffer, sizeof buffer);
      if (n > 0) text.append(buffer, std::min(static_cast<size_t>(n), max - std::min(max, text.size())));
      if (n > 0 || (n < 0 && errno == EINTR)) continue;
      return n < 0 && errno == EAGAIN;
    }
  }

 private:
  void close_end(size_t end) {
    if (ends_[end] >= 0) close(ends_[end]);
    ends_[end] = -1;
  }
  std::array<int, 2> ends_{-1, -1};
};

void limit(__rlimit_resource what, uint64_t max) {
  const rlimit value{max, max};
  setrlimit(what, &value);
}

// What the new process does; between fork and exec it allocates nothing. Returns the errno of what failed.
int become(char* const* arguments, char* const* environment, const Pipe& out, const Pipe& err,
           const ChildLimits& limits, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) return ESRCH;  // it ended before that
  setpgid(0, 0);
  const int nothing = open("/dev/null", O_RDONLY);
  if (dup2(nothing, STDIN_FILENO) < 0 || dup2(out.writer(), STDOUT_FILENO) < 0 || dup2(err.writer(), STDERR_FILENO) < 0)
    return errno;
  if (nothing > STDERR_FILENO) close(nothing);
  limit(RLIMIT_AS, limits.memory_bytes);
  limit(RLIMIT_CPU, static_cast<uint64_t>(std::chrono::ceil<std::chrono::seconds>(limits.time).count()));
  limit(RLIMIT_FSIZE, 0);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_NOFILE, 64);
  reset_signals();
  execvpe(arguments[0], arguments, environment);
  return errno;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

// Keys and tokens of this program's environment are nothing to another one.
std::vector<std::string> environment_of_child() {
  std::vector<std::string> variables;
  for (const char* name : {"PATH", "LANG"})
    if (const char* value = std::getenv(name)) variables.push_back(std::string(name) + "=" + value);
  return variables;
}

// 0: there is no such program. The child's handlers must not run here, so signals are blocked meanwhile.
pid_t start(const std::vector<std::string>& command, const Pipe& out, const Pipe& err, const ChildLimits& limits) {
  std::vector<std::string> words = command, variables = environment_of_child();
  const std::vector<char*> arguments = pointers(words), environment = pointers(variables);
  Pipe failure;  // closed by exec
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t parent = getpid(), pid = fork();
  int error = pid < 0 ? errno : 0;
  if (pid == 0) {
    error = become(arguments.data(), environment.data(), out, err, limits, parent);
    [[maybe_unused]] const ssize_t told = write(failure.writer(), &error, sizeof error);
    _exit(127);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  failure.close_writer();
  if (pid > 0) {
    std::string told;
    pollfd ended{failure.reader(), POLLIN, 0};
    while (failure.read_some(told, sizeof error)) poll(&ended, 1, -1);
    if (told.empty()) return pid;
    std::memcpy(&error, told.data(), std::min(sizeof error, told.size()));
    waitpid(pid, nullptr, 0);
  }
  if (error == ENOENT || error == EACCES || error == ENOTDIR) return 0;
  throw Error("cannot start " + command[0] + ": " + std::strerror(error));
}

}  // namespace

void reset_signals() {
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

ChildEnd run_child(const std::vector<std::string>& command, const ChildLimits& limits,
                   const std::atomic<bool>& stopped) {
  Pipe out, err;
  const pid_t pid = start(command, out, err, limits);
  if (pid == 0) return {Kind::kNotFound};
  out.close_writer(), err.close_writer();
  const Clock::time_point end = Clock::now() + limits.time;
  ChildEnd result{Kind::kExited};
  std::optional<Kind> killed;
  for (bool has_out = true, has_err = true;;) {
    pollfd waiting[] = {{has_out ? out.reader() : -1, POLLIN, 0}, {has_err ? err.reader() : -1, POLLIN, 0}};
    poll(waiting, std::size(waiting), kBetweenLooks);
    if (has_out) has_out = out.read_some(result.text, limits.output_bytes + 1);
    if (has_err) has_err = err.read_some(result.errors, kMaxErrorBytes);
    int status = 0;
    const pid_t ended = killed || !(has_out || has_err) ? waitpid(pid, &status, killed ? 0 : WNOHANG) : 0;
    if (ended == pid) {
      result.kind = killed ? *killed : WIFEXITED(status) ? Kind::kExited : Kind::kCrashed;
      if (WIFEXITED(status)) result.code = WEXITSTATUS(status);
      return result;
    }
    if (result.text.size() > limits.output_bytes) killed = Kind::kTooMuch;
    if (Clock::now() >= end) killed = Kind::kTooLong;
    if (stopped) killed = Kind::kStopped;
    if (killed) kill(-pid, SIGKILL);
  }
}

}  // namespace warpchat
