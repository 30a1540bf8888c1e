// "{} of {:>4}".format(values).
#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "models/chat_template/arguments.h"
#include "models/chat_template/format_spec.h"
#include "models/chat_template/operators.h"
#include "models/chat_template/python_text.h"
#include "models/chat_template/string_format.h"
#include "models/chat_template/unicode.h"

namespace warpchat::jinja {
namespace {

bool is_one_of(char c, std::string_view letters) { return c != 0 && letters.find(c) != std::string_view::npos; }

// Removes a decimal number from the front of text; -1: none.
int64_t take_number(std::string_view& text) {
  int64_t n = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error == std::errc::result_out_of_range || n > kMaxWidth) throw Fault("a number in a format is too large");
  if (error != std::errc() || n < 0) return -1;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return n;
}

// [[fill]align][sign][#][0][width][grouping][.precision][conversion]
FormatSpec parse_spec(std::string_view text) {
  FormatSpec spec;
  const auto front = [&text] { return text.empty() ? '\0' : text.front(); };
  const auto accept = [&text, &front](std::string_view letters) {
    const char c = front();
    if (!is_one_of(c, letters)) return '\0';
    text.remove_prefix(1);
    return c;
  };
  size_t fill_length = 0;
  if (!text.empty()) next_code_point(text, fill_length);
  const bool has_fill = fill_length < text.size() && is_one_of(text[fill_length], "<>=^");
  if (has_fill) {
    spec.fill = text.substr(0, fill_length);
    text.remove_prefix(fill_length);
  }
  spec.align = accept("<>=^");
  if (const char sign = accept("+- ")) spec.sign = sign;
  spec.alternate = accept("#") != 0;
  if (front() == '0' && !has_fill) {
    text.remove_prefix(1);
    spec.fill = "0";
    if (!spec.align) spec.align = '0';  // resolved by type: '=' for numbers, '<' for texts
  }
  spec.width = std::max<int64_t>(take_number(text), 0);
  spec.grouping = accept(",_");
  if (accept(".") && (spec.precision = take_number(text)) < 0) throw Fault("a format lacks its precision");
  spec.conversion = accept("bcdeEfFgGnosxX%");
  if (!text.empty()) throw Fault("the format " + repr_text(text) + " is not supported");
  return spec;
}

TracedText format_value(const Value& v, std::string_view text) {
  if (text.empty()) return str(v);
  FormatSpec spec = parse_spec(text);
  const bool is_zero_filled = spec.align == '0';
  if (v.text()) {
    if (is_zero_filled) spec.align = '<';
    if ((spec.conversion && spec.conversion != 's') || spec.align == '=') throw Fault("a str cannot be formatted so");
    return format_text(*v.text(), spec, '<');
  }
  if (is_zero_filled) spec.align = '=';
  if (v.real() || (is_number(v) && is_one_of(spec.conversion, "eEfFgG%"))) {
    if (!spec.conversion && spec.precision < 0) {
      return own_text(lay_out_number(std::signbit(*v.real()), "", repr_float(std::fabs(*v.real())), spec));
    }
    if (!is_one_of(spec.conversion, "eEfFgGn%")) throw Fault("a float needs one of the formats e f g n %");
    return own_text(format_real(to_real(v), spec));
  }
  if (!is_number(v)) throw Fault(std::string("a value of type ") + type_name(v) + " takes no format");
  if (spec.precision >= 0 || is_one_of(spec.conversion, "cs")) throw Fault("an int cannot be formatted so");
  return own_text(format_integer(to_integer(v, "a formatted number"), spec));
}

class BraceFormatter {
 public:
  BraceFormatter(Heap& heap, const Text& format, const Arguments& arguments)
      : heap_(heap), format_(format), arguments_(arguments) {}

  // text: a view of the format.
  TracedText run(std::string_view text, int depth = 0) {
    if (depth > 2) throw Fault("a format is nested too deeply");
    TracedText out;
    while (!text.empty()) {
      const size_t plain = std::min(text.find_first_of("{}"), text.size());
      out.append(format_.cut(text.substr(0, plain)));
      text.remove_prefix(plain);
      if (text.starts_with("{{") || text.starts_with("}}")) {
        out.append(format_.cut(text.substr(0, 1)));
        text.remove_prefix(2);
      } else if (text.starts_with('}')) {
        throw Fault("a format has a single '}'");
      } else if (!text.empty()) {
        text.remove_prefix(1);
        out.append(field(take_field(text), depth));
      }
      if (out.bytes.size() > kMaxTextBytes) throw Fault("a formatted text is longer than 64 MiB");
    }
    return out;
  }

