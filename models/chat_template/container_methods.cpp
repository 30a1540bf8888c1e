// Methods of list, tuple and dict. Includes methods that modify the container, which published templates use, although
// transformers' sandbox refuses them.
#include <algorithm>
#include <iterator>

#include "models/chat_template/meter.h"
#include "models/chat_template/methods.h"

namespace warpchat::jinja {
namespace {

std::vector<Value>& items_of(const Value& self) { return self.list()->items; }

// Index for insert(): any int is clamped to the list.
ptrdiff_t clamp_position(int64_t i, size_t length) {
  const auto n = static_cast<int64_t>(length);
  return static_cast<ptrdiff_t>(std::clamp<int64_t>(i < 0 ? i + n : i, 0, n));
}

// Inserting and erasing move what comes after.
void charge_moves(const std::vector<Value>& items, size_t from) { Meter::charge(kValueWork * (items.size() - from)); }

auto find_item(const Value& self, const Value& item) {
  return std::find_if(items_of(self).begin(), items_of(self).end(), [&](const Value& v) { return equal(v, item); });
}

Value list_append(Heap& heap, const Value& self, const Arguments& arguments) {
  heap.append(*self.list(), bind("append", arguments, {{"object"}})[0]);
  return None{};
}

Value list_extend(Heap& heap, const Value& self, const Arguments& arguments) {
  for (const Value& item : iterate(heap, bind("extend", arguments, {{"iterable"}})[0])) heap.append(*self.list(), item);
  return None{};
}

Value list_insert(Heap& heap, const Value& self, const Arguments& arguments) {
  const auto given = bind("insert", arguments, {{"index"}, {"object"}});
  heap.charge(sizeof(Value));
  std::vector<Value>& items = items_of(self);
  const ptrdiff_t at = clamp_position(to_integer(given[0], "insert()'s position"), items.size());
  charge_moves(items, static_cast<size_t>(at));
  items.insert(items.begin() + at, given[1]);
  return None{};
}

Value list_pop(Heap&, const Value& self, const Arguments& arguments) {
  std::vector<Value>& items = items_of(self);
  int64_t at = to_integer(bind("pop", arguments, {{"index", -1}})[0], "pop()'s position");
  if (at < 0) at += static_cast<int64_t>(items.size());
  if (at < 0 || at >= static_cast<int64_t>(items.size())) throw Fault("pop() is beyond the end of the list");
  const Value popped = items[static_cast<size_t>(at)];
  charge_moves(items, static_cast<size_t>(at));
  items.erase(items.begin() + at);
  return popped;
}

Value list_remove(Heap&, const Value& self, const Arguments& arguments) {
  const auto at = find_item(self, bind("remove", arguments, {{"value"}})[0]);
  if (at == items_of(self).end()) throw Fault("remove() did not find its value");
  charge_moves(items_of(self), static_cast<size_t>(at - items_of(self).begin()));
  items_of(self).erase(at);
  return None{};
}

Value list_clear(Heap&, const Value& self, const Arguments& arguments) {
  bind_nothing("clear", arguments);
  items_of(self).clear();
  return None{};
}

Value list_reverse(Heap&, const Value& self, const Arguments& arguments) {
  bind_nothing("reverse", arguments);
  charge_moves(items_of(self), 0);
  std::reverse(items_of(self).begin(), items_of(self).end());
  return None{};
}

Value list_sort(Heap&, const Value& self, const Arguments& arguments) {
  const bool backwards = is_true(bind("sort", arguments, {{"reverse", false}})[0]);
  charge_moves(items_of(self), 0);
  std::stable_sort(items_of(self).begin(), items_of(self).end(),
                   [backwards](const Value& a, const Value& b) { return backwards ? less(b, a) : less(a, b); });
  return None{};
}

Value list_copy(Heap& heap, const Value& self, const Arguments& arguments) {
  bind_nothing("copy", arguments);
  return heap.list(items_of(self));
}

Value list_count(Heap&, const Value& self, const Arguments& arguments) {
  const Value sought = bind("count", arguments, {{"value"}})[0];
  return std::count_if(items_of(self).begin(), items_of(self).end(), [&](const Value& v) { return equal(v, sought); });
}

Value list_index(Heap&, const Value& self, const Arguments& arguments) {
  const auto at = find_item(self, bind("index", arguments, {{"value"}})[0]);
  if (at == items_of(self).end()) throw Fault("index() did not find its value");
  return at - items_of(self).begin();
}

Value dict_get(Heap&, const Value& self, const Arguments& arguments) {
  const auto given = bind("get", arguments, {{"key"}, {"default", None{}}});
  const Value* found = self.dict()->find(given[0]);
  return found ? *found : given[1];
}

Value dict_keys(Heap& heap, const Value& self, const Arguments& arguments) {
  bind_nothing("keys", arguments);
  return heap.list(iterate(heap, self), List::Form::kKeys);
}

Value dict_values(Heap& heap, const Value& self, const Arguments& arguments) {
  bind_nothing("values", arguments);
  std::vector<Value> values;
  for (const auto& entry : self.dict()->entries()) values.push_back(entry.second);
  return heap.list(std::move(values), List::Form::kValues);
}

Value dict_items(Heap& heap, const Value& self, const Arguments& arguments) {
  bind_nothing("items", arguments);
  return heap.list(pairs_of(heap, *self.dict()), List::Form::kItems);
}

Value dict_copy(Heap& heap, const Value& self, const Arguments& arguments) {
  bind_nothing("copy", arguments);
  Dict* copy = heap.dict();
  for (const auto& [key, value] : self.dict()->entries()) heap.set(*copy, key, value);
  return copy;
}

Value dict_update(Heap& heap, const Value& self, const Arguments& arguments) {
  update_dict(heap, *self.dict(), arguments, "update");
  return None{};
}

Value dict_pop(Heap&, const Value& self, const Arguments& arguments) {
  const bool has_default = arguments.positional.size() > 1;
  const auto given = bind("pop", arguments, {{"key"}, {"default", None{}}});
  const Value* found = self.dict()->find(given[0]);
  if (!found && !has_default) throw Fault("pop() did not find its key");
  const Value popped = found ? *found : given[1];
  self.dict()->erase(given[0]);
  return popped;
}

Value dict_set_default(Heap& heap, const Value& self, const Arguments& arguments) {
  const auto given = bind("setdefault", arguments, {{"key"}, {"default", None{}}});
  if (const Value* found = self.dict()->find(given[0])) return *found;
  heap.set(*self.dict(), given[0], given[1]);
  return given[1];
}

Value dict_clear(Heap&, const Value& self, const Arguments& arguments) {
  bind_nothing("clear", arguments);
  self.dict()->clear();
  return None{};
}

struct Row {
  std::string_view name;
  Method method;
  bool of_tuple = false;  // tuples have it, too
};

constexpr Row kListMethods[] = {
    {"append", list_append}, {"clear", list_clear},       {"copy", list_copy},     {"count", list_count, true},
    {"extend", list_extend}, {"index", list_index, true}, {"insert", list_insert}, {"pop", list_pop},
    {"remove", list_remove}, {"reverse", list_reverse},   {"sort", list_sort},
};

constexpr Row kDictMethods[] = {
    {"clear", dict_clear},
    {"copy", dict_copy},
    {"get", dict_get},
    {"items", dict_items},
    {"keys", dict_keys},
    {"pop", dict_pop},
    {"setdefault", dict_set_default},
    {"update", dict_update},
    {"values", dict_values},
};

template <size_t n>
const Row* find_row(const Row (&rows)[n], std::string_view name) {
  const Row* row = std::find_if(std::begin(rows), std::end(rows), [name](const Row& r) { return r.name == name; });
  return row == std::end(rows) ? nullptr : row;
}

}  // namespace

std::vector<Value> pairs_of(Heap& heap, const Dict& dict) {
  std::vector<Value> pairs;
  for (const auto& [key, value] : dict.entries()) pairs.push_back(heap.list({key, value}, List::Form::kTuple));
  return pairs;
}

void update_dict(Heap& heap, Dict& dict, const Arguments& arguments, std::string_view function) {
  if (arguments.positional.size() > 1) throw Fault(std::string(function) + "() takes at most one positional argument");
  for (const Value& source : arguments.positional) {
    if (const Dict* other = source.dict()) {
      const std::vector<Dict::Entry> entries = other->entries();  // a copy, since the dict may be its own source
      for (const auto& [key, value] : entries) heap.set(dict, key, value);
      continue;
    }
    for (const Value& item : iterate(heap, source)) {
      const std::vector<Value> pair = iterate(heap, item);
      if (pair.size() != 2) throw Fault(std::string(function) + "() takes a dict or pairs of key and value");
      heap.set(dict, pair[0], pair[1]);
    }
  }
  for (const auto& [name, value] : arguments.named) heap.set(dict, heap.text(name), value);
}

Method find_list_method(std::string_view name, List::Form form) {
  const Row* row = find_row(kListMethods, name);
  return row && (form == List::Form::kList || (form == List::Form::kTuple && row->of_tuple)) ? row->method : nullptr;
}

Method find_dict_method(std::string_view name) {
  const Row* row = find_row(kDictMethods, name);
  return row ? row->method : nullptr;
}

Value call_method(Method method, Heap& heap, const Value& self, const Arguments& arguments) {
  charge_for(self);
  return method(heap, self, arguments);
}

Method find_method(const Value& self, std::string_view name) {
  if (self.text()) return find_text_method(name);
  if (self.list()) return find_list_method(name, self.list()->form);
  if (self.dict()) return find_dict_method(name);
  return nullptr;
}

}  // namespace warpchat::jinja
