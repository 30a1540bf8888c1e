// Filters that split, sort and join sequences.
#include <algorithm>
#include <unordered_set>

#include "models/chat_template/filters.h"
#include "models/chat_template/methods.h"
#include "models/chat_template/operators.h"
#include "models/chat_template/python_text.h"
#include "models/chat_template/text_parts.h"
#include "models/chat_template/unicode.h"

namespace warpchat::jinja {
namespace {

Value filter_default(Heap&, const Value& input, const Arguments& arguments) {
  const auto given = bind("default", arguments, {{"default_value", literal_text("")}, {"boolean", false}});
  return input.undefined() || (is_true(given[1]) && !is_true(input)) ? given[0] : input;
}

Value filter_attr(Heap& heap, const Value& input, const Arguments& arguments) {
  const Value name = bind("attr", arguments, {{"name"}})[0];
  if (input.undefined()) fail_undefined(*input.undefined());
  const auto found = own_attribute(heap, input, to_bytes(name, "attr's name"));
  return found ? *found : undefined(std::string(type_name(input)) + " has no attribute " + repr(name).bytes);
}

Value filter_list(Heap& heap, const Value& input, const Arguments& arguments) {
  bind_nothing("list", arguments);
  return heap.list(iterate(heap, input));
}

Value filter_items(Heap& heap, const Value& input, const Arguments& arguments) {
  bind_nothing("items", arguments);
  if (input.undefined()) return heap.iterator({});
  if (!input.dict()) throw Fault(std::string("the filter items takes a dict, not a value of type ") + type_name(input));
  return heap.iterator(pairs_of(heap, *input.dict()));
}

Value filter_first(Heap& heap, const Value& input, const Arguments& arguments) {
  bind_nothing("first", arguments);
  if (Iterator* iterator = input.iterator(); iterator && iterator->next < iterator->items.size()) {
    return iterator->items[iterator->next++];
  }
  const std::vector<Value> items = iterate(heap, input);
  return items.empty() ? undefined("the first item of an empty sequence is undefined") : items.front();
}

Value filter_last(Heap& heap, const Value& input, const Arguments& arguments) {
  bind_nothing("last", arguments);
  if (input.iterator()) throw Fault("an iterator has no last item; turn it into a list with |list");
  const std::vector<Value> items = iterate(heap, input);
  return items.empty() ? undefined("the last item of an empty sequence is undefined") : items.back();
}

Value filter_reverse(Heap& heap, const Value& input, const Arguments& arguments) {
  bind_nothing("reverse", arguments);
  if (const Text* text = input.text()) {
    TracedText reversed;
    for (size_t end = text->bytes.size(); end > 0;) {
      const size_t last = end;
      do --end;
      while (continues_character(text->bytes[end]));
      reversed.append(*text, end, last);
    }
    return heap.text(std::move(reversed), text->markup);
  }
  std::vector<Value> items = iterate(heap, input);
  std::reverse(items.begin(), items.end());
  return input.iterator() ? Value(heap.list(std::move(items))) : Value(heap.iterator(std::move(items)));
}

Value filter_join(Heap& heap, const Value& input, const Arguments& arguments) {
  const auto given = bind("join", arguments, {{"d", literal_text("")}, {"attribute", None{}}});
  const TracedText separator = str(given[0]);
  TracedText out;
  bool is_first = true;
  for (const Value& item : iterate(heap, input)) {
    if (!is_first) out.append(separator);
    is_first = false;
    out.append(str(attribute_path(heap, item, given[1])));
    if (out.bytes.size() > kMaxTextBytes) throw Fault("a joined text is longer than 64 MiB");
  }
  return heap.text(std::move(out));
}

// ---- Order ----

struct Keyed {
  Value key, item;
};

std::vector<Value> sorted(std::vector<Keyed> pairs, bool backwards) {
  std::stable_sort(pairs.begin(), pairs.end(), [backwards](const Keyed& a, const Keyed& b) {
    return backwards ? less(b.key, a.key) : less(a.key, b.key);
  });
  std::vector<Value> items;
  for (Keyed& pair : pairs) items.push_back(std::move(pair.item));
  return items;
}

Value filter_sort(Heap& heap, const Value& input, const Arguments& arguments) {
  const auto given = bind("sort", arguments, {{"reverse", false}, {"case_sensitive", false}, {"attribute", None{}}});
  std::vector<Keyed> pairs;
  for (const Value& item : iterate(heap, input)) {
    std::vector<Value> keys;  // one per part of "name,other"
    if (const Text* paths = given[2].text()) {
      for (std::string_view path : split_at(paths->bytes, ",", -1)) {
        keys.push_back(sort_key(heap, attribute_path(heap, item, literal_text(std::string(path))), is_true(given[1])));
      }
    } else {
      keys.push_back(sort_key(heap, attribute_path(heap, item, given[2]), is_true(given[1])));
    }
    pairs.push_back({heap.list(std::move(keys)), item});
  }
  return heap.list(sorted(std::move(pairs), is_true(given[0])));
}

Value filter_dictsort(Heap& heap, const Value& input, const Arguments& arguments) {
  const auto given =
      bind("dictsort", arguments, {{"case_sensitive", false}, {"by", literal_text("key")}, {"reverse", false}});
  const std::string& by = to_bytes(given[1], "dictsort's by");
  if (by != "key" && by != "value") throw Fault("dictsort's by must be 'key' or 'value'");
  if (input.undefined()) fail_undefined(*input.undefined());
  if (!input.dict())
    throw Fault(std::string("the filter dictsort takes a dict, not a value of type ") + type_name(input));
  std::vector<Keyed> pairs;
  for (const Value& pair : pairs_of(heap, *input.dict())) {
    pairs.push_back({sort_key(heap, pair.list()->items[by == "value"], is_true(given[0])), pair});
  }
  return heap.list(sorted(std::move(pairs), is_true(given[2])));
}

template <bool largest>
Value filter_extreme(Heap& heap, const Value& input, const Arguments& arguments) {
  const auto given = bind(largest ? "max" : "min", arguments, {{"case_sensitive", false}, {"attribute", None{}}});
  const std::vector<Value> items = iterate(heap, input);
  if (items.empty()) return undefined("the least or greatest item of an empty sequence is undefined");
  const auto key_of = [&](const Value& item) {
    return sort_key(heap, attribute_path(heap, item, given[1]), is_true(given[0]));
  };
  Value best = items[0], best_key = key_of(items[0]);
  for (size_t i = 1; i < items.size(); ++i) {
    const Value key = key_of(items[i]);
    if (largest ? !less(best_key, key) : !less(key, best_key)) continue;
    best = items[i];
    best_key = key;
  }
  return best;
}

Value filter_unique(Heap& heap, const Value& input, const Arguments& arguments) {
  const auto given = bind("unique", arguments, {{"case_sensitive", false}, {"attribute", None{}}});
  const Value seen = heap.dict();
  std::vector<Value> items;
  for (const Value& item : iterate(heap, input)) {
    const Value key = sort_key(heap, attribute_path(heap, item, given[1]), is_true(given[0]));
    if (seen.dict()->find(key)) continue;
    heap.set(*seen.dict(), key, true);
    items.push_back(item);
  }
  return heap.iterator(std::move(items));
}

// ---- Sums and groups ----

Value filter_sum(Heap& heap, const Value& input, const Arguments& arguments) {
  const auto given = bind("sum", arguments, {{"attribute", None{}}, {"start", 0}});
  if (given[1].text()) throw Fault("the filter sum does not add texts; use join");
  Value total = given[1];
  for (const Value& item : iterate(heap, input)) total = add(heap, total, attribute_path(heap, item, given[0]));
  return total;
}

Value filter_batch(Heap& heap, const Value& input, const Arguments& arguments) {
  const auto given = bind("batch", arguments, {{"linecount"}, {"fill_with", None{}}});
  const int64_t size = to_integer(given[0], "batch's size");
  std::vector<Value> batches, batch;
  for (const Value& item : iterate(heap, input)) {
    if (static_cast<int64_t>(batch.size()) == size) batches.push_back(heap.list(std::exchange(batch, {})));
    batch.push_back(item);
  }
  if (batch.empty()) return heap.iterator(std::move(batches));
  if (!given[1].is_none() && size > static_cast<int64_t>(batch.size())) {
    heap.charge(static_cast<size_t>(std::min<int64_t>(size, 1 << 30)) * sizeof(Value));
    batch.resize(static_cast<size_t>(size), given[1]);
  }
  batches.push_back(heap.list(std::move(batch)));
  return heap.iterator(std::move(batches));
}

Value filter_slice(Heap& heap, const Value& input, const Arguments& arguments) {
  const auto given = bind("slice", arguments, {{"slices"}, {"fill_with", None{}}});
  const int64_t n = to_integer(given[0], "slice's number");
  if (n == 0) throw Fault("slice's number must not be zero");
  if (n > 100'000) throw Fault("slice's number is too large");
  const std::vector<Value> items = iterate(heap, input);
  const int64_t size = n < 0 ? 0 : static_cast<int64_t>(items.size()) / n;
  const int64_t larger = n < 0 ? 0 : static_cast<int64_t>(items.size()) % n;  // number of slices with one item more
  std::vector<Value> slices;
  auto from = items.begin();
  for (int64_t i = 0; i < n; ++i) {
    const auto to = from + size + (i < larger);
    std::vector<Value> part(from, to);
    if (!given[1].is_none() && i >= larger) part.push_back(given[1]);
    slices.push_back(heap.list(std::move(part)));
    from = to;
  }
  return heap.iterator(std::move(slices));
}

constexpr FilterRow kSequenceFilters[] = {
    {"attr", filter_attr},       {"batch", filter_batch},       {"d", filter_default},
    {"default", filter_default}, {"dictsort", filter_dictsort}, {"first", filter_first},
    {"items", filter_items},     {"join", filter_join},         {"last", filter_last},
    {"list", filter_list},       {"max", filter_extreme<true>}, {"min", filter_extreme<false>},
    {"reverse", filter_reverse}, {"slice", filter_slice},       {"sort", filter_sort},
    {"sum", filter_sum},         {"unique", filter_unique},
};

}  // namespace

Value attribute_path(Heap& heap, Value item, const Value& path, const Value& otherwise) {
  if (path.is_none()) return item;
  if (!path.text()) {
    item = subscript(heap, item, path);
    return item.undefined() && !otherwise.is_none() ? otherwise : item;
  }
  for (std::string_view part : split_at(path.text()->bytes, ".", -1)) {
    const bool is_index = !part.empty() && part.size() < 10 &&
                          std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
    item = subscript(heap, item, is_index ? Value(std::stoi(std::string(part))) : literal_text(std::string(part)));
    if (item.undefined() && !otherwise.is_none()) item = otherwise;
  }
  return item;
}

Value sort_key(Heap& heap, const Value& v, bool case_sensitive) {
  return v.text() && !case_sensitive ? heap.text(same_shape(to_lower(v.text()->bytes), *v.text())) : v;
}

Filter find_sequence_filter(std::string_view name) { return find_in(kSequenceFilters, name); }

Filter find_filter(std::string_view name) {
  for (const auto find : {find_text_filter, find_sequence_filter, find_number_filter, find_selection_filter}) {
    if (const Filter filter = find(name)) return filter;
  }
  return nullptr;
}

}  // namespace warpchat::jinja
