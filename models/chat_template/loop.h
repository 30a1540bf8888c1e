// The variable `loop` of a running for statement: its state and neighbouring items. Items are pulled one at a time, at
// most one ahead of the body, so that a filter on the loop sees the body's effects.
#pragma once
#include <functional>
#include <optional>

#include "models/chat_template/value.h"

namespace warpchat::jinja {

class Loop : public Object {
 public:
  using Pull = std::function<std::optional<Value>()>;
  // length: of the iterated value, if known in advance.
  Loop(Pull pull, std::optional<size_t> length, int depth) : pull_(std::move(pull)), length_(length), depth_(depth) {}

  bool advance();  // to the next item; false: no more
  const Value& current() const { return current_; }
  size_t index() const { return static_cast<size_t>(index0_ + 1); }
  size_t length();
  // index, first, last, previtem, cycle, ...; nothing for an unknown name.
  std::optional<Value> attribute(Heap& heap, std::string_view name);
  void finish();  // frees data that is no longer needed

 private:
  const std::optional<Value>& peek();
  Value cycle(const Arguments& arguments) const;
  Value changed(const Arguments& arguments);

  Pull pull_;
  std::optional<size_t> length_;
  int depth_;  // nesting of recursive loops, from 1
  int64_t index0_ = -1;
  Value current_, previous_;
  std::optional<Value> after_;
  bool has_peeked_ = false;
  std::vector<Value> rest_;  // read ahead to compute the length
  size_t rest_next_ = 0;
  bool has_rest_ = false;
  std::optional<std::vector<Value>> last_seen_;  // for changed()
};

// Reads a value item by item. Lists are read in place, so that items appended meanwhile are read, too.
Loop::Pull pull_items(Heap& heap, const Value& source);

}  // namespace warpchat::jinja
