#include "models/chat_template/value.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/chat_template/loop.h"
#include "models/chat_template/meter.h"
#include "models/chat_template/unicode.h"

namespace warpchat::jinja {
namespace {

constexpr size_t kMaxErased = 64;  // entries of a dict that are kept for later

bool equal_in(Walk& walk, const Value& a, const Value& b);
bool less_in(Walk& walk, const Value& a, const Value& b);

// int64 and double are exact in a long double, whose significand has 64 bits on x86-64 and 113 on AArch64.
static_assert(std::numeric_limits<long double>::digits >= 64);
long double number_of(const Value& v) {
  if (const bool* b = v.boolean()) return *b ? 1 : 0;
  if (const int64_t* i = v.integer()) return static_cast<long double>(*i);
  return static_cast<long double>(*v.real());
}

bool same_bytes(const Text& a, const Text& b) {
  Meter::charge(a.bytes.size());
  return a.bytes == b.bytes;
}

bool equal_lists(Walk& walk, const List& a, const List& b) {
  if (a.form != b.form || a.items.size() != b.items.size()) return false;
  for (size_t i = 0; i < a.items.size(); ++i) {
    if (!equal_in(walk, a.items[i], b.items[i])) return false;
  }
  return true;
}

bool equal_dicts(Walk& walk, const Dict& a, const Dict& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [key, value] : a.entries()) {
    const Value* other = b.find(key);
    if (!other || !equal_in(walk, value, *other)) return false;
  }
  return true;
}

bool less_lists(Walk& walk, const List& a, const List& b) {
  for (size_t i = 0; i < a.items.size() && i < b.items.size(); ++i) {
    if (!equal_in(walk, a.items[i], b.items[i])) return less_in(walk, a.items[i], b.items[i]);
  }
  return a.items.size() < b.items.size();
}

[[noreturn]] void fail_order(const Value& a, const Value& b) {
  throw Fault(std::string("values of types ") + type_name(a) + " and " + type_name(b) + " have no order");
}

bool equal_in(Walk& walk, const Value& a, const Value& b) {
  const Walk::Level level(walk);
  if (is_number(a) && is_number(b)) return number_of(a) == number_of(b);
  if (a.text() && b.text()) return a.text()->bytes.size() == b.text()->bytes.size() && same_bytes(*a.text(), *b.text());
  if (a.list() && b.list()) return a.list() == b.list() || equal_lists(walk, *a.list(), *b.list());
  if (a.dict() && b.dict()) return a.dict() == b.dict() || equal_dicts(walk, *a.dict(), *b.dict());
  return identical(a, b);
}

bool less_in(Walk& walk, const Value& a, const Value& b) {
  const Walk::Level level(walk);
  if (a.undefined()) fail_undefined(*a.undefined());
  if (b.undefined()) fail_undefined(*b.undefined());
  if (is_number(a) && is_number(b)) return number_of(a) < number_of(b);
  if (a.text() && b.text()) {
    Meter::charge(std::min(a.text()->bytes.size(), b.text()->bytes.size()));
    return a.text()->bytes < b.text()->bytes;  // UTF-8 sorts like its code points
  }
  if (a.list() && b.list() && a.list()->form == b.list()->form && a.list()->form <= List::Form::kTuple) {
    return less_lists(walk, *a.list(), *b.list());
  }
  fail_order(a, b);
}

size_t hash_in(Walk& walk, const Value& v) {
  const Walk::Level level(walk);
  if (const double* real = v.real(); real && *real != std::floor(*real)) return std::hash<double>{}(*real);
  if (is_number(v)) return std::hash<long double>{}(number_of(v));
  if (const Text* text = v.text()) {
    charge_for(v);
    return std::hash<std::string>{}(text->bytes);
  }
  if (const List* list = v.list(); list && list->form == List::Form::kTuple) {
    size_t hash = list->items.size();
    for (const Value& item : list->items) hash = hash * 1000003 ^ hash_in(walk, item);
    return hash;
  }
  if (v.list() || v.dict()) throw Fault(std::string("a value of type ") + type_name(v) + " cannot be a key");
  return 1;
}

std::vector<Value> characters(Heap& heap, const Text& text) {
  std::vector<Value> items;
  for (size_t at = 0; at < text.bytes.size();) {
    const size_t start = at;
    next_code_point(text.bytes, at);
    items.push_back(heap.text(text.cut(start, at)));
  }
  return items;
}

std::vector<Value> keys_of(const Dict& dict) {
  Meter::charge(kValueWork * dict.size());
  std::vector<Value> keys;
  for (const auto& entry : dict.entries()) keys.push_back(entry.first);
  return keys;
}

}  // namespace

