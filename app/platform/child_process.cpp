// The child is limited from here before it has read anything, and its output is read until it ends or is killed.
#include "app/platform/child_process.h"

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "app/platform/process_start.h"
#include "models/error.h"

namespace warpchat {

namespace {

using Clock = std::chrono::steady_clock;
using Kind = ChildEnd::Kind;

constexpr size_t kMaxErrorBytes = 4096;
constexpr int kBetweenLooks = 20;  // ms

void limit(__rlimit_resource what, uint64_t max) {
  const rlimit value{max, max};
  setrlimit(what, &value);
}

void apply(const void* data) {
  const auto& limits = *static_cast<const ChildLimits*>(data);
  limit(RLIMIT_AS, limits.memory_bytes);
  limit(RLIMIT_CPU, static_cast<uint64_t>(std::chrono::ceil<std::chrono::seconds>(limits.time).count()));
  limit(RLIMIT_FSIZE, 0);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_NOFILE, 64);
}

// Keys and tokens of this program's environment are nothing to another one.
std::vector<std::string> environment_of_child() {
  std::vector<std::string> variables;
  for (const char* name : {"PATH", "LANG"})
    if (const char* value = std::getenv(name)) variables.push_back(std::string(name) + "=" + value);
  return variables;
}

// 0: there is no such program.
pid_t start(const std::vector<std::string>& command, const Pipe& out, const Pipe& err, const ChildLimits& limits,
            int input) {
  const StartedProcess started = start_process({.command = command,
                                                .environment = environment_of_child(),
                                                .streams = {input, out.writer(), err.writer()},
                                                .limit = apply,
                                                .data = &limits});
  const int error = started.error;
  if (started.pid != 0 || error == ENOENT || error == EACCES || error == ENOTDIR) return started.pid;
  throw Error("cannot start " + command[0] + ": " + std::strerror(error));
}

}  // namespace

ChildEnd run_child(const std::vector<std::string>& command, const ChildLimits& limits, const std::atomic<bool>& stopped,
                   int input) {
  Pipe out, err;
  const pid_t pid = start(command, out, err, limits, input);
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
