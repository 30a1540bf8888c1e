// Processes are started by a thread that never ends: the kernel kills a process when the thread that started it ends
// (PR_SET_PDEATHSIG), which is to be the end of this program.
#include "app/mcp/server_process.h"

#include <paths.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <future>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include "app/mcp/process_guard.h"
#include "app/platform/directories.h"
#include "models/error.h"
#include "models/text_format.h"
#include "models/threads.h"

namespace warpchat {

namespace {

constexpr std::string_view kDefaultPath = "/usr/local/bin:" _PATH_DEFPATH;
constexpr std::string_view kVariables[] = {"PATH",     "HOME", "USER",   "LOGNAME", "SHELL",   "TERM",           "LANG",
                                           "LANGUAGE", "TZ",   "TMPDIR", "PWD",     "DISPLAY", "WAYLAND_DISPLAY"};
constexpr std::string_view kPrefixes[] = {"LC_", "XDG_"};

bool is_passed_on(std::string_view name) {
  const auto begins = [&](std::string_view prefix) { return name.starts_with(prefix); };
  return std::ranges::find(kVariables, name) != std::end(kVariables) || std::ranges::any_of(kPrefixes, begins);
}

std::map<std::string, std::string> variables_of(const McpServerConfig& config) {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const size_t end = text.find('=');
    if (end != std::string_view::npos && is_passed_on(text.substr(0, end)))
      variables[std::string(text.substr(0, end))] = text.substr(end + 1);
  }
  if (variables["PATH"].empty()) variables["PATH"] = kDefaultPath;
  if (const auto home = find_home(); variables["HOME"].empty()) variables["HOME"] = home.value_or("/");
  if (config.folder.starts_with('/')) variables["PWD"] = config.folder;
  for (const auto& [name, value] : config.environment) variables[name] = value;
  return variables;
}

bool is_program(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && access(path.c_str(), X_OK) == 0;
}

// The server's own PATH decides, not this program's.
std::string find_program(const McpServerConfig& config) {
  const std::string& name = config.command;
  if (name.find('/') != std::string::npos) return name;
  const std::string path = variables_of(config)["PATH"];
  for (std::string_view rest = path; !rest.empty();) {
    const size_t end = std::min(rest.find(':'), rest.size());
    if (const std::string full = std::string(rest.substr(0, end)) + "/" + name; end > 0 && is_program(full))
      return full;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  throw Error("there is no program '" + printable(name) + "' in the folders of PATH, " + printable(path, 1000) +
              "; install it, or give its whole path as \"command\"");
}

// Never destroyed, and its thread is never joined.
class LastingThread {
 public:
  static LastingThread& instance() {
    static auto* const kThread = new LastingThread;
    return *kThread;
  }

  StartedProcess start(ProcessStart what) {
    std::packaged_task<StartedProcess()> task([&] { return start_process(std::move(what)); });
    std::future<StartedProcess> started = task.get_future();
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    added_.notify_one();
    return started.get();
  }

 private:
  LastingThread() {
    start_thread(
        "to start servers", [this] { run(); }, ends_unnoticed)
        .detach();
  }

  void run() {
    for (;;) {
      std::unique_lock lock(mutex_);
      added_.wait(lock, [this] { return !tasks_.empty(); });
      std::packaged_task<StartedProcess()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
    }
  }

  std::mutex mutex_;
  std::condition_variable added_;
  std::deque<std::packaged_task<StartedProcess()>> tasks_;
};

}  // namespace

std::vector<std::string> server_environment(const McpServerConfig& config) {
  std::vector<std::string> all;
  for (const auto& [name, value] : variables_of(config)) all.push_back(name + "=" + value);
  return all;
}

ServerProcess::ServerProcess(const McpServerConfig& config) {
  ProcessStart start{.command = {find_program(config)},
                     .environment = server_environment(config),
                     .folder = config.folder,
                     .streams = {in_.reader(), out_.writer(), err_.writer()}};
  start.command.insert(start.command.end(), config.arguments.begin(), config.arguments.end());
  const StartedProcess started = LastingThread::instance().start(std::move(start));
  if (started.pid == 0)
    throw Error((started.folder ? "cannot enter its folder '" + printable(config.folder, 400)
                                : "cannot start '" + printable(config.command, 400)) +
                "': " + std::strerror(started.error));
  pid_ = started.pid;
  guard_group(pid_);
  in_.close_reader(), out_.close_writer(), err_.close_writer();
  descriptor_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
}

ServerProcess::~ServerProcess() {
  if (pid_ != 0) reap();
  if (descriptor_ >= 0) close(descriptor_);
}

bool ServerProcess::has_ended() const {
  siginfo_t info{};
  return pid_ == 0 ||
         (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid_);
}

void ServerProcess::signal_group(int number) const {
  if (pid_ != 0) kill(-pid_, number);
}

// The group is killed before its leader is reaped: until then no other process can get the number.
std::string ServerProcess::reap() {
  signal_group(SIGKILL);
  release_group(pid_);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
  if (!WIFSIGNALED(status)) return "exit code " + std::to_string(WEXITSTATUS(status));
  return "signal " + std::to_string(WTERMSIG(status)) + " (" + strsignal(WTERMSIG(status)) + ")";
}

}  // namespace warpchat
