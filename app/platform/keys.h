// Bytes from a terminal in raw mode to keys: UTF-8 text, control keys, escape sequences of the common terminals
// (xterm's and its descendants', rxvt, the Linux console), bracketed paste, and the two protocols for keys with
// modifiers: kitty's (CSI u) and xterm's modifyOtherKeys.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpchat {

enum class KeyKind {
  kText,     // one code point
  kPaste,    // any text, line ends as \n
  kControl,  // a letter with Ctrl
  kEnter,
  kNewline,
  kTab,
  kEscape,
  kBackspace,
  kDelete,
  kLeft,
  kRight,
  kUp,
  kDown,
  kHome,
  kEnd,
  kTextStart,
  kTextEnd,
  kWordLeft,
  kWordRight,
  kDeleteWordLeft,
  kDeleteWordRight,
  kUpperWord,
  kLowerWord,
  kCapitalWord,
  kSwapWords,
  kPageUp,
  kPageDown,
  kCursorColumn,  // the terminal's report of the cursor (or Shift-F3 and the like, which have no meaning here)
  kOther,         // a known sequence without meaning here
};

struct Key {
  KeyKind kind;
  std::string text = {};  // of kText and kPaste: valid UTF-8 without control characters other than \n and \t
  char letter = 0;        // of kControl: 'A'..'Z', or one of @ [ \ ] ^ _
  int column = 0;         // of kCursorColumn: from 1
  bool operator==(const Key&) const = default;
};

class KeyDecoder {
 public:
  // The keys that these bytes complete.
  std::vector<Key> add(std::string_view bytes);
  // No byte came for a while: a lone escape byte is the Escape key, an unfinished sequence is dropped.
  std::vector<Key> timeout();
  bool waiting() const { return !pending_.empty() && !pasting_ && !in_string_; }

 private:
  std::optional<Key> take_key();  // from the front of pending_; nullopt when more bytes are needed
  std::optional<Key> take_escape();
  std::optional<Key> take_text();
  std::optional<Key> take_paste();
  std::optional<Key> take_string();
  std::string pending_;
  size_t paste_searched_ = 0;  // bytes of pending_ in which a paste does not end
  bool pasting_ = false;
  bool in_string_ = false;  // a report of the terminal that is not complete; its end may come late
};

}  // namespace warpchat
