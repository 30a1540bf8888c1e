// The pager is a shell command that reads the text from a pipe; it may leave before it has read all.
#include "app/terminal/pager.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "app/platform/output.h"
#include "app/platform/shell_command.h"
#include "app/platform/signals.h"
#include "app/platform/terminal.h"
#include "app/platform/text/graphemes.h"
#include "app/platform/text/piece.h"
#include "app/platform/text/styled_text.h"

namespace warpchat {

namespace {

std::string pager_command() {
  if (const char* wanted = std::getenv("PAGER")) return wanted;
  return is_installed("less") ? "less" : "";
}

// False: there is no such command, or it could not be started.
bool run_pager(const std::string& command, std::string_view text) {
  ShellCommand pager{.line = command, .input = text};
  // So that less shows looks instead of escape sequences, unless the user has said how less should be.
  if (std::getenv("LESS") == nullptr) pager.variables.emplace_back("LESS=R");
  const std::optional<int> code = run_shell_command(pager);
  return code && *code != kCommandNotFound && *code != kNotExecutable;
}

}  // namespace

int rows_of(std::string_view text, int columns) {
  const std::string plain = without_escapes(text);
  int rows = 0;
  for (std::string_view rest = plain; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    rows += 1 + std::max(0, text_width(rest.substr(0, end)) - 1) / columns;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return rows;
}

std::string last_rows(const std::string& text, int columns, int rows) {
  size_t begin = text.size();
  while (begin > 0) {
    const size_t before = begin < 2 ? std::string::npos : text.rfind('\n', begin - 2);
    const size_t line = before == std::string::npos ? 0 : before + 1;
    rows -= rows_of(std::string_view(text).substr(line, begin - line), columns);
    if (rows < 0 && begin < text.size()) break;
    begin = line;
  }
  return text.substr(begin);
}

void show_paged(const std::string& text, Terminal& terminal) {
  const TerminalSize size = terminal_size();
  const std::string command = terminal.is_plain() || rows_of(text, size.columns) < size.rows ? "" : pager_command();
  if (!command.empty()) {
    terminal.leave();
    const bool shown = run_pager(command, text);
    terminal.watch();
    if (shown) return;
  }
  show_unpaged(text);
}

void show_unpaged(std::string_view text) {
  for (; !text.empty() && !has_interrupt(); text.remove_prefix(piece_bytes(text)))
    write_styled_output(text.substr(0, piece_bytes(text)));
}

}  // namespace warpchat
