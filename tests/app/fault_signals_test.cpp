// A fatal signal says one sentence and keeps its exit status. Each fault happens in a process of its own.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <string>

#include "app/platform/program_name.h"
#include "app/platform/signals.h"
#include "models/fault_stack.h"
#include "models/mapped_file.h"
#include "models/threads.h"
#include "tests/store/store_folder.h"

namespace warpchat {
namespace {

struct End {
  int signal = 0;  // 0: none
  std::string said;
};

End end_of(const std::function<void()>& fault) {
  int pipe[2];
  if (pipe2(pipe, O_CLOEXEC) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    dup2(pipe[1], STDERR_FILENO);
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    set_program_name("chat");
    install_signal_handlers();
    fault();
    _exit(0);
  }
  close(pipe[1]);
  End end;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(pipe[0], buffer, sizeof buffer)) > 0;) end.said.append(buffer, static_cast<size_t>(n));
  close(pipe[0]);
  int status = 0;
  waitpid(child, &status, 0);
  end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return end;
}

// Calls itself by way of a variable, so that no compiler can see that it never ends.
int overflow(int depth);
int (*volatile deeper)(int) = overflow;

int overflow(int depth) {
  volatile char frame[4096] = {};
  frame[0] = static_cast<char>(depth);
  return deeper(depth + 1) + frame[0];
}

class FaultSignals : public testing::Test {
 protected:
  void SetUp() override {
    if (!kHandlesFatalSignals) GTEST_SKIP() << "sanitizers handle fatal signals themselves";
  }
};

TEST_F(FaultSignals, EachSaysASentenceAndKeepsItsStatus) {
  for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE}) {
    const End end = end_of([&] { raise(number); });
    EXPECT_EQ(end.signal, number);
    EXPECT_EQ(end.said.find("chat: a fault of the program ended it ("), 0u) << end.said;
    EXPECT_EQ(end.said.find('\n'), end.said.size() - 1) << end.said;
  }
}

TEST_F(FaultSignals, AFullStackStillSaysIt) {
  const auto on_a_thread = [] {
    start_thread(
        "to fail", [] { overflow(0); }, ends_unnoticed)
        .join();
  };
  for (const auto& fault : {std::function<void()>([] { overflow(0); }), std::function<void()>(on_a_thread)}) {
    const End end = end_of(fault);
    EXPECT_EQ(end.signal, SIGSEGV);
    EXPECT_NE(end.said.find("wrong memory access"), std::string::npos) << end.said;
  }
}

TEST_F(FaultSignals, AFileThatWasCutShortIsNamed) {
  const StoreFolder folder;
  std::ofstream(folder.file()) << std::string(100000, 'x');
  const End end = end_of([&] {
    const MappedFile mapped = MappedFile::open(folder.file());
    if (truncate(folder.file().c_str(), 0) != 0) return;
    const volatile std::byte first = mapped.bytes()[0];
    static_cast<void>(first);
  });
  EXPECT_EQ(end.signal, SIGBUS);
  EXPECT_EQ(end.said, "chat: " + folder.file() +
                          " was cut short while it was in use, or its disk failed (SIGBUS); restore the file and start"
                          " again\n");
}

}  // namespace
}  // namespace warpchat
