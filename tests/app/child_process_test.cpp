// Programs that do what a child must not, and the consequences.
#include "app/platform/child_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "tests/store/store_folder.h"

namespace warpchat {
namespace {

using Kind = ChildEnd::Kind;

const std::atomic<bool> kGoesOn = false;

ChildEnd shell(const std::string& script, const ChildLimits& limits = {std::chrono::seconds(20), 1 << 30, 1000}) {
  return run_child({"/bin/sh", "-c", script}, limits, kGoesOn);
}

TEST(ChildProcess, GivesWhatItWritesAndItsCode) {
  const ChildEnd end =
      run_child({"printf", "%s|", "a b", "$HOME", ";"}, {std::chrono::seconds(20), 1 << 30, 1000}, kGoesOn);
  EXPECT_EQ(end.kind, Kind::kExited);
  EXPECT_EQ(end.code, 0);
  EXPECT_EQ(end.text, "a b|$HOME|;|") << "no shell reads it";
  const ChildEnd failed = shell("cat; echo why >&2; exit 3");
  EXPECT_EQ(failed.kind, Kind::kExited);
  EXPECT_EQ(failed.code, 3);
  EXPECT_EQ(failed.text, "") << "there is nothing to read";
  EXPECT_EQ(failed.errors, "why\n");
}

TEST(ChildProcess, KnowsPathAndLangAlone) {
  setenv("SOME_API_KEY", "secret", 1);
  setenv("LANG", "C.UTF-8", 1);
  const ChildEnd end = run_child({"env"}, {std::chrono::seconds(20), 1 << 30, 10000}, kGoesOn);
  unsetenv("SOME_API_KEY");
  EXPECT_EQ(end.text, "PATH=" + std::string(std::getenv("PATH")) + "\nLANG=C.UTF-8\n");
}

std::string children_of(pid_t process) {
  const std::string id = std::to_string(process);
  std::ifstream file("/proc/" + id + "/task/" + id + "/children");
  std::string first;
  file >> first;
  return first;
}

TEST(ChildProcess, EndsWithTheProgram) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // the orphan becomes a child of this process
  const pid_t program = fork();
  if (program == 0) {
    run_child({"sleep", "1000"}, {std::chrono::seconds(1000), 1 << 30, 10}, kGoesOn);
    _exit(0);
  }
  std::string child, name;
  while (name != "sleep") {
    child = children_of(program);
    std::getline(std::ifstream("/proc/" + child + "/comm") >> std::ws, name);
  }
  kill(program, SIGKILL);
  waitpid(program, nullptr, 0);
  int status = 0;
  const pid_t orphan = static_cast<pid_t>(std::stol(child));
  EXPECT_EQ(waitpid(orphan, &status, 0), orphan);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST(ChildProcess, EndsWhatGoesBeyondItsLimits) {
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(shell("sleep 60 & sleep 60", {std::chrono::milliseconds(100), 1 << 30, 1000}).kind, Kind::kTooLong);
  EXPECT_EQ(shell("exec >&- 2>&-; sleep 60", {std::chrono::milliseconds(100), 1 << 30, 1000}).kind, Kind::kTooLong);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(30));
  const ChildEnd loud = shell("while :; do echo yes; done");
  EXPECT_EQ(loud.kind, Kind::kTooMuch);
  EXPECT_LE(loud.text.size(), 1001u);
  EXPECT_EQ(shell("i=0; while [ $i -lt 20000 ]; do echo no >&2; i=$((i+1)); done").errors.size(), 4096u);
  const StoreFolder folder;
  const std::string file = "'" + folder.path() + "/file'";
  EXPECT_EQ(shell("sleep 0.2; echo x > " + file + "; cat " + file).text, "") << "no file is written";
  const ChildEnd large = shell("sleep 0.2; exec dd if=/dev/zero of=/dev/null bs=512M count=1",
                               {std::chrono::seconds(20), 256 << 20, 1000});
  EXPECT_NE(large.code, 0) << large.errors;
  EXPECT_NE(large.errors.find("memory"), std::string::npos) << large.errors;
}

TEST(ChildProcess, TellsACrashAndWhatIsNotThere) {
  EXPECT_EQ(shell("kill -SEGV $$").kind, Kind::kCrashed);
  EXPECT_EQ(run_child({"no-such-program-anywhere"}, {std::chrono::seconds(1), 1 << 30, 10}, kGoesOn).kind,
            Kind::kNotFound);
}

TEST(ChildProcess, IsStoppedFromAnotherThread) {
  std::atomic<bool> stopped = false;
  std::thread stops([&] { stopped = true; });
  EXPECT_EQ(run_child({"sleep", "60"}, {std::chrono::seconds(30), 1 << 30, 10}, stopped).kind, Kind::kStopped);
  stops.join();
}

}  // namespace
}  // namespace warpchat