Walk::Level::Level(Walk& walk) : walk_(walk) {
  if (walk.depth_ >= kMaxDepth) throw Fault("a value is nested deeper than " + std::to_string(kMaxDepth) + " levels");
  Meter::charge(kValueWork);
  if (++walk.visits_ > kMaxVisits) throw Fault("a value has more than " + std::to_string(kMaxVisits) + " parts");
  ++walk.depth_;
}

size_t Dict::Hash::operator()(const Value& v) const { return hash_of(v); }
bool Dict::Same::operator()(const Value& a, const Value& b) const { return equal(a, b); }

const Value* Dict::find(const Value& key) const {
  if (key.list() || key.dict()) hash_of(key);  // Fault for unhashable keys, which a small map does not hash
  const auto place = places_.find(key);
  return place == places_.end() ? nullptr : &entries_[place->second].second;
}

void Dict::set(const Value& key, Value value) {
  const auto [place, is_new] = places_.try_emplace(key, entries_.size());
  if (is_new) {
    entries_.emplace_back(key, std::move(value));
  } else {
    entries_[place->second].second = std::move(value);
  }
}

void Dict::erase(const Value& key) {
  const auto place = places_.find(key);
  if (place == places_.end()) return;
  entries_[place->second] = {};
  places_.erase(place);
  if (entries_.size() > 2 * places_.size() + kMaxErased) compact();
}

const std::vector<Dict::Entry>& Dict::entries() const {
  if (entries_.size() != places_.size()) compact();
  return entries_;
}

// places_ tells which entries are still there.
void Dict::compact() const {
  Meter::charge(kValueWork * entries_.size());
  std::vector<size_t> left;
  for (const auto& [key, place] : places_) left.push_back(place);
  std::sort(left.begin(), left.end());
  std::vector<Entry> entries;
  for (const size_t place : left) entries.push_back(std::move(entries_[place]));
  for (size_t i = 0; i < entries.size(); ++i) places_.find(entries[i].first)->second = i;
  entries_ = std::move(entries);
}

void Dict::clear() {
  entries_.clear();
  places_.clear();
}

Value Heap::text(TracedText text, bool markup) {
  if (text.bytes.size() > kMaxTextBytes) throw Fault("a text is longer than 64 MiB");
  const size_t charged = sizeof(Text) + text.bytes.size() + text.content.size() * sizeof(TextRange);
  charge(charged);
  return Value(std::shared_ptr<const Text>(new Text{std::move(text), markup}, [this, charged](const Text* held) {
    release(charged);
    delete held;
  }));
}

List* Heap::list(std::vector<Value> items, List::Form form) {
  charge(items.size() * sizeof(Value));
  List* list = make<List>();
  list->form = form;
  list->items = std::move(items);
  return list;
}

Iterator* Heap::iterator(std::vector<Value> items) {
  charge(items.size() * sizeof(Value));
  Iterator* iterator = make<Iterator>();
  iterator->items = std::move(items);
  return iterator;
}

Callable* Heap::callable(std::string name, std::function<Value(const Arguments&)> call) {
  Callable* callable = make<Callable>();
  callable->name = std::move(name);
  callable->call = std::move(call);
  return callable;
}

void Heap::append(List& list, Value item) {
  charge(sizeof(Value));
  list.items.push_back(std::move(item));
}

void Heap::set(Dict& dict, const Value& key, Value value) {
  constexpr size_t kEntryBytes = sizeof(Dict::Entry) + sizeof(Value) + 4 * sizeof(size_t);  // including its place
  charge(kEntryBytes);
  dict.set(key, std::move(value));
}

void Heap::charge(size_t bytes) {
  Meter::charge(bytes);
  if (bytes > max_bytes_ - used_bytes_) {
    throw Fault("the template needs more than " + std::to_string(max_bytes_ >> 20) + " MiB of memory");
  }
  used_bytes_ += bytes;
}

