// Python's two string formats: "%s of %d" % values, and "{} of {:>4}".format(values).
#pragma once
#include <string>

#include "models/chat_template/value.h"

namespace warpchat::jinja {

// values: a tuple for several, a dict for %(name)s, else a single value. Markup escapes inserted values.
Value format_printf(Heap& heap, const Text& format, const Value& values);
Value format_braces(Heap& heap, const Text& format, const Arguments& arguments);

}  // namespace warpchat::jinja
