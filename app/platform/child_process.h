// Runs another program to its end, with limits on its resources and without a shell.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace warpchat {

struct ChildLimits {
  std::chrono::milliseconds time;  // of the clock; of the processor's the same, in whole seconds
  uint64_t memory_bytes;           // of its address space
  uint64_t output_bytes;           // on standard output
};

struct ChildEnd {
  enum class Kind {
    kExited,    // by itself
    kCrashed,   // by a signal
    kNotFound,  // there is no such program
    kTooLong,   // in time; killed, as in what follows
    kTooMuch,   // on standard output
    kStopped,   // was asked for
  };
  Kind kind;
  int code = 0;             // kExited
  std::string text = {};    // standard output
  std::string errors = {};  // the first few kilobytes of standard error
};

// command: a name that is looked for in PATH, or a path, and its arguments. It reads `input`, a descriptor, or
// nothing (-1), writes no file, has a process group of its own, PATH and LANG alone of the environment, and ends with
// the thread that waits for it. Error if no process can be created.
ChildEnd run_child(const std::vector<std::string>& command, const ChildLimits& limits, const std::atomic<bool>& stopped,
                   int input = -1);

}  // namespace warpchat
