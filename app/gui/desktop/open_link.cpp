#include "app/gui/desktop/open_link.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "app/platform/process_start.h"
#include "models/ascii.h"

namespace warpchat::gui {

bool may_open_link(std::string_view target) {
  const std::string scheme = lower_case(target.substr(0, target.find(':')));
  if (scheme.size() == target.size()) return false;
  const bool clean = std::none_of(target.begin(), target.end(), [](unsigned char c) { return c <= ' ' || c == 0x7F; });
  return clean && target.size() < 4096 && (scheme == "http" || scheme == "https" || scheme == "mailto");
}

namespace {

void start_xdg_open(const std::string& target) {
  const char* const arguments[] = {"xdg-open", target.c_str(), nullptr};
  const pid_t child = fork();
  if (child == 0) {
    // A grandchild, which init reaps.
    if (fork() == 0) {
      setsid();
      reset_signals();  // the window's threads block some
      const int nowhere = open("/dev/null", O_RDWR);
      for (int i = 0; i < 3 && nowhere >= 0; ++i) dup2(nowhere, i);
      execvp(arguments[0], const_cast<char* const*>(arguments));
      _exit(127);
    }
    _exit(0);
  }
  if (child > 0) waitpid(child, nullptr, 0);
}

}  // namespace

void open_link(const std::string& target) {
  if (may_open_link(target)) start_xdg_open(target);
}

void open_folder(const std::string& path) {
  if (path.starts_with('/')) start_xdg_open(path);
}

}  // namespace warpchat::gui
