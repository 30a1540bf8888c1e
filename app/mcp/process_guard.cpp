// One shell for all groups. It reads which ones there are, and the end of its input is the end of this program.
#include "app/mcp/process_guard.h"

#include <paths.h>
#include <unistd.h>

#include <mutex>
#include <string>

#include "app/platform/process_start.h"
#include "models/error.h"

namespace warpchat {

namespace {

constexpr const char* kScript =
    "groups=' '; "
    "while read -r change group; do"
    " case $change in"
    "  +) groups=\"$groups$group \";;"
    "  -) groups=\"${groups%% $group *} ${groups#* $group }\";;"
    " esac; "
    "done; "
    "for group in $groups; do kill -s KILL -- \"-$group\"; done";

// Never destroyed, so that its pipe closes when the program has ended, and not before.
class Guard {
 public:
  static Guard& instance() {
    static auto* const kGuard = new Guard;
    return *kGuard;
  }

  void tell(char change, pid_t group) {
    const std::lock_guard lock(mutex_);
    const std::string line = std::string(1, change) + " " + std::to_string(group) + "\n";
    if (is_running_)
      is_running_ = write(input_.writer(), line.data(), line.size()) == static_cast<ssize_t>(line.size());
  }

 private:
  Guard() {
    const StartedProcess started = start_process({.command = {"/bin/sh", "-c", kScript},
                                                  .environment = {"PATH=" _PATH_DEFPATH},
                                                  .folder = "/",
                                                  .streams = {input_.reader(), -1, -1},
                                                  .outlives = true});
    is_running_ = started.pid != 0;
    input_.close_reader();
  }

  std::mutex mutex_;
  Pipe input_{Pipe::Own::kWriter};
  bool is_running_ = false;
};

}  // namespace

void guard_group(pid_t group) {
  try {
    Guard::instance().tell('+', group);
  } catch (const Error&) {  // no pipe or process is left, and the servers can do without
  }
}

void release_group(pid_t group) {
  try {
    Guard::instance().tell('-', group);
  } catch (const Error&) {
  }
}

}  // namespace warpchat
