// Values as Python prints them: str() for output and `~`, repr() within containers.
#pragma once
#include <string>
#include <string_view>

#include "models/chat_template/value.h"

namespace warpchat::jinja {

TracedText str(const Value& v);  // Fault for values without stable text: methods, iterators
TracedText repr(const Value& v);
TracedText repr_text(const TracedText& text);  // quoted and escaped
std::string repr_text(std::string_view text);  // for messages
std::string repr_float(double x);              // shortest decimal that reads back as x, in Python's notation
TracedText escape_html(const TracedText& text);

// Bytes of a string value, HTML-escaped unless it is markup; str() of other values.
TracedText str_as_markup(const Value& v);
TracedText text_of(const Value& text, bool as_markup);  // of a string value: unchanged, or as above

}  // namespace warpchat::jinja
