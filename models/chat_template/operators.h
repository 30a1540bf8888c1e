// Operators and look-ups of expressions, with Python's and jinja2's semantics. Fault with operator and types.
#pragma once
#include <optional>

#include "models/chat_template/value.h"

namespace warpchat::jinja {

Value add(Heap& heap, const Value& a, const Value& b);
Value subtract(const Value& a, const Value& b);
Value multiply(Heap& heap, const Value& a, const Value& b);
Value divide(const Value& a, const Value& b);              // a / b, always a float
Value floor_divide(const Value& a, const Value& b);        // a // b
Value modulo(Heap& heap, const Value& a, const Value& b);  // a % b; for a string: printf-style formatting
Value power(const Value& a, const Value& b);
Value negate(const Value& a);
Value plus(const Value& a);  // +a

bool contains(Heap& heap, const Value& container, const Value& item);  // item in container

// object.name: attribute or method, else the item of that name, else undefined.
Value attribute(Heap& heap, const Value& object, const Value& name);
// object[index]: item, else the attribute of that name, else undefined.
Value subscript(Heap& heap, const Value& object, const Value& index);
// Attribute or method only; nothing if missing.
std::optional<Value> own_attribute(Heap& heap, const Value& object, const std::string& name);
// object[start:stop:step]; none: open bound.
Value slice(Heap& heap, const Value& object, const Value& start, const Value& stop, const Value& step);

}  // namespace warpchat::jinja
