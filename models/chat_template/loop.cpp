#include "models/chat_template/loop.h"

#include <algorithm>

namespace warpchat::jinja {

bool Loop::advance() {
  std::optional<Value> item = peek();
  has_peeked_ = false;
  if (!item) return false;
  ++index0_;
  previous_ = std::move(current_);
  current_ = std::move(*item);
  return true;
}

const std::optional<Value>& Loop::peek() {
  if (!has_peeked_) {
    if (has_rest_) {
      after_ = rest_next_ < rest_.size() ? std::optional(rest_[rest_next_++]) : std::nullopt;
    } else {
      after_ = pull_ ? pull_() : std::nullopt;
    }
    has_peeked_ = true;
  }
  return after_;
}

size_t Loop::length() {
  if (!length_) {
    while (std::optional<Value> item = pull_ ? pull_() : std::nullopt) rest_.push_back(std::move(*item));
    has_rest_ = true;
    length_ = rest_.size() + index() + (has_peeked_ && after_ ? 1 : 0);
  }
  return *length_;
}

std::optional<Value> Loop::attribute(Heap& heap, std::string_view name) {
  if (name == "index") return Value(index());
  if (name == "index0") return Value(index0_);
  if (name == "revindex") return Value(static_cast<int64_t>(length()) - index0_);
  if (name == "revindex0") return Value(static_cast<int64_t>(length()) - index0_ - 1);
  if (name == "length") return Value(length());
  if (name == "first") return Value(index0_ == 0);
  if (name == "last") return Value(!peek());
  if (name == "depth") return Value(depth_);
  if (name == "depth0") return Value(depth_ - 1);
  if (name == "previtem") return index0_ == 0 ? undefined("there is no previous item") : previous_;
  if (name == "nextitem") return peek() ? *after_ : undefined("there is no next item");
  if (name == "cycle") return heap.callable("loop.cycle", [this](const Arguments& a) { return cycle(a); });
  if (name == "changed") return heap.callable("loop.changed", [this](const Arguments& a) { return changed(a); });
  return std::nullopt;
}

void Loop::finish() {
  pull_ = nullptr;
  rest_ = {};
  rest_next_ = 0;
}

Value Loop::cycle(const Arguments& arguments) const {
  if (arguments.positional.empty()) throw Fault("loop.cycle() needs at least one value");
  return arguments.positional[static_cast<size_t>(index0_) % arguments.positional.size()];
}

Value Loop::changed(const Arguments& arguments) {
  const auto& now = arguments.positional;
  const auto same = [](const Value& a, const Value& b) { return equal(a, b); };
  if (last_seen_ && std::equal(last_seen_->begin(), last_seen_->end(), now.begin(), now.end(), same)) return false;
  last_seen_ = now;
  return true;
}

Loop::Pull pull_items(Heap& heap, const Value& source) {
  if (const List* list = source.list()) {
    return [list, at = size_t{0}]() mutable {
      return at < list->items.size() ? std::optional(list->items[at++]) : std::nullopt;
    };
  }
  if (Iterator* iterator = source.iterator()) {
    return [iterator] {
      return iterator->next < iterator->items.size() ? std::optional(iterator->items[iterator->next++]) : std::nullopt;
    };
  }
  return [items = iterate(heap, source), at = size_t{0}]() mutable {
    return at < items.size() ? std::optional(items[at++]) : std::nullopt;
  };
}

}  // namespace warpchat::jinja
