#include "models/chat_template/globals.h"

#include <ctime>

#include "models/chat_template/arguments.h"
#include "models/chat_template/methods.h"
#include "models/chat_template/python_text.h"

namespace warpchat::jinja {
namespace {

constexpr size_t kMaxRange = 100'000;  // as in jinja2's sandbox

// range(stop) or range(start, stop[, step])
Value make_range(Heap& heap, const Arguments& arguments) {
  const size_t n = arguments.positional.size();
  if (n < 1 || n > 3 || !arguments.named.empty()) throw Fault("range() takes one to three ints");
  const auto given = [&](size_t i) { return to_integer(arguments.positional[i], "an argument of range()"); };
  const int64_t start = n == 1 ? 0 : given(0), stop = given(n == 1 ? 0 : 1), step = n == 3 ? given(2) : 1;
  if (step == 0) throw Fault("range()'s step must not be zero");
  std::vector<Value> items;
  for (int64_t i = start; step > 0 ? i < stop : i > stop;) {
    if (items.size() == kMaxRange) throw Fault("a range has more than " + std::to_string(kMaxRange) + " items");
    items.push_back(i);
    if (__builtin_add_overflow(i, step, &i)) break;
  }
  return heap.list(std::move(items), List::Form::kRange);
}

Value make_dict(Heap& heap, const Arguments& arguments) {
  Dict* dict = heap.dict();
  update_dict(heap, *dict, arguments, "dict");
  return dict;
}

Value make_namespace(Heap& heap, const Arguments& arguments) {
  Namespace* space = heap.make<Namespace>();
  space->attributes = heap.dict();
  update_dict(heap, *space->attributes, arguments, "namespace");
  return space;
}

Value raise_exception(const Arguments& arguments) {
  throw Fault("the template refuses these messages: " +
              str(bind("raise_exception", arguments, {{"message"}})[0]).bytes);
}

Value strftime_now(Heap& heap, const Arguments& arguments) {
  const Value format = bind("strftime_now", arguments, {{"format"}})[0];
  const std::string& text = to_bytes(format, "strftime_now()'s format");
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  std::string out(text.size() * 8 + 256, '\0');
  out.resize(std::strftime(out.data(), out.size(), text.c_str(), &local));
  if (out.empty() && !text.empty()) throw Fault("strftime_now() cannot write the time as " + repr_text(text));
  return heap.text(text_for(std::move(out), format.text()->has_content()));
}

}  // namespace

std::vector<Callable*> make_globals(Heap& heap) {
  return {
      heap.callable("range", [&heap](const Arguments& a) { return make_range(heap, a); }),
      heap.callable("dict", [&heap](const Arguments& a) { return make_dict(heap, a); }),
      heap.callable("namespace", [&heap](const Arguments& a) { return make_namespace(heap, a); }),
      heap.callable("raise_exception", [](const Arguments& a) { return raise_exception(a); }),
      heap.callable("strftime_now", [&heap](const Arguments& a) { return strftime_now(heap, a); }),
  };
}

}  // namespace warpchat::jinja
