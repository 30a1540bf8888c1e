// Values of a template: Python's, as far as Jinja exposes them. Strings are immutable and shared. Containers belong to
// the Heap of one rendering and are passed by pointer, like Python's references. So a list that contains itself does
// not leak, and nothing is freed recursively.
#pragma once
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "models/chat_template/traced_text.h"

namespace warpchat::jinja {

// A fault without position: the interpreter adds the line.
class Fault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Guards recursion through nested values. Refuses values that are nested too deeply (they may contain themselves), or
// too large because of shared parts.
class Walk {
 public:
  class Level {
   public:
    explicit Level(Walk& walk);  // Fault beyond kMaxDepth levels or kMaxVisits values
    ~Level() { --walk_.depth_; }
    Level(const Level&) = delete;

   private:
    Walk& walk_;
  };
  static constexpr int kMaxDepth = 400;
  static constexpr int kMaxVisits = 4'000'000;

 private:
  int depth_ = 0, visits_ = 0;
};

struct Undefined {
  std::shared_ptr<const std::string> why;  // "'foo' is undefined"
};
struct None {};
struct Text : TracedText {
  bool markup = false;  // marked by `safe` or `escape`: text added to it is HTML-escaped
};
struct List;
class Dict;
struct Namespace;
struct Iterator;
struct Callable;
class Loop;

class Value {
 public:
  Value() = default;  // undefined without a reason
  Value(Undefined undefined) : of_(std::move(undefined)) {}
  Value(None) : of_(None{}) {}
  Value(std::shared_ptr<const Text> text) : of_(std::move(text)) {}
  Value(double number) : of_(number) {}
  template <std::same_as<bool> B>
  Value(B truth) : of_(truth) {}
  template <std::integral I>
  requires(!std::same_as<I, bool>) Value(I number) : of_(static_cast<int64_t>(number)) {}
  Value(List* list) : of_(list) {}
  Value(Dict* dict) : of_(dict) {}
  Value(Namespace* name_space) : of_(name_space) {}
  Value(Iterator* iterator) : of_(iterator) {}
  Value(Callable* callable) : of_(callable) {}
  Value(Loop* loop) : of_(loop) {}

  // Null for values of another type.
  const Undefined* undefined() const { return std::get_if<Undefined>(&of_); }
  const bool* boolean() const { return std::get_if<bool>(&of_); }
  const int64_t* integer() const { return std::get_if<int64_t>(&of_); }
  const double* real() const { return std::get_if<double>(&of_); }
  const Text* text() const { return pointer<std::shared_ptr<const Text>>().get(); }
  List* list() const { return pointer<List*>(); }
  Dict* dict() const { return pointer<Dict*>(); }
  Namespace* name_space() const { return pointer<Namespace*>(); }
  Iterator* iterator() const { return pointer<Iterator*>(); }
  Callable* callable() const { return pointer<Callable*>(); }
  Loop* loop() const { return pointer<Loop*>(); }
  bool is_none() const { return std::holds_alternative<None>(of_); }

 private:
  template <class P>
  P pointer() const {
    const P* held = std::get_if<P>(&of_);
    return held ? *held : P{};
  }

  std::variant<Undefined, None, bool, int64_t, double, std::shared_ptr<const Text>, List*, Dict*, Namespace*, Iterator*,
               Callable*, Loop*>
      of_;
};

struct Object {
  virtual ~Object() = default;
};

// A sequence: Python's list, or a type that differs in printing and in permitted operations.
struct List : Object {
  enum class Form { kList, kTuple, kRange, kKeys, kValues, kItems };
  Form form = Form::kList;
  std::vector<Value> items;

  bool is_view() const { return form >= Form::kKeys; }  // a dict's view: sized and iterable, without subscripts
};

// Ordered by first insertion.
class Dict : public Object {
 public:
  using Entry = std::pair<Value, Value>;
  const std::vector<Entry>& entries() const;
  size_t size() const { return places_.size(); }
  const Value* find(const Value& key) const;  // null: no such key
  void set(const Value& key, Value value);
  void erase(const Value& key);
  void clear();

 private:
  struct Hash {
    size_t operator()(const Value& v) const;
  };
  struct Same {
    bool operator()(const Value& a, const Value& b) const;
  };
  void compact() const;
  mutable std::vector<Entry> entries_;                            // erased ones stay, empty, until compact()
  mutable std::unordered_map<Value, size_t, Hash, Same> places_;  // index in entries_ of each key
};

struct Namespace : Object {
  Dict* attributes = nullptr;
};

// Result of map, select and similar: read once, front to back.
struct Iterator : Object {
  std::vector<Value> items;
  size_t next = 0;
};

struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<TracedText, Value>> named;  // names may be content keys
};

struct Callable : Object {
  std::string name;
  bool is_macro = false;
  std::function<Value(const Arguments&)> call;
};

// Maximum length of any text: string values, captured blocks, the whole output.
constexpr size_t kMaxTextBytes = size_t{64} << 20;

// Owns a rendering's containers and counts the bytes of all its values; Fault beyond the limit.
class Heap {
 public:
  explicit Heap(size_t max_bytes) : max_bytes_(max_bytes) {}
  Heap(const Heap&) = delete;

  template <class T, class... A>
  T* make(A&&... arguments) {
    charge(sizeof(T) + sizeof(Value));
    auto object = std::make_unique<T>(std::forward<A>(arguments)...);
    T* made = object.get();
    objects_.push_back(std::move(object));
    return made;
  }
  Value text(TracedText text, bool markup = false);
  List* list(std::vector<Value> items, List::Form form = List::Form::kList);
  Dict* dict() { return make<Dict>(); }
  Iterator* iterator(std::vector<Value> items);
  Callable* callable(std::string name, std::function<Value(const Arguments&)> call);
  void append(List& list, Value item);
  void set(Dict& dict, const Value& key, Value value);

  void charge(size_t bytes);
  void release(size_t bytes) { used_bytes_ -= bytes; }

 private:
  size_t max_bytes_, used_bytes_ = 0;
  std::vector<std::unique_ptr<Object>> objects_;
};

Value literal_text(std::string bytes);  // outside any heap: template text
Value undefined(std::string why);

const char* type_name(const Value& v);                     // as in messages: "str", "list", "undefined"
[[noreturn]] void fail_undefined(const Undefined& value);  // Fault with its reason
void charge_for(const Value& v);  // to the meter, for reading a whole text; nothing for other types
bool is_true(const Value& v);
bool is_number(const Value& v);  // int, float or bool
bool is_callable(const Value& v);
size_t length_of(const Value& v);                        // Fault where Python's len() fails
std::vector<Value> iterate(Heap& heap, const Value& v);  // all items; consumes an Iterator; Fault if not iterable
bool is_iterable(const Value& v);

bool equal(const Value& a, const Value& b);
bool identical(const Value& a, const Value& b);  // Python's `is`
bool less(const Value& a, const Value& b);       // Fault if Python cannot order them
size_t hash_of(const Value& v);                  // Fault for lists and dicts

}  // namespace warpchat::jinja
