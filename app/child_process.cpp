// The child is limited from here before it has read anything, and its output is read until it ends or is killed.
#include "app/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
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

// 0: there is no such program.
pid_t spawn(const std::vector<std::string>& command, const Pipe& out, const Pipe& err) {
  std::vector<std::string> words = command;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, out.writer(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, err.writer(), STDERR_FILENO);
  posix_spawnattr_init(&attributes);
  sigset_t all, none;
  sigfillset(&all), sigemptyset(&none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, arguments[0], &files, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (error == 0) return pid;
  if (error == ENOENT || error == EACCES || error == ENOTDIR) return 0;
  throw Error("cannot start " + command[0] + ": " + std::strerror(error));
}

void limit(pid_t pid, const ChildLimits& limits) {
  const auto set = [&](__rlimit_resource what, uint64_t max) {
    const rlimit value{max, max};
    prlimit(pid, what, &value, nullptr);  // fails where it has ended already
  };
  set(RLIMIT_AS, limits.memory_bytes);
  set(RLIMIT_CPU, static_cast<uint64_t>(std::chrono::ceil<std::chrono::seconds>(limits.time).count()));
  set(RLIMIT_FSIZE, 0);
  set(RLIMIT_CORE, 0);
  set(RLIMIT_NOFILE, 64);
}

}  // namespace

ChildEnd run_child(const std::vector<std::string>& command, const ChildLimits& limits,
                   const std::atomic<bool>& stopped) {
  Pipe out, err;
  const pid_t pid = spawn(command, out, err);
  if (pid == 0) return {Kind::kNotFound};
  limit(pid, limits);
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
