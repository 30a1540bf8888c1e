// Keys that are pressed while the program is at work: they wait for the next line, and what they will write is shown
// meanwhile.
#pragma once
#include <string>
#include <vector>

#include "app/platform/keys.h"
#include "app/terminal/editor/line_editor.h"

namespace warpchat {

class TypedAhead {
 public:
  explicit TypedAhead(History& history);

  void press(const std::vector<Key>& keys);
  std::vector<Key> release();  // all keys so far, in order; none are left

  // The end of the line in which the cursor is, and how many lines wait before the text, in fewer columns than these.
  // Empty if nothing has been written.
  std::string row(int columns) const;

 private:
  std::vector<Key> keys_;
  LineEditor preview_;    // completes nothing: that may ask for what is at work
  size_t n_entered_ = 0;  // lines before its text
};

}  // namespace warpchat
