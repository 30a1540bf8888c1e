// Between fork and exec nothing is allocated: other threads of this program may hold the allocator's locks.
#include "app/platform/process_start.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "models/error.h"

namespace warpchat {

namespace {

struct Failure {  // what the new process tells before it ends
  int error;
  bool folder;
};

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

// Descriptors that this program inherited, or that a library opened, may lack the flag.
void close_others_on_exec() {
  constexpr rlim_t kMaxDescriptors = 1 << 16;
  if (close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC) == 0) return;
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const int end = static_cast<int>(std::min(limit.rlim_cur, kMaxDescriptors));
  for (int descriptor = STDERR_FILENO + 1; descriptor < end; ++descriptor) fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

Failure become(char* const* arguments, char* const* environment, const ProcessStart& start, pid_t parent) {
  if (!start.outlives) prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (!start.outlives && getppid() != parent) return {ESRCH, false};  // it ended before that
  setpgid(0, 0);
  for (int stream = 0; stream < 3; ++stream) {
    const int wanted = start.streams[static_cast<size_t>(stream)];
    const int given = wanted >= 0 ? wanted : open("/dev/null", O_RDWR | O_CLOEXEC);
    if (dup2(given, stream) < 0) return {errno, false};
  }
  if (!start.folder.empty() && chdir(start.folder.c_str()) != 0) return {errno, true};
  close_others_on_exec();
  if (start.limit != nullptr) start.limit(start.data);
  reset_signals();
  execvpe(arguments[0], arguments, environment);
  return {errno, false};
}

}  // namespace

Pipe::Pipe(Own own) {
  if (pipe2(ends_.data(), O_CLOEXEC) != 0) throw Error(std::string("cannot create a pipe: ") + std::strerror(errno));
  fcntl(own == Own::kReader ? reader() : writer(), F_SETFL, O_NONBLOCK);
}

bool Pipe::read_some(std::string& text, size_t max) {
  char buffer[1 << 16];
  for (;;) {
    const ssize_t n = read(ends_[0], buffer, sizeof buffer);
    if (n > 0) text.append(buffer, std::min(static_cast<size_t>(n), max - std::min(max, text.size())));
    if (n > 0 || (n < 0 && errno == EINTR)) continue;
    return n < 0 && errno == EAGAIN;
  }
}

void Pipe::close_end(size_t end) {
  if (ends_[end] >= 0) close(ends_[end]);
  ends_[end] = -1;
}

void reset_signals() {
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

// The child's handlers must not run here, so signals are blocked meanwhile.
StartedProcess start_process(ProcessStart start) {
  const std::vector<char*> arguments = pointers(start.command), environment = pointers(start.environment);
  Pipe failure;  // closed by exec
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t parent = getpid(), pid = fork();
  const int error = pid < 0 ? errno : 0;
  if (pid == 0) {
    const Failure why = become(arguments.data(), environment.data(), start, parent);
    [[maybe_unused]] const ssize_t told = write(failure.writer(), &why, sizeof why);
    _exit(127);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) throw Error("cannot start " + start.command[0] + ": " + std::strerror(error));
  failure.close_writer();
  std::string told;
  pollfd ended{failure.reader(), POLLIN, 0};
  while (failure.read_some(told, sizeof(Failure))) poll(&ended, 1, -1);
  if (told.empty()) return {.pid = pid};
  waitpid(pid, nullptr, 0);
  Failure why{EIO, false};
  if (told.size() == sizeof why) std::memcpy(&why, told.data(), sizeof why);
  return {.error = why.error, .folder = why.folder};
}

}  // namespace warpchat
