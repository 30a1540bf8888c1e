// A program serves the display's clipboard as long as it is wanted. A terminal takes the text by OSC 52.
#include "app/platform/clipboard.h"

#include <cstdint>
#include <cstdlib>

#include "app/platform/output.h"
#include "app/platform/shell_command.h"
#include "models/error.h"
#include "models/human_bytes.h"

namespace warpchat {

namespace {

constexpr size_t kMaxCopiedBytes = 1 << 20;  // terminals drop longer sequences

struct ClipboardProgram {
  const char* display;  // the variable that names it
  const char* name;
  const char* command;
};
constexpr ClipboardProgram kPrograms[] = {
    {"WAYLAND_DISPLAY", "wl-copy", "wl-copy"},
    {"DISPLAY", "xclip", "xclip -selection clipboard"},
    {"DISPLAY", "xsel", "xsel --clipboard --input"},
};

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

// The display of a session over SSH is that of another machine.
bool copies_with(const ClipboardProgram& program, std::string_view text) {
  if (is_set("SSH_CONNECTION") || is_set("SSH_TTY") || !is_set(program.display) || !is_installed(program.name))
    return false;
  const std::string quiet = std::string(program.command) + " >/dev/null 2>&1";
  return run_shell_command({.line = quiet, .input = text, .outlives = true}) == 0;
}

}  // namespace

std::string base64_of(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;  // 24 bits
    for (size_t j = i; j < i + 3; ++j) group = group << 8 | (j < bytes.size() ? static_cast<uint8_t>(bytes[j]) : 0u);
    for (size_t j = 0; j < 4; ++j) text += i + j <= bytes.size() ? kDigits[group >> (18 - 6 * j) & 63] : '=';
  }
  return text;
}

std::string copy_to_clipboard(std::string_view text) {
  if (text.size() > kMaxCopiedBytes)
    throw Error("the text has " + human_bytes(text.size()) + ", too much for a clipboard; /export FILE writes it");
  for (const ClipboardProgram& program : kPrograms)
    if (copies_with(program, text)) return program.name;
  if (!moves_cursor())
    throw Error("there is no clipboard: no display, and the terminal has none; /export FILE writes a file");
  copy_by_terminal(base64_of(text));
  return "the terminal";
}

}  // namespace warpchat
