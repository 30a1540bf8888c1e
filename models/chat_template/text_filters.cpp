// Filters with text results.
#include <algorithm>

#include "models/chat_template/filters.h"
#include "models/chat_template/json.h"
#include "models/chat_template/methods.h"
#include "models/chat_template/operators.h"
#include "models/chat_template/python_text.h"
#include "models/chat_template/string_format.h"
#include "models/chat_template/text_parts.h"
#include "models/chat_template/unicode.h"

namespace warpchat::jinja {
namespace {

// jinja2's soft_str: strings are unchanged, markup or not; other values are printed.
Value as_text(Heap& heap, const Value& v) { return v.text() ? v : heap.text(str(v)); }

// A filter that calls a method of str.
Value through_method(Heap& heap, const Value& input, const Arguments& arguments, std::string_view method) {
  return find_text_method(method)(heap, as_text(heap, input), arguments);
}

Value filter_upper(Heap& heap, const Value& input, const Arguments& arguments) {
  return through_method(heap, input, arguments, "upper");
}

Value filter_lower(Heap& heap, const Value& input, const Arguments& arguments) {
  return through_method(heap, input, arguments, "lower");
}

Value filter_capitalize(Heap& heap, const Value& input, const Arguments& arguments) {
  return through_method(heap, input, arguments, "capitalize");
}

Value filter_trim(Heap& heap, const Value& input, const Arguments& arguments) {
  return through_method(heap, input, arguments, "strip");
}

Value filter_center(Heap& heap, const Value& input, const Arguments& arguments) {
  const auto given = bind("center", arguments, {{"width", 80}});
  return through_method(heap, input, Arguments{given, {}}, "center");
}

// Words begin after white space and - ( { [ <.
Value filter_title(Heap& heap, const Value& input, const Arguments& arguments) {
  bind_nothing("title", arguments);
  const auto begins_word = [](char32_t c) { return is_space(c) || std::u32string_view(U"-({[<").find(c) < 5; };
  const TracedText from = str(input);
  const std::u32string text = decode(from.bytes);
  std::string out;
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    while (end < text.size() && begins_word(text[end]) == begins_word(text[i])) ++end;
    out += to_upper(encode({&text[i], 1})) + to_lower(encode({&text[i + 1], end - i - 1}));
    i = end;
  }
  return heap.text(same_shape(std::move(out), from));
}

Value filter_string(Heap& heap, const Value& input, const Arguments& arguments) {
  bind_nothing("string", arguments);
  return as_text(heap, input);
}

Value filter_safe(Heap& heap, const Value& input, const Arguments& arguments) {
  bind_nothing("safe", arguments);
  return heap.text(str(input), true);
}

Value filter_escape(Heap& heap, const Value& input, const Arguments& arguments) {
  bind_nothing("escape", arguments);
  return heap.text(str_as_markup(input), true);
}

Value filter_force_escape(Heap& heap, const Value& input, const Arguments& arguments) {
  bind_nothing("forceescape", arguments);
  return heap.text(escape_html(str(input)), true);
}

Value filter_replace(Heap& heap, const Value& input, const Arguments& arguments) {
  const auto given = bind("replace", arguments, {{"old"}, {"new"}, {"count", None{}}});
  const int64_t limit = given[2].is_none() ? -1 : to_integer(given[2], "replace's count");
  return heap.text(replace_text(str(input), str(given[0]).bytes, str(given[1]), limit));
}

Value filter_format(Heap& heap, const Value& input, const Arguments& arguments) {
  if (!arguments.positional.empty() && !arguments.named.empty()) {
    throw Fault("the filter format takes either positional or named arguments");
  }
  Value values = heap.list(arguments.positional, List::Form::kTuple);
  if (!arguments.named.empty()) {
    Dict* dict = heap.dict();
    for (const auto& [name, value] : arguments.named) heap.set(*dict, heap.text(name), value);
    values = dict;
  }
  return format_printf(heap, *as_text(heap, input).text(), values);
}

// Indents every line but the first, and no empty ones, unless requested.
Value filter_indent(Heap& heap, const Value& input, const Arguments& arguments) {
  const auto given = bind("indent", arguments, {{"width", 4}, {"first", false}, {"blank", false}});
  TracedText text = to_text(input, "what the filter indent takes");
  text.append("\n");
  const bool markup = input.text()->markup;
  TracedText indentation;
  if (given[0].text()) {
    indentation = text_of(given[0], markup);
  } else {
    const int64_t width = to_integer(given[0], "indent's width");
    if (width > 10'000) throw Fault("indent's width is too large");
    indentation = own_text(std::string(static_cast<size_t>(std::max<int64_t>(width, 0)), ' '));
  }
  const bool blank = is_true(given[2]);
  TracedText out = is_true(given[1]) ? indentation : TracedText();
  bool is_first = true;
  for (std::string_view line : split_lines(text.bytes, false)) {
    if (!is_first) out.append("\n");
    if (!is_first && (blank || !line.empty())) out.append(indentation);
    out.append(text.cut(line));
    is_first = false;
    if (out.bytes.size() > kMaxTextBytes) throw Fault("an indented text is longer than 64 MiB");
  }
  return heap.text(std::move(out), markup);
}

Value filter_truncate(Heap& heap, const Value& input, const Arguments& arguments) {
  const auto given = bind("truncate", arguments,
                          {{"length", 255}, {"killwords", false}, {"end", literal_text("...")}, {"leeway", None{}}});
  const TracedText& end = to_text(given[2], "truncate's end");
  const auto end_length = static_cast<int64_t>(count_code_points(end.bytes));
  const int64_t length = to_integer(given[0], "truncate's length");
  const int64_t leeway = given[3].is_none() ? 5 : to_integer(given[3], "truncate's leeway");
  if (length < end_length || leeway < 0) throw Fault("truncate's length is shorter than its end");
  if (static_cast<int64_t>(length_of(input)) - leeway <= length) return input;
  const TracedText& text = to_text(input, "what the filter truncate takes");
  const auto n_kept = static_cast<size_t>(length - end_length);
  const std::string_view kept = std::string_view(text.bytes).substr(0, offset_of(text.bytes, n_kept));
  TracedText out = text.cut(is_true(given[1]) ? kept : split_at_from_right(kept, " ", 1)[0]);
  out.append(end);
  return heap.text(std::move(out), input.text()->markup);
}

TracedText quote_url(const Value& v, bool in_query) {
  constexpr char kHex[] = "0123456789ABCDEF";
  const TracedText text = str(v);
  TracedText out;
  for (size_t i = 0; i < text.bytes.size(); ++i) {
    const char c = text.bytes[i];
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = (byte < 0x80 && is_letter_or_number(byte)) || std::string_view("_.-~").find(c) < 4;
    if (is_plain || (c == '/' && !in_query)) {
      out.append(text, i, i + 1);
    } else if (c == ' ' && in_query) {
      out.append_for("+", text, i, i + 1);
    } else {
      out.append_for(std::string{'%', kHex[byte >> 4], kHex[byte & 15]}, text, i, i + 1);
    }
  }
  return out;
}

Value filter_urlencode(Heap& heap, const Value& input, const Arguments& arguments) {
  bind_nothing("urlencode", arguments);
  if (input.text() || !is_iterable(input)) return heap.text(quote_url(input, false));
  TracedText out;
  for (const Value& item : input.dict() ? pairs_of(heap, *input.dict()) : iterate(heap, input)) {
    const std::vector<Value> pair = iterate(heap, item);
    if (pair.size() != 2) throw Fault("the filter urlencode takes a str, a dict or pairs");
    if (!out.bytes.empty()) out.append("&");
    out.append(quote_url(pair[0], true));
    out.append("=");
    out.append(quote_url(pair[1], true));
  }
  return heap.text(std::move(out));
}

Value filter_wordcount(Heap&, const Value& input, const Arguments& arguments) {
  bind_nothing("wordcount", arguments);
  int64_t n = 0;
  bool in_word = false;
  for (const char32_t c : decode(str(input).bytes)) {
    const bool is_part = c == '_' || is_letter_or_number(c);
    n += is_part && !in_word;
    in_word = is_part;
  }
  return n;
}

Value filter_tojson(Heap& heap, const Value& input, const Arguments& arguments) {
  const auto given = bind("tojson", arguments,
                          {{"ensure_ascii", false}, {"indent", None{}}, {"separators", None{}}, {"sort_keys", false}});
  JsonStyle style;
  style.ensure_ascii = is_true(given[0]);
  style.sort_keys = is_true(given[3]);
  style.is_indented = !given[1].is_none();
  if (style.is_indented) {
    style.item_separator = own_text(",");
    const int64_t width = given[1].text() ? 0 : to_integer(given[1], "tojson's indent");
    if (width > 1000) throw Fault("tojson's indent is too large");
    const auto spaces = static_cast<size_t>(std::max<int64_t>(width, 0));
    style.indent = given[1].text() ? text_of(given[1], false) : own_text(std::string(spaces, ' '));
  }
  if (!given[2].is_none()) {
    const std::vector<Value> separators = iterate(heap, given[2]);
    if (separators.size() != 2) throw Fault("tojson's separators must be two");
    style.item_separator = to_text(separators[0], "a separator of tojson");
    style.key_separator = to_text(separators[1], "a separator of tojson");
  }
  return heap.text(to_json(input, style));
}

constexpr FilterRow kTextFilters[] = {
    {"capitalize", filter_capitalize},
    {"center", filter_center},
    {"e", filter_escape},
    {"escape", filter_escape},
    {"forceescape", filter_force_escape},
    {"format", filter_format},
    {"indent", filter_indent},
    {"lower", filter_lower},
    {"replace", filter_replace},
    {"safe", filter_safe},
    {"string", filter_string},
    {"title", filter_title},
    {"tojson", filter_tojson},
    {"trim", filter_trim},
    {"truncate", filter_truncate},
    {"upper", filter_upper},
    {"urlencode", filter_urlencode},
    {"wordcount", filter_wordcount},
};

}  // namespace

Filter find_text_filter(std::string_view name) { return find_in(kTextFilters, name); }

}  // namespace warpchat::jinja
