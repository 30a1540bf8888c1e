// Binds call arguments to a function's parameters, as Python does.
#pragma once
#include <optional>
#include <string_view>

#include "models/chat_template/value.h"

namespace warpchat::jinja {

struct Parameter {
  const char* name;
  std::optional<Value> otherwise = std::nullopt;  // default value; none: required
};

// One value per parameter, in order. Fault with the function's name for missing, unknown, duplicate or surplus
// arguments.
std::vector<Value> bind(std::string_view function, const Arguments& arguments,
                        std::initializer_list<Parameter> parameters);

// Fault if any argument was given; what: the function, for the message.
void bind_nothing(std::string_view what, const Arguments& arguments);

// Bound values as C++ types; Fault for another type.
int64_t to_integer(const Value& v, std::string_view what);           // int or bool
const Text& to_text(const Value& v, std::string_view what);          // str
const std::string& to_bytes(const Value& v, std::string_view what);  // bytes of a str

}  // namespace warpchat::jinja
