#include "models/chat_template/operators.h"

#include <algorithm>
#include <cmath>

#include "models/chat_template/arguments.h"
#include "models/chat_template/loop.h"
#include "models/chat_template/methods.h"
#include "models/chat_template/python_text.h"
#include "models/chat_template/string_format.h"
#include "models/chat_template/text_parts.h"
#include "models/chat_template/unicode.h"

namespace warpchat::jinja {
namespace {

[[noreturn]] void fail_operator(const char* op, const Value& a, const Value& b) {
  if (a.undefined()) fail_undefined(*a.undefined());
  if (b.undefined()) fail_undefined(*b.undefined());
  throw Fault(std::string("the operator ") + op + " does not take values of types " + type_name(a) + " and " +
              type_name(b));
}

[[noreturn]] void fail_sign(const char* sign, const Value& v) {
  if (v.undefined()) fail_undefined(*v.undefined());
  throw Fault(std::string("the sign ") + sign + " does not take a value of type " + type_name(v));
}

[[noreturn]] void fail_overflow() { throw Fault("the result is an int beyond 64 bits"); }

bool are_integers(const Value& a, const Value& b) {
  return (a.integer() || a.boolean()) && (b.integer() || b.boolean());
}

int64_t integer_of(const Value& v) { return to_integer(v, "an operand"); }

double real_of(const Value& v) { return v.real() ? *v.real() : static_cast<double>(integer_of(v)); }

// Applies an operation to two numbers, exactly for integers. `whole` returns true on overflow, like compiler builtins.
template <class Whole, class Real>
Value arithmetic(const char* op, const Value& a, const Value& b, Whole whole, Real real) {
  if (!is_number(a) || !is_number(b)) fail_operator(op, a, b);
  if (!are_integers(a, b)) return Value(real(real_of(a), real_of(b)));
  int64_t result;
  if (whole(integer_of(a), integer_of(b), &result)) fail_overflow();
  return result;
}

Value add_texts(Heap& heap, const Value& a, const Value& b) {
  const bool markup = a.text()->markup || b.text()->markup;
  TracedText sum = text_of(a, markup);
  sum.append(text_of(b, markup));
  return heap.text(std::move(sum), markup);
}

// Python's range of a slice: first index, count and step.
struct Range {
  int64_t start, count, step;
};

Range resolve_slice(int64_t length, const Value& start, const Value& stop, const Value& step) {
  const auto open = [](const Value& v) { return v.is_none(); };
  Range range;
  range.step = open(step) ? 1 : to_integer(step, "a slice's step");
  if (range.step == 0) throw Fault("a slice's step must not be zero");
  const bool forwards = range.step > 0;
  const int64_t lowest = forwards ? 0 : -1, highest = forwards ? length : length - 1;
  const auto bound = [&](const Value& v, int64_t otherwise, const char* what) {
    if (open(v)) return otherwise;
    const int64_t i = to_integer(v, what);
    return std::clamp(i < 0 ? i + length : i, lowest, highest);
  };
  range.start = bound(start, forwards ? lowest : highest, "a slice's start");
  const int64_t end = bound(stop, forwards ? highest : lowest, "a slice's end");
  const int64_t span = forwards ? end - range.start : range.start - end;
  const uint64_t stride = forwards ? static_cast<uint64_t>(range.step) : 0 - static_cast<uint64_t>(range.step);
  range.count = span <= 0 ? 0 : static_cast<int64_t>((static_cast<uint64_t>(span) - 1) / stride) + 1;
  return range;
}

// Calls visit(index) for each.
template <class Visit>
void for_each_index(const Range& range, Visit visit) {
  for (int64_t i = 0, at = range.start; i < range.count; ++i) {
    visit(static_cast<size_t>(at));
    if (i + 1 < range.count) at += range.step;
  }
}

TracedText slice_text(const TracedText& text, const Range& range) {
  if (range.count == 0) return {};
  const auto start = static_cast<size_t>(range.start), count = static_cast<size_t>(range.count);
  if (range.step == 1) {
    const size_t begin = offset_of(text.bytes, start);
    return text.cut(begin, begin + offset_of(std::string_view(text.bytes).substr(begin), count));
  }
  std::vector<size_t> offsets;  // every code point's offset, and the end
  for (size_t at = 0; at < text.bytes.size(); next_code_point(text.bytes, at)) offsets.push_back(at);
  offsets.push_back(text.bytes.size());
  TracedText taken;
  for_each_index(range, [&](size_t i) { taken.append(text, offsets[i], offsets[i + 1]); });
  return taken;
}

// Index in a sequence, from the end if negative; -1: out of range.
int64_t resolve_index(const Value& index, size_t length) {
  int64_t i = integer_of(index);
  if (i < 0) i += static_cast<int64_t>(length);
  return i >= 0 && i < static_cast<int64_t>(length) ? i : -1;
}

bool is_hashable(const Value& v) {
  if (v.dict()) return false;
  if (const List* list = v.list()) {
    return list->form == List::Form::kTuple && std::all_of(list->items.begin(), list->items.end(), is_hashable);
  }
  return true;
}

std::optional<Value> item(Heap& heap, const Value& object, const Value& index) {
  if (const Dict* dict = object.dict()) {
    const Value* found = is_hashable(index) ? dict->find(index) : nullptr;
    return found ? std::optional(*found) : std::nullopt;
  }
  if (!index.integer() && !index.boolean()) return std::nullopt;
  if (const List* list = object.list(); list && !list->is_view()) {
    const int64_t i = resolve_index(index, list->items.size());
    return i < 0 ? std::nullopt : std::optional(list->items[static_cast<size_t>(i)]);
  }
  if (const Text* text = object.text()) {
    charge_for(object);
    const int64_t i = resolve_index(index, count_code_points(text->bytes));
    return i < 0 ? std::nullopt : std::optional(heap.text(slice_text(*text, {i, 1, 1}), text->markup));
  }
  return std::nullopt;
}

Value missing(const Value& object, const Value& name) {
  if (name.text()) return undefined(std::string(type_name(object)) + " has no attribute or item " + repr(name).bytes);
  return undefined(std::string(type_name(object)) + " has no such element");
}

}  // namespace

Value add(Heap& heap, const Value& a, const Value& b) {
  if (a.text() && b.text()) return add_texts(heap, a, b);
  if (a.list() && b.list()) {
    const List& left = *a.list();
    const List& right = *b.list();
    if (left.form != right.form || left.form > List::Form::kTuple) fail_operator("+", a, b);
    std::vector<Value> items = left.items;
    items.insert(items.end(), right.items.begin(), right.items.end());
    return heap.list(std::move(items), left.form);
  }
  return arithmetic(
      "+", a, b, [](int64_t x, int64_t y, int64_t* out) { return __builtin_add_overflow(x, y, out); },
      [](double x, double y) { return x + y; });
}

Value subtract(const Value& a, const Value& b) {
  return arithmetic(
      "-", a, b, [](int64_t x, int64_t y, int64_t* out) { return __builtin_sub_overflow(x, y, out); },
      [](double x, double y) { return x - y; });
}

Value multiply(Heap& heap, const Value& a, const Value& b) {
  const bool swapped = is_number(a) && (b.text() || b.list());
  const Value& sequence = swapped ? b : a;
  const Value& factor = swapped ? a : b;
  const bool repeats = factor.integer() || factor.boolean();
  const size_t times = repeats ? static_cast<size_t>(std::max<int64_t>(integer_of(factor), 0)) : 0;
  if (const Text* text = sequence.text(); text && repeats) {
    if (!text->bytes.empty() && times > kMaxTextBytes / text->bytes.size()) throw Fault("a repeated text is too long");
    TracedText out;
    for (size_t i = 0; i < times && !text->bytes.empty(); ++i) out.append(*text);
    return heap.text(std::move(out), text->markup);
  }
  if (const List* list = sequence.list(); list && repeats && list->form <= List::Form::kTuple) {
    if (!list->items.empty() && times > kMaxTextBytes / sizeof(Value) / list->items.size()) {
      throw Fault("a repeated list is too long");
    }
    std::vector<Value> items;
    for (size_t i = 0; i < times && !list->items.empty(); ++i) {
      items.insert(items.end(), list->items.begin(), list->items.end());
    }
    return heap.list(std::move(items), list->form);
  }
  return arithmetic(
      "*", a, b, [](int64_t x, int64_t y, int64_t* out) { return __builtin_mul_overflow(x, y, out); },
      [](double x, double y) { return x * y; });
}

Value divide(const Value& a, const Value& b) {
  if (!is_number(a) || !is_number(b)) fail_operator("/", a, b);
  if (!is_true(b)) throw Fault("division by zero");
  if (!are_integers(a, b)) return real_of(a) / real_of(b);
  return static_cast<double>(static_cast<long double>(integer_of(a)) / static_cast<long double>(integer_of(b)));
}

Value floor_divide(const Value& a, const Value& b) {
  if (is_number(a) && is_number(b) && !is_true(b)) throw Fault("division by zero");
  return arithmetic(
      "//", a, b,
      [](int64_t x, int64_t y, int64_t* out) {
        if (y == -1) return __builtin_sub_overflow(int64_t{0}, x, out);
        *out = x / y - (x % y != 0 && (x < 0) != (y < 0));
        return false;
      },
      [](double x, double y) {
        double rest = std::fmod(x, y);
        if (rest != 0 && (rest < 0) != (y < 0)) rest += y;
        const double quotient = (x - rest) / y;
        const double floored = std::floor(quotient);
        return quotient == 0 ? std::copysign(0.0, x / y) : floored + (quotient - floored > 0.5);
      });
}

Value modulo(Heap& heap, const Value& a, const Value& b) {
  if (a.text()) return format_printf(heap, *a.text(), b);
  if (is_number(a) && is_number(b) && !is_true(b)) throw Fault("division by zero");
  return arithmetic(
      "%", a, b,
      [](int64_t x, int64_t y, int64_t* out) {
        *out = y == -1 ? 0 : x % y;
        if (*out != 0 && (*out < 0) != (y < 0)) *out += y;
        return false;
      },
      [](double x, double y) {
        const double rest = std::fmod(x, y);
        if (rest == 0) return std::copysign(0.0, y);
        return (rest < 0) != (y < 0) ? rest + y : rest;
      });
}

Value power(const Value& a, const Value& b) {
  if (!is_number(a) || !is_number(b)) fail_operator("**", a, b);
  if (are_integers(a, b) && integer_of(b) >= 0) {
    int64_t result = 1, base = integer_of(a);
    for (uint64_t exponent = static_cast<uint64_t>(integer_of(b)); exponent > 0; exponent >>= 1) {
      if (exponent & 1 && __builtin_mul_overflow(result, base, &result)) fail_overflow();
      if (exponent > 1 && __builtin_mul_overflow(base, base, &base)) fail_overflow();
    }
    return result;
  }
  const double base = real_of(a), exponent = real_of(b);
  if (base == 0 && exponent < 0) throw Fault("zero cannot be raised to a negative power");
  if (base < 0 && std::isfinite(exponent) && exponent != std::floor(exponent)) {
    throw Fault("a negative number raised to a fraction is not a real number");
  }
  const double result = std::pow(base, exponent);
  if (std::isinf(result) && std::isfinite(base) && std::isfinite(exponent)) throw Fault("the result is too large");
  return result;
}

Value negate(const Value& a) {
  if (!is_number(a)) fail_sign("-", a);
  if (a.real()) return -*a.real();
  return subtract(Value(0), a);
}

Value plus(const Value& a) {
  if (!is_number(a)) fail_sign("+", a);
  return a.boolean() ? Value(integer_of(a)) : a;
}

bool contains(Heap& heap, const Value& container, const Value& item) {
  if (const Text* text = container.text()) {
    charge_for(container);
    return find_text(text->bytes, to_bytes(item, "the left side of `in` a str")) != std::string::npos;
  }
  if (const Dict* dict = container.dict()) return dict->find(item) != nullptr;
  if (const List* list = container.list()) {
    return std::any_of(list->items.begin(), list->items.end(), [&](const Value& v) { return equal(v, item); });
  }
  const std::vector<Value> items = iterate(heap, container);
  return std::any_of(items.begin(), items.end(), [&](const Value& v) { return equal(v, item); });
}

std::optional<Value> own_attribute(Heap& heap, const Value& object, const std::string& name) {
  if (const Namespace* space = object.name_space()) {
    const Value* found = space->attributes->find(literal_text(name));
    return found ? std::optional(*found) : std::nullopt;
  }
  if (Loop* loop = object.loop()) return loop->attribute(heap, name);
  const Method method = find_method(object, name);
  if (!method) return std::nullopt;
  return heap.callable(
      std::string(type_name(object)) + "." + name,
      [&heap, method, object](const Arguments& arguments) { return call_method(method, heap, object, arguments); });
}

Value attribute(Heap& heap, const Value& object, const Value& name) {
  if (object.undefined()) fail_undefined(*object.undefined());
  if (auto found = own_attribute(heap, object, name.text()->bytes)) return *found;
  if (auto found = item(heap, object, name)) return *found;
  return missing(object, name);
}

Value subscript(Heap& heap, const Value& object, const Value& index) {
  if (object.undefined()) fail_undefined(*object.undefined());
  if (auto found = item(heap, object, index)) return *found;
  if (index.text()) {
    if (auto found = own_attribute(heap, object, index.text()->bytes)) return *found;
  }
  return missing(object, index);
}

Value slice(Heap& heap, const Value& object, const Value& start, const Value& stop, const Value& step) {
  if (const List* list = object.list(); list && !list->is_view()) {
    const Range range = resolve_slice(static_cast<int64_t>(list->items.size()), start, stop, step);
    std::vector<Value> items;
    for_each_index(range, [&](size_t i) { items.push_back(list->items[i]); });
    return heap.list(std::move(items), list->form);
  }
  if (const Text* text = object.text()) {
    charge_for(object);
    const auto length = static_cast<int64_t>(count_code_points(text->bytes));
    return heap.text(slice_text(*text, resolve_slice(length, start, stop, step)), text->markup);
  }
  if (object.undefined()) fail_undefined(*object.undefined());
  throw Fault(std::string("a value of type ") + type_name(object) + " cannot be sliced");
}

}  // namespace warpchat::jinja
