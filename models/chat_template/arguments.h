// Binds a call's arguments to a function's parameters, the way Python does.
#pragma once
#include <optional>
#include <string_view>

#include "models/chat_template/value.h"

namespace warpchat::jinja {

struct Parameter {
  const char* name;
  std::optional<Value> otherwise = std::nullopt;  // the default; none: must be given
};

// One value per parameter, in order. Fault, naming the function, for a missing, unknown, doubled or surplus argument.
std::vector<Value> bind(std::string_view function, const Arguments& arguments,
                        std::initializer_list<Parameter> parameters);

// Fault where any argument was given; what: the function as a message names it.
void bind_nothing(std::string_view what, const Arguments& arguments);

// Bound values as C++ ones; Fault where the type is another.
int64_t to_integer(const Value& v, std::string_view what);           // int or bool
const Text& to_text(const Value& v, std::string_view what);          // str
const std::string& to_bytes(const Value& v, std::string_view what);  // of a str

}  // namespace warpchat::jinja
