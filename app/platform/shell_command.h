// Runs a command of the user's, such as that of PAGER or EDITOR, through the shell.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpchat {

bool is_installed(const std::string& program);  // in PATH

struct ShellCommand {
  std::string line;                                      // for sh -c; $1 in it is the argument
  std::string argument = {};                             //
  std::vector<std::string> variables = {};               // "NAME=value", in addition to this program's
  std::optional<std::string_view> input = std::nullopt;  // through a pipe, which it need not read; none: the terminal
  bool outlives = false;  // what it leaves running is not of this terminal: Ctrl-C does not end it
};

inline constexpr int kNotExecutable = 126, kCommandNotFound = 127;  // the shell's exit codes

// Waits for its end: the exit code, 0 after a signal; none: it could not be started. Ctrl-C is the command's meanwhile.
std::optional<int> run_shell_command(const ShellCommand& command);

}  // namespace warpchat
