// Methods of str. Positions and widths count code points, as in Python.
#include <algorithm>
#include <iterator>
#include <optional>

#include "models/chat_template/meter.h"
#include "models/chat_template/methods.h"
#include "models/chat_template/python_text.h"
#include "models/chat_template/string_format.h"
#include "models/chat_template/text_parts.h"
#include "models/chat_template/unicode.h"

namespace warpchat::jinja {
namespace {

const std::string& bytes_of(const Value& self) { return self.text()->bytes; }

// Text derived from self: stays markup if self is.
Value derived(Heap& heap, const Value& self, TracedText text) {
  return heap.text(std::move(text), self.text()->markup);
}

// part: a view of self's bytes.
Value cut(Heap& heap, const Value& self, std::string_view part) { return derived(heap, self, self.text()->cut(part)); }

Value cut_list(Heap& heap, const Value& self, const Parts& parts) {
  std::vector<Value> items;
  for (std::string_view part : parts) items.push_back(cut(heap, self, part));
  return heap.list(std::move(items));
}

template <std::string (*convert)(std::string_view)>
Value converted(Heap& heap, const Value& self, const Arguments& arguments) {
  bind_nothing("a case conversion", arguments);
  return derived(heap, self, same_shape(convert(bytes_of(self)), *self.text()));
}

// ---- Stripping ----

template <int side>
Value strip(Heap& heap, const Value& self, const Arguments& arguments) {
  const Value letters = bind("strip", arguments, {{"chars", None{}}})[0];
  std::string_view text = bytes_of(self);
  if (!letters.is_none()) {
    return cut(heap, self, strip_letters(text, decode(to_bytes(letters, "strip()'s argument")), side));
  }
  if (side & kLeft) text = strip_left(text);
  if (side & kRight) text = strip_right(text);
  return cut(heap, self, text);
}

Value remove_prefix(Heap& heap, const Value& self, const Arguments& arguments) {
  const Value prefix = bind("removeprefix", arguments, {{"prefix"}})[0];
  std::string_view text = bytes_of(self);
  if (text.starts_with(to_bytes(prefix, "a prefix"))) text.remove_prefix(prefix.text()->bytes.size());
  return cut(heap, self, text);
}

Value remove_suffix(Heap& heap, const Value& self, const Arguments& arguments) {
  const Value suffix = bind("removesuffix", arguments, {{"suffix"}})[0];
  std::string_view text = bytes_of(self);
  if (text.ends_with(to_bytes(suffix, "a suffix"))) text.remove_suffix(suffix.text()->bytes.size());
  return cut(heap, self, text);
}

// ---- Splitting and joining ----

template <Parts (*by_spaces)(std::string_view, int64_t), Parts (*by_text)(std::string_view, std::string_view, int64_t)>
Value split(Heap& heap, const Value& self, const Arguments& arguments) {
  const auto given = bind("split", arguments, {{"sep", None{}}, {"maxsplit", -1}});
  const int64_t limit = to_integer(given[1], "split()'s limit");
  if (given[0].is_none()) return cut_list(heap, self, by_spaces(bytes_of(self), limit));
  const std::string& separator = to_bytes(given[0], "split()'s separator");
  if (separator.empty()) throw Fault("split() needs a separator that is not empty");
  return cut_list(heap, self, by_text(bytes_of(self), separator, limit));
}

Value lines(Heap& heap, const Value& self, const Arguments& arguments) {
  const bool keep_ends = is_true(bind("splitlines", arguments, {{"keepends", false}})[0]);
  return cut_list(heap, self, split_lines(bytes_of(self), keep_ends));
}

template <bool from_right>
Value partition(Heap& heap, const Value& self, const Arguments& arguments) {
  const Value separator = bind("partition", arguments, {{"sep"}})[0];
  const std::string& mark = to_bytes(separator, "partition()'s separator");
  if (mark.empty()) throw Fault("partition() needs a separator that is not empty");
  const std::string_view text = bytes_of(self);
  const size_t at = from_right ? rfind_text(text, mark) : find_text(text, mark);
  Parts parts = {text, "", ""};
  if (at != std::string_view::npos) {
    parts = {text.substr(0, at), text.substr(at, mark.size()), text.substr(at + mark.size())};
  } else if (from_right) {
    parts = {"", "", text};
  }
  const Value list = cut_list(heap, self, parts);
  list.list()->form = List::Form::kTuple;
  return list;
}

Value join(Heap& heap, const Value& self, const Arguments& arguments) {
  TracedText out;
  bool is_first = true;
  for (const Value& item : iterate(heap, bind("join", arguments, {{"iterable"}})[0])) {
    if (!is_first) out.append(*self.text());
    is_first = false;
    if (!self.text()->markup) to_text(item, "an item of join()");
    out.append(text_of(item, self.text()->markup));
    if (out.bytes.size() > kMaxTextBytes) throw Fault("a joined text is longer than 64 MiB");
  }
  return derived(heap, self, std::move(out));
}

Value replace(Heap& heap, const Value& self, const Arguments& arguments) {
  const auto given = bind("replace", arguments, {{"old"}, {"new"}, {"count", -1}});
  const std::string& old = to_bytes(given[0], "replace()'s first argument");
  to_text(given[1], "replace()'s second argument");
  const TracedText by = text_of(given[1], self.text()->markup);
  return derived(heap, self, replace_text(*self.text(), old, by, to_integer(given[2], "replace()'s count")));
}

Value format(Heap& heap, const Value& self, const Arguments& arguments) {
  return format_braces(heap, *self.text(), arguments);
}

// ---- Searching ----

// The part of self between two optional positions, and the number of code points before it.
struct Window {
  std::string_view text;
  int64_t offset;
  bool is_valid;  // start is within the text: else not even the empty string is found
};

Window window_of(const Value& self, const Value& start, const Value& end) {
  const std::string_view text = bytes_of(self);
  const auto length = static_cast<int64_t>(count_code_points(text));
  const auto position = [length](const Value& v, int64_t otherwise) {
    if (v.is_none()) return otherwise;
    const int64_t i = to_integer(v, "a position");
    return i < 0 ? std::max<int64_t>(i + length, 0) : i;
  };
  const int64_t first = position(start, 0), last = std::min(position(end, length), length);
  if (first > last) return {"", first, false};
  const std::string_view rest = text.substr(offset_of(text, static_cast<size_t>(first)));
  return {rest.substr(0, offset_of(rest, static_cast<size_t>(last - first))), first, true};
}

std::optional<int64_t> position_in(const Value& self, const Arguments& arguments, bool from_right) {
  const auto given = bind("find", arguments, {{"sub"}, {"start", None{}}, {"end", None{}}});
  const std::string& sought = to_bytes(given[0], "what is searched for");
  const Window window = window_of(self, given[1], given[2]);
  if (!window.is_valid) return std::nullopt;
  const size_t at = from_right ? rfind_text(window.text, sought) : find_text(window.text, sought);
  if (at == std::string_view::npos) return std::nullopt;
  return window.offset + static_cast<int64_t>(count_code_points(window.text.substr(0, at)));
}

template <bool from_right>
Value find(Heap&, const Value& self, const Arguments& arguments) {
  return position_in(self, arguments, from_right).value_or(-1);
}

template <bool from_right>
Value index(Heap&, const Value& self, const Arguments& arguments) {
  const auto position = position_in(self, arguments, from_right);
  if (!position) throw Fault("index() did not find its text");
  return *position;
}

Value count(Heap&, const Value& self, const Arguments& arguments) {
  const auto given = bind("count", arguments, {{"sub"}, {"start", None{}}, {"end", None{}}});
  const std::string& sought = to_bytes(given[0], "what is counted");
  const Window window = window_of(self, given[1], given[2]);
  if (!window.is_valid) return 0;
  if (sought.empty()) return count_code_points(window.text) + 1;
  int64_t n = 0;
  for (size_t at = 0; (at = find_text(window.text, sought, at)) != std::string_view::npos; at += sought.size()) ++n;
  return n;
}

template <bool at_end>
Value starts_or_ends_with(Heap&, const Value& self, const Arguments& arguments) {
  const char* name = at_end ? "endswith" : "startswith";
  const auto given = bind(name, arguments, {{"affix"}, {"start", None{}}, {"end", None{}}});
  const Window window = window_of(self, given[1], given[2]);
  const List* several = given[0].list();
  if (several && several->form != List::Form::kTuple)
    throw Fault(std::string(name) + "() takes a str or a tuple of str");
  for (const Value& affix : several ? several->items : std::vector<Value>{given[0]}) {
    const std::string& letters = to_bytes(affix, std::string(name) + "()'s argument");
    Meter::charge(letters.size());
    if (window.is_valid && (at_end ? window.text.ends_with(letters) : window.text.starts_with(letters))) return true;
  }
  return false;
}

// ---- Asking and aligning ----

template <bool (*has_property)(char32_t)>
Value all_are(Heap&, const Value& self, const Arguments& arguments) {
  bind_nothing("a question about a str", arguments);
  const std::u32string text = decode(bytes_of(self));
  return !text.empty() && std::all_of(text.begin(), text.end(), has_property);
}

Value is_ascii(Heap&, const Value& self, const Arguments& arguments) {
  bind_nothing("isascii", arguments);
  return std::all_of(bytes_of(self).begin(), bytes_of(self).end(), [](char c) { return (c & 0x80) == 0; });
}

// Whether there are cased letters, all of the same case.
template <bool (*is_case)(char32_t), bool (*is_other_case)(char32_t)>
Value is_all_cased(Heap&, const Value& self, const Arguments& arguments) {
  bind_nothing("a question about a str", arguments);
  const std::u32string text = decode(bytes_of(self));
  return std::any_of(text.begin(), text.end(), is_case) && std::none_of(text.begin(), text.end(), is_other_case);
}

template <int side>
Value align(Heap& heap, const Value& self, const Arguments& arguments) {
  const auto given = bind("an alignment", arguments, {{"width"}, {"fillchar", literal_text(" ")}});
  const auto length = static_cast<int64_t>(count_code_points(bytes_of(self)));
  const int64_t width = to_integer(given[0], "a width");
  const TracedText& fill = to_text(given[1], "a fill character");
  if (count_code_points(fill.bytes) != 1) throw Fault("the fill character must be one character");
  if (width > static_cast<int64_t>(kMaxTextBytes / 4)) throw Fault("a width is too large");
  const int64_t missing = std::max<int64_t>(width - length, 0);
  const int64_t left = side == kRight ? missing : side == kLeft ? 0 : missing / 2 + (missing & width & 1);
  TracedText out;
  for (int64_t i = 0; i < left; ++i) out.append(fill);
  out.append(*self.text());
  for (int64_t i = left; i < missing; ++i) out.append(fill);
  return derived(heap, self, std::move(out));
}

Value fill_zeros(Heap& heap, const Value& self, const Arguments& arguments) {
  const int64_t width = to_integer(bind("zfill", arguments, {{"width"}})[0], "a width");
  if (width > static_cast<int64_t>(kMaxTextBytes)) throw Fault("a width is too large");
  const std::string& text = bytes_of(self);
  const int64_t missing = width - static_cast<int64_t>(count_code_points(text));
  const size_t sign_length = text.starts_with('+') || text.starts_with('-') ? 1 : 0;
  TracedText out = self.text()->cut(0, sign_length);
  if (missing > 0) out.append(std::string(static_cast<size_t>(missing), '0'));
  out.append(*self.text(), sign_length, text.size());
  return derived(heap, self, std::move(out));
}

struct Row {
  std::string_view name;
  Method method;
};

constexpr Row kTextMethods[] = {
    {"capitalize", converted<capitalize>},
    {"center", align<kBoth>},
    {"count", count},
    {"endswith", starts_or_ends_with<true>},
    {"find", find<false>},
    {"format", format},
    {"index", index<false>},
    {"isalnum", all_are<is_letter_or_number>},
    {"isalpha", all_are<is_letter>},
    {"isascii", is_ascii},
    {"isdecimal", all_are<is_decimal>},
    {"isdigit", all_are<is_digit>},
    {"islower", is_all_cased<is_lower, is_upper>},
    {"isspace", all_are<is_space>},
    {"isupper", is_all_cased<is_upper, is_lower>},
    {"join", join},
    {"ljust", align<kLeft>},
    {"lower", converted<to_lower>},
    {"lstrip", strip<kLeft>},
    {"partition", partition<false>},
    {"removeprefix", remove_prefix},
    {"removesuffix", remove_suffix},
    {"replace", replace},
    {"rfind", find<true>},
    {"rindex", index<true>},
    {"rjust", align<kRight>},
    {"rpartition", partition<true>},
    {"rsplit", split<split_spaces_from_right, split_at_from_right>},
    {"rstrip", strip<kRight>},
    {"split", split<split_spaces, split_at>},
    {"splitlines", lines},
    {"startswith", starts_or_ends_with<false>},
    {"strip", strip<kBoth>},
    {"swapcase", converted<swap_case>},
    {"title", converted<to_title>},
    {"upper", converted<to_upper>},
    {"zfill", fill_zeros},
};

}  // namespace

Method find_text_method(std::string_view name) {
  const auto* row = std::find_if(std::begin(kTextMethods), std::end(kTextMethods),
                                 [name](const Row& candidate) { return candidate.name == name; });
  return row == std::end(kTextMethods) ? nullptr : row->method;
}

}  // namespace warpchat::jinja
