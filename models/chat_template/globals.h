// Global functions: range, dict, namespace, raise_exception, strftime_now.
#pragma once
#include <vector>

#include "models/chat_template/value.h"

namespace warpchat::jinja {

std::vector<Callable*> make_globals(Heap& heap);

}  // namespace warpchat::jinja
