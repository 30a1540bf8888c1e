// The editing of a line that a terminal does by itself, for lines of any length: the kernel's own holds 4,095 bytes of
// one and drops the rest. Keys in, their echo out.
#pragma once
#include <string>

#include "app/platform/keys.h"

namespace warpchat {

class TypedText {
 public:
  std::string press(const Key& key);  // what the terminal is to show of it

  // What has been entered: lines with their ends, and what stood before a Ctrl-D.
  std::string take_entered();
  bool ended() const { return ended_; }  // Ctrl-D at a line's begin
  void clear() { *this = {}; }

 private:
  std::string erase(size_t from);  // of the line
  std::string line_, entered_;
  bool ended_ = false;
};

// All that is typed at standard input, a terminal, up to a Ctrl-D at a line's begin.
std::string read_typed_text();

}  // namespace warpchat
