// Filters of jinja2 (`value | name(arguments)`) and its tests (`value is name(arguments)`).
#pragma once
#include <string_view>

#include "models/chat_template/arguments.h"
#include "models/chat_template/value.h"

namespace warpchat::jinja {

using Filter = Value (*)(Heap& heap, const Value& input, const Arguments& arguments);
using Test = bool (*)(Heap& heap, const Value& value, const Arguments& arguments);

// Null: unknown name.
Filter find_filter(std::string_view name);
Test find_test(std::string_view name);

Value apply_filter(Filter filter, Heap& heap, const Value& input, const Arguments& arguments);
bool apply_test(Test test, Heap& heap, const Value& value, const Arguments& arguments);

// Filters by subject.
Filter find_text_filter(std::string_view name);
Filter find_number_filter(std::string_view name);
Filter find_sequence_filter(std::string_view name);
Filter find_selection_filter(std::string_view name);

struct FilterRow {
  std::string_view name;
  Filter filter;
};
template <size_t n>
Filter find_in(const FilterRow (&rows)[n], std::string_view name) {
  for (const FilterRow& row : rows) {
    if (row.name == name) return row.filter;
  }
  return nullptr;
}

// Selects an item's part by the filter parameter `attribute`: "name.inner.0"; none: the item itself.
Value attribute_path(Heap& heap, Value item, const Value& path, const Value& otherwise = None{});
// Lower-cases texts if the filter ignores case.
Value sort_key(Heap& heap, const Value& v, bool case_sensitive);

}  // namespace warpchat::jinja
