// The methods of Python's str, list, tuple and dict that templates call.
#pragma once
#include <string_view>

#include "models/chat_template/arguments.h"
#include "models/chat_template/value.h"

namespace warpchat::jinja {

using Method = Value (*)(Heap& heap, const Value& self, const Arguments& arguments);

// Null: values of this type have no such method.
Method find_method(const Value& self, std::string_view name);

// Its parts, one per type.
Method find_text_method(std::string_view name);
Method find_list_method(std::string_view name, List::Form form);
Method find_dict_method(std::string_view name);

// The (key, value) tuples of a dict.
std::vector<Value> pairs_of(Heap& heap, const Dict& dict);
// What dict(), update() and namespace() take: a dict or an iterable of pairs, then keywords.
void update_dict(Heap& heap, Dict& dict, const Arguments& arguments, std::string_view function);

}  // namespace warpchat::jinja
