// Methods of Python's str, list, tuple and dict that templates use.
#pragma once
#include <string_view>

#include "models/chat_template/arguments.h"
#include "models/chat_template/value.h"

namespace warpchat::jinja {

using Method = Value (*)(Heap& heap, const Value& self, const Arguments& arguments);

// Null: the type has no such method.
Method find_method(const Value& self, std::string_view name);

Value call_method(Method method, Heap& heap, const Value& self, const Arguments& arguments);

// Its parts by type.
Method find_text_method(std::string_view name);
Method find_list_method(std::string_view name, List::Form form);
Method find_dict_method(std::string_view name);

// (key, value) tuples of a dict.
std::vector<Value> pairs_of(Heap& heap, const Dict& dict);
// Arguments of dict(), update() and namespace(): a dict or an iterable of pairs, then keywords.
void update_dict(Heap& heap, Dict& dict, const Arguments& arguments, std::string_view function);

}  // namespace warpchat::jinja
