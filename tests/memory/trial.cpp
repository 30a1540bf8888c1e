#include "tests/memory/trial.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>
#include <new>

namespace warpchat {

namespace {

constexpr unsigned kMaxSeconds = 20;  // of a child, which takes a few milliseconds

void redirect(int descriptor, const std::string& path, int flags) {
  const int file = open(path.c_str(), flags, 0600);
  dup2(file, descriptor);
  close(file);
}

[[noreturn]] void run_child(const Flow& flow, Trial& trial) {
  alarm(kMaxSeconds);
  redirect(STDIN_FILENO, "/dev/null", O_RDONLY);
  redirect(STDOUT_FILENO, trial.path("output"), O_WRONLY | O_CREAT | O_TRUNC);
  redirect(STDERR_FILENO, trial.path("errors"), O_WRONLY | O_CREAT | O_TRUNC);
  for (const char* name : {"XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "HOME"})
    setenv(name, trial.folder().c_str(), 1);
  for (const char* name : {"LLAMA_CACHE", "HF_HUB_CACHE", "HF_HOME", "DBUS_SESSION_BUS_ADDRESS"}) unsetenv(name);
  try {
    flow(trial);
  } catch (const std::exception& error) {
    trial.say(error.what());
  }
  trial.end();
  std::fflush(stdout);
  trial.report().has_ended = true;
  _exit(0);
}

std::string fault_of(int status, const TrialReport& report) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    return "it hangs: still running after " + std::to_string(kMaxSeconds) + " s";
  if (WIFSIGNALED(status)) return std::string("it died of ") + strsignal(WTERMSIG(status));
  return report.has_ended ? "" : "it ended with " + std::to_string(WEXITSTATUS(status)) + " before the flow did";
}

}  // namespace

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void Trial::end() {
  if (failures_ == nullptr) return;
  report_.n_allocations = FailingAllocations::n_counted();
  failures_.reset();
}

void Trial::say(const char* sentence) {
  if (report_.sentence[0] == 0) std::strncpy(report_.sentence, sentence, sizeof report_.sentence - 1);
}

TrialResult run_trial(const Flow& flow, const std::string& folder, FailureRange range) {
  void* const shared = mmap(nullptr, sizeof(TrialReport), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return {.report = {}, .fault = "the test has no shared memory"};
  auto& report = *new (shared) TrialReport{};
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    Trial trial(folder, range, report);
    run_child(flow, trial);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  TrialResult result{report, fault_of(status, report), text_of(folder + "/output"), text_of(folder + "/errors")};
  munmap(shared, sizeof(TrialReport));
  return result;
}

}  // namespace warpchat
