// Filters that apply other filters or tests to each item: map, select, reject and similar.
#include <algorithm>

#include "models/chat_template/filters.h"
#include "models/chat_template/operators.h"

namespace warpchat::jinja {
namespace {

// Arguments without the first n positional ones.
Arguments without_first(const Arguments& arguments, size_t n) {
  return {{arguments.positional.begin() + static_cast<ptrdiff_t>(n), arguments.positional.end()}, arguments.named};
}

std::vector<Value> map_attribute(Heap& heap, const std::vector<Value>& items, const Arguments& arguments) {
  const auto given = bind("map", arguments, {{"attribute"}, {"default", None{}}});
  std::vector<Value> mapped;
  for (const Value& item : items) mapped.push_back(attribute_path(heap, item, given[0], given[1]));
  return mapped;
}

std::vector<Value> map_filter(Heap& heap, const std::vector<Value>& items, const Arguments& arguments) {
  if (arguments.positional.empty()) throw Fault("the filter map needs the name of a filter or attribute=");
  const std::string& name = to_bytes(arguments.positional[0], "map's filter");
  const Filter filter = find_filter(name);
  if (!filter) throw Fault("the filter '" + name + "' is not supported");
  const Arguments rest = without_first(arguments, 1);
  std::vector<Value> mapped;
  for (const Value& item : items) mapped.push_back(apply_filter(filter, heap, item, rest));
  return mapped;
}

Value filter_map(Heap& heap, const Value& input, const Arguments& arguments) {
  if (!is_true(input)) return heap.iterator({});
  const std::vector<Value> items = iterate(heap, input);
  const bool by_attribute =
      arguments.positional.empty() && std::any_of(arguments.named.begin(), arguments.named.end(),
                                                  [](const auto& named) { return named.first.bytes == "attribute"; });
  return heap.iterator(by_attribute ? map_attribute(heap, items, arguments) : map_filter(heap, items, arguments));
}

// Keeps items whose test (on the item or its attribute) gives `wanted`; without a test, tests truth.
template <bool wanted, bool by_attribute>
Value filter_select(Heap& heap, const Value& input, const Arguments& arguments) {
  if (!is_true(input)) return heap.iterator({});
  constexpr size_t kOffset = by_attribute ? 1 : 0;
  if (arguments.positional.size() < kOffset) throw Fault("selectattr and rejectattr need the name of an attribute");
  Test test = nullptr;
  Arguments rest;
  if (arguments.positional.size() > kOffset) {
    const std::string& name = to_bytes(arguments.positional[kOffset], "the name of a test");
    test = find_test(name);
    if (!test) throw Fault("the test '" + name + "' is not supported");
    rest = without_first(arguments, kOffset + 1);
  }
  std::vector<Value> kept;
  for (const Value& item : iterate(heap, input)) {
    const Value v = by_attribute ? attribute_path(heap, item, arguments.positional[0]) : item;
    if ((test ? apply_test(test, heap, v, rest) : is_true(v)) == wanted) kept.push_back(item);
  }
  return heap.iterator(std::move(kept));
}

constexpr FilterRow kSelectionFilters[] = {
    {"map", filter_map},
    {"reject", filter_select<false, false>},
    {"rejectattr", filter_select<false, true>},
    {"select", filter_select<true, false>},
    {"selectattr", filter_select<true, true>},
};

}  // namespace

Value apply_filter(Filter filter, Heap& heap, const Value& input, const Arguments& arguments) {
  charge_for(input);
  return filter(heap, input, arguments);
}

bool apply_test(Test test, Heap& heap, const Value& value, const Arguments& arguments) {
  charge_for(value);
  return test(heap, value, arguments);
}

Filter find_selection_filter(std::string_view name) { return find_in(kSelectionFilters, name); }

}  // namespace warpchat::jinja
