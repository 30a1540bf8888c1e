// The variable `loop` of a running for statement: where it stands, and what comes before and after.
// Items are pulled one at a time, at most one ahead of the body, so that a filter on the loop sees what the body did.
#pragma once
#include <functional>
#include <optional>

#include "models/chat_template/value.h"

namespace warpchat::jinja {

class Loop : public Object {
 public:
  using Pull = std::function<std::optional<Value>()>;
  // length: of what is iterated over, where that is known before it is read.
  Loop(Pull pull, std::optional<size_t> length, int depth) : pull_(std::move(pull)), length_(length), depth_(depth) {}

  bool advance();  // to the next item; false: there is none
  const Value& current() const { return current_; }
  size_t index() const { return static_cast<size_t>(index0_ + 1); }
  size_t length();
  // index, first, last, previtem, cycle, ...; nothing for an unknown name.
  std::optional<Value> attribute(Heap& heap, std::string_view name);
  void finish();  // drops what is no longer read

 private:
  const std::optional<Value>& peek();
  Value cycle(const Arguments& arguments) const;
  Value changed(const Arguments& arguments);

  Pull pull_;
  std::optional<size_t> length_;
  int depth_;  // of nested recursion, from 1
  int64_t index0_ = -1;
  Value current_, previous_;
  std::optional<Value> after_;
  bool has_peeked_ = false;
  std::vector<Value> rest_;  // read ahead for the length
  size_t rest_next_ = 0;
  bool has_rest_ = false;
  std::optional<std::vector<Value>> last_seen_;  // by changed()
};

// Reads a value item by item; a list is read in place, so that what is appended to it is read too.
Loop::Pull pull_items(Heap& heap, const Value& source);

}  // namespace warpchat::jinja