 private:
  // Text up to the closing brace, which may contain fields. Moves text behind it.
  static std::string_view take_field(std::string_view& text) {
    int open = 1;
    for (size_t i = 0; i < text.size(); ++i) {
      open += text[i] == '{' ? 1 : text[i] == '}' ? -1 : 0;
      if (open > 0) continue;
      const std::string_view field = text.substr(0, i);
      text.remove_prefix(i + 1);
      return field;
    }
    throw Fault("a format lacks its closing '}'");
  }

  TracedText field(std::string_view text, int depth) {
    const size_t name_end = std::min(text.find_first_of(":!"), text.size());
    Value v = look_up(text.substr(0, name_end));
    text.remove_prefix(name_end);
    if (text.starts_with('!')) {
      if (text.size() < 2 || !is_one_of(text[1], "rs")) throw Fault("a format's conversion must be !r or !s");
      v = heap_.text(text[1] == 'r' ? repr(v) : str(v));
      text.remove_prefix(2);
    }
    if (text.starts_with(':')) {
      text.remove_prefix(1);
    } else if (!text.empty()) {
      throw Fault("a format's field ends in " + repr_text(text));
    }
    const TracedText spec = run(text, depth + 1);
    TracedText formatted = format_value(v, spec.bytes);
    if (spec.has_content()) formatted = text_for(std::move(formatted.bytes), true);  // its fill may be content
    return format_.markup && !(v.text() && v.text()->markup) ? escape_html(formatted) : formatted;
  }

  // Parses "0.name[key]", a keyword instead of the number, or nothing for the next argument.
  Value look_up(std::string_view path) {
    const size_t end = std::min(path.find_first_of(".["), path.size());
    Value v = argument(path.substr(0, end));
    for (path.remove_prefix(end); !path.empty();) {
      const bool is_item = path.front() == '[';
      path.remove_prefix(1);
      const size_t stop = is_item ? path.find(']') : std::min(path.find_first_of(".["), path.size());
      if (stop == std::string_view::npos) throw Fault("a format lacks its closing ']'");
      v = step(v, path.substr(0, stop), is_item);
      path.remove_prefix(stop + (is_item ? 1 : 0));
      if (!path.empty() && !is_one_of(path.front(), ".[")) throw Fault("a format's field has a wrong name");
    }
    return v;
  }

  Value step(const Value& v, std::string_view name, bool is_item) {
    if (name.empty()) throw Fault("a format's field has an empty name");
    std::string_view digits = name;
    const int64_t number = is_item ? take_number(digits) : -1;
    if (number >= 0 && digits.empty()) return subscript(heap_, v, Value(number));
    const Value key = literal_text(std::string(name));
    return is_item ? subscript(heap_, v, key) : attribute(heap_, v, key);
  }

  Value argument(std::string_view name) {
    std::string_view digits = name;
    int64_t place = take_number(digits);
    if (name.empty()) place = next_++;
    if (place >= 0 && digits.empty()) {
      (name.empty() ? is_counting_ : is_numbered_) = true;
      if (is_counting_ && is_numbered_) throw Fault("a format mixes numbered fields with ones that are not");
      if (place >= static_cast<int64_t>(arguments_.positional.size()))
        throw Fault("a format has more fields than values");
      return arguments_.positional[static_cast<size_t>(place)];
    }
    for (const auto& [key, value] : arguments_.named) {
      if (key.bytes == name) return value;
    }
    throw Fault("nothing is given for the format's field " + repr_text(name));
  }

  Heap& heap_;
  const Text& format_;
  const Arguments& arguments_;
  int64_t next_ = 0;
  bool is_counting_ = false, is_numbered_ = false;
};

}  // namespace

Value format_braces(Heap& heap, const Text& format, const Arguments& arguments) {
  return heap.text(BraceFormatter(heap, format, arguments).run(format.bytes), format.markup);
}

}  // namespace warpchat::jinja