Value literal_text(std::string bytes) { return std::make_shared<const Text>(Text{own_text(std::move(bytes))}); }

Value undefined(std::string why) { return Undefined{std::make_shared<const std::string>(std::move(why))}; }

const char* type_name(const Value& v) {
  constexpr const char* kForms[] = {"list", "tuple", "range", "dict_keys", "dict_values", "dict_items"};
  if (v.undefined()) return "undefined";
  if (v.is_none()) return "none";
  if (v.boolean()) return "bool";
  if (v.integer()) return "int";
  if (v.real()) return "float";
  if (v.text()) return "str";
  if (v.list()) return kForms[static_cast<int>(v.list()->form)];
  if (v.dict()) return "dict";
  if (v.name_space()) return "namespace";
  if (v.iterator()) return "iterator";
  if (v.loop()) return "loop";
  return v.callable()->is_macro ? "macro" : "function";
}

void fail_undefined(const Undefined& value) { throw Fault(value.why ? *value.why : "the value is undefined"); }

void charge_for(const Value& v) {
  if (const Text* text = v.text()) Meter::charge(text->bytes.size());
}

bool is_true(const Value& v) {
  if (v.undefined() || v.is_none()) return false;
  if (is_number(v)) return number_of(v) != 0;
  if (const Text* text = v.text()) return !text->bytes.empty();
  if (const List* list = v.list()) return !list->items.empty();
  if (const Dict* dict = v.dict()) return dict->size() > 0;
  return true;
}

bool is_number(const Value& v) { return v.boolean() || v.integer() || v.real(); }

bool is_callable(const Value& v) { return v.callable() || v.loop() || v.undefined(); }

size_t length_of(const Value& v) {
  if (v.undefined()) return 0;
  if (const Text* text = v.text()) {
    charge_for(v);
    return count_code_points(text->bytes);
  }
  if (const List* list = v.list()) return list->items.size();
  if (const Dict* dict = v.dict()) return dict->size();
  if (Loop* loop = v.loop()) return loop->length();
  throw Fault(std::string("a value of type ") + type_name(v) + " has no length");
}

std::vector<Value> iterate(Heap& heap, const Value& v) {
  if (v.undefined()) return {};
  if (const Text* text = v.text()) return characters(heap, *text);
  if (const List* list = v.list()) {
    Meter::charge(kValueWork * list->items.size());
    return list->items;
  }
  if (const Dict* dict = v.dict()) return keys_of(*dict);
  if (Iterator* iterator = v.iterator()) {
    Meter::charge(kValueWork * (iterator->items.size() - iterator->next));
    std::vector<Value> rest(iterator->items.begin() + static_cast<ptrdiff_t>(iterator->next), iterator->items.end());
    iterator->next = iterator->items.size();
    return rest;
  }
  throw Fault(std::string("a value of type ") + type_name(v) + " cannot be iterated over");
}

bool is_iterable(const Value& v) {
  return v.undefined() || v.text() || v.list() || v.dict() || v.iterator() || v.loop();
}

bool equal(const Value& a, const Value& b) {
  Walk walk;
  return equal_in(walk, a, b);
}

bool identical(const Value& a, const Value& b) {
  if (a.undefined() || b.undefined()) return a.undefined() && b.undefined();
  if (a.is_none() || b.is_none()) return a.is_none() && b.is_none();
  if (a.boolean() && b.boolean()) return *a.boolean() == *b.boolean();
  if (a.integer() && b.integer()) return *a.integer() == *b.integer();
  if (a.real() && b.real()) return *a.real() == *b.real();
  if (a.text() && b.text()) return a.text() == b.text() || a.text()->bytes == b.text()->bytes;
  if (a.list()) return a.list() == b.list();
  if (a.dict()) return a.dict() == b.dict();
  if (a.name_space()) return a.name_space() == b.name_space();
  if (a.iterator()) return a.iterator() == b.iterator();
  if (a.callable()) return a.callable() == b.callable();
  return a.loop() && a.loop() == b.loop();
}

bool less(const Value& a, const Value& b) {
  Walk walk;
  return less_in(walk, a, b);
}

size_t hash_of(const Value& v) {
  Walk walk;
  return hash_in(walk, v);
}

}  // namespace warpchat::jinja
