// Values as Python prints them: str() for output and `~`, repr() inside containers.
#pragma once
#include <string>
#include <string_view>

#include "models/chat_template/value.h"

namespace warpchat::jinja {

TracedText str(const Value& v);  // Fault for what has no stable text: methods, iterators
TracedText repr(const Value& v);
TracedText repr_text(const TracedText& text);  // quoted and escaped
std::string repr_text(std::string_view text);  // for messages
std::string repr_float(double x);              // the shortest decimal that reads back as x, in Python's notation
TracedText escape_html(const TracedText& text);

// The bytes of a string value, escaped for HTML unless it is markup; of other values str().
TracedText str_as_markup(const Value& v);
TracedText text_of(const Value& text, bool as_markup);  // of a string value: as it is, or that

}  // namespace warpchat::jinja
