// The echo is the kernel's: a character as it is, blanks over one that is erased.
#include "app/platform/typed_text.h"

#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "app/platform/output.h"
#include "app/platform/signals.h"
#include "app/platform/terminal.h"
#include "app/platform/text/graphemes.h"
#include "models/utf8.h"

namespace warpchat {

namespace {

size_t word_begin(const std::string& line) {
  const size_t end = line.find_last_not_of(" \t");
  if (end == std::string::npos) return 0;
  const size_t blank = line.find_last_of(" \t", end);
  return blank == std::string::npos ? 0 : blank + 1;
}

size_t character_begin(const std::string& line) {
  size_t at = line.size();
  while (at > 0 && continues_character(line[--at])) continue;
  return at;
}

}  // namespace

std::string TypedText::press(const Key& key) {
  switch (key.kind) {
    case KeyKind::kText:
    case KeyKind::kPaste:
      line_ += key.text;
      return key.text;
    case KeyKind::kTab:
      line_ += '\t';
      return "\t";
    case KeyKind::kEnter:
    case KeyKind::kNewline:
      entered_ += std::exchange(line_, {}) + "\n";
      return "\n";
    case KeyKind::kBackspace:
      return erase(character_begin(line_));
    case KeyKind::kDeleteWordLeft:
      return erase(word_begin(line_));
    case KeyKind::kControl:
      if (key.letter == 'W') return erase(word_begin(line_));
      if (key.letter == 'U') return erase(0);
      if (key.letter != 'D') return "";
      ended_ = line_.empty();
      entered_ += std::exchange(line_, {});
      return "";
    default:
      return "";
  }
}

std::string TypedText::take_entered() { return std::exchange(entered_, {}); }

// Where a tab stood is not known, so the line is shown again.
std::string TypedText::erase(size_t from) {
  const std::string erased = line_.substr(from);
  line_.resize(from);
  if (erased.find('\t') != std::string::npos) return "\n" + line_;
  std::string echo;
  for (int i = 0; i < text_width(erased); ++i) echo += "\b \b";
  return echo;
}

std::string read_typed_text() {
  Terminal terminal(Terminal::Kind::kPlain);
  OutputFile echo(ttyname(STDIN_FILENO) != nullptr ? ttyname(STDIN_FILENO) : "/dev/tty");
  terminal.watch();
  TypedText typed;
  KeyDecoder decoder;
  std::string all;
  while (!typed.ended()) {
    std::string bytes;
    const Terminal::Input input = terminal.read(bytes, decoder.waiting() ? kEscapeDelay : kForEver);
    if (input == Terminal::Input::kEnd) break;
    if (input == Terminal::Input::kSignal) continue;
    std::string shown;
    for (const Key& key : input == Terminal::Input::kNothing ? decoder.timeout() : decoder.add(bytes)) {
      shown += typed.press(key);
      if (typed.ended()) break;
    }
    echo.write(shown.data(), shown.size());
    all += typed.take_entered();
  }
  return all;
}

}  // namespace warpchat
