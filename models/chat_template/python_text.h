// Values as Python prints them: str() for output and `~`, repr() inside containers.
#pragma once
#include <string>
#include <string_view>

#include "models/chat_template/value.h"

namespace warpchat::jinja {

std::string str(const Value& v);  // Fault for what has no stable text: methods, iterators
std::string repr(const Value& v);
std::string repr_text(std::string_view text);  // quoted and escaped
std::string repr_float(double x);              // the shortest decimal that reads back as x, in Python's notation
std::string escape_html(std::string_view text);

// The bytes of a string value, escaped for HTML unless it is markup; of other values str().
std::string str_as_markup(const Value& v);

}  // namespace warpchat::jinja
