// The user's terminal: its modes, its size, its keyboard.
#pragma once
#include <termios.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "app/platform/signals.h"

namespace warpchat {

struct TerminalSize {
  int columns = 80, rows = 24;
};
TerminalSize terminal_size(int descriptor = STDOUT_FILENO);  // the default where that is no terminal

constexpr std::chrono::milliseconds kForEver{-1}, kEscapeDelay{50};  // the rest of a sequence comes sooner

class Terminal {
 public:
  enum class Kind { kDrawn, kPlain };  // plain: its cursor cannot be moved, or is not to be
  Terminal();                          // standard input and output must be a terminal
  explicit Terminal(Kind kind);        // standard input must be one
  ~Terminal();                         // as it was before

  // In a plain one keys come as bytes and Ctrl-C and Ctrl-Z are signals in both. In edit, Ctrl-C drops what was typed
  // before it, whether or not that has been read.
  bool is_plain() const { return plain_; }
  void edit();   // raw: every key comes as bytes, nothing is echoed, pasted text is bracketed
  void watch();  // while an answer streams: no echo, but Ctrl-C and Ctrl-Z are signals; typed text stays, also then
  void leave();  // as it was before

  enum class Input { kBytes, kNothing, kSignal, kEnd };
  // Waits for keys or a signal; timeout below 0: for ever. kBytes: `bytes` is not empty. kEnd: the terminal is gone.
  Input read(std::string& bytes, std::chrono::milliseconds timeout);

 private:
  void read_keys(tcflag_t flush);  // NOFLSH: Ctrl-C drops nothing that was typed before it
  void set_mode(const termios& mode, const KeyReports& reports);

  bool plain_, is_original_ = true;
  termios original_;
  // Bytes that were typed in the original mode and have not been read: in them Enter is \n, and Ctrl-D is NUL.
  size_t n_cooked_ = 0;
};

}  // namespace warpchat
