// Starts another program without a shell: in a process group of its own, with three streams and no other descriptor.
#pragma once
#include <sys/types.h>

#include <array>
#include <string>
#include <vector>

namespace warpchat {

struct ProcessStart {
  std::vector<std::string> command;      // a path, or a name that is looked for in PATH, and its arguments
  std::vector<std::string> environment;  // "NAME=value", all of it
  std::string folder = {};               // in which it begins; empty: this program's
  std::array<int, 3> streams;            // its standard streams; -1: /dev/null
  void (*limit)(const void* data) = {};  // called before it becomes the program; allocates nothing
  const void* data = nullptr;            // for limit
  bool outlives = false;                 // it stays when the calling thread ends
};

struct StartedProcess {
  pid_t pid = 0;        // 0: it did not start
  int error = 0;        // why, an errno
  bool folder = false;  // the error is that of `folder`
};

// Returns once the process is the other program. Unless it outlives that, it is killed when the calling thread ends
// (PR_SET_PDEATHSIG). Error if no process or pipe can be created.
StartedProcess start_process(ProcessStart start);

// In a new process before it becomes another program: the signals' actions and mask are as a shell gives them.
void reset_signals();

// A pipe whose ends are closed by exec.
class Pipe {
 public:
  enum class Own { kReader, kWriter };    // the end that stays in this program, which does not block
  explicit Pipe(Own own = Own::kReader);  // Error if there are no descriptors left
  ~Pipe() { close_writer(), close_reader(); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  int reader() const { return ends_[0]; }
  int writer() const { return ends_[1]; }
  void close_writer() { close_end(1); }
  void close_reader() { close_end(0); }

  // What has come, kept up to so many bytes; false once there is no more.
  bool read_some(std::string& text, size_t max);

 private:
  void close_end(size_t end);
  std::array<int, 2> ends_{-1, -1};
};

}  // namespace warpchat
