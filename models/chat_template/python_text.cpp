#include "models/chat_template/python_text.h"

#include <charconv>
#include <cmath>
#include <cstdio>

#include "models/chat_template/loop.h"
#include "models/chat_template/unicode.h"

namespace warpchat::jinja {
namespace {

std::string escape_of(char32_t c) {
  if (c == '\n') return "\\n";
  if (c == '\r') return "\\r";
  if (c == '\t') return "\\t";
  char escape[16];
  const char* form = c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x";
  std::snprintf(escape, sizeof escape, form, static_cast<unsigned>(c));
  return escape;
}

// Appends values' repr to one string. Fault beyond kMaxTextBytes.
class Printer {
 public:
  explicit Printer(TracedText& out) : out_(out) {}
  void print(const Value& v);

 private:
  void print_list(const List& list);
  void print_dict(const Dict& dict);
  void print_object(const Value& v);

  TracedText& out_;
  Walk walk_;
};

void Printer::print(const Value& v) {
  const Walk::Level level(walk_);
  if (v.undefined()) {
    out_.append("Undefined");
  } else if (v.is_none()) {
    out_.append("None");
  } else if (const bool* truth = v.boolean()) {
    out_.append(*truth ? "True" : "False");
  } else if (const int64_t* number = v.integer()) {
    out_.append(std::to_string(*number));
  } else if (const double* real = v.real()) {
    out_.append(repr_float(*real));
  } else if (const Text* text = v.text()) {
    if (text->markup) out_.append("Markup(");
    out_.append(repr_text(*text));
    if (text->markup) out_.append(")");
  } else if (const List* list = v.list()) {
    print_list(*list);
  } else if (const Dict* dict = v.dict()) {
    print_dict(*dict);
  } else {
    print_object(v);
  }
  if (out_.bytes.size() > kMaxTextBytes) throw Fault("the text of a value is longer than 64 MiB");
}

void Printer::print_list(const List& list) {
  constexpr const char* kOpen[] = {"[", "(", "range(", "dict_keys([", "dict_values([", "dict_items(["};
  constexpr const char* kClose[] = {"]", ")", ")", "])", "])", "])"};
  if (list.form == List::Form::kRange) throw Fault("a range has no text; turn it into a list with |list");
  out_.append(kOpen[static_cast<int>(list.form)]);
  for (size_t i = 0; i < list.items.size(); ++i) {
    if (i > 0) out_.append(", ");
    print(list.items[i]);
  }
  if (list.form == List::Form::kTuple && list.items.size() == 1) out_.append(",");
  out_.append(kClose[static_cast<int>(list.form)]);
}

void Printer::print_dict(const Dict& dict) {
  const char* separator = "{";
  for (const auto& [key, value] : dict.entries()) {
    out_.append(separator);
    print(key);
    out_.append(": ");
    print(value);
    separator = ", ";
  }
  out_.append(dict.entries().empty() ? "{}" : "}");
}

void Printer::print_object(const Value& v) {
  if (const Namespace* space = v.name_space()) {
    out_.append("<Namespace ");
    print_dict(*space->attributes);
    out_.append(">");
  } else if (Loop* loop = v.loop()) {
    out_.append("<LoopContext " + std::to_string(loop->index()) + "/" + std::to_string(loop->length()) + ">");
  } else if (const Callable* callable = v.callable()) {
    if (!callable->is_macro) throw Fault(callable->name + " is a function and has no text; call it");
    out_.append("<Macro " + repr_text(callable->name) + ">");
  } else {
    throw Fault("an iterator has no text; turn it into a list with |list");
  }
}

// Lays out digits and exponent of scientific notation ("d.ddde+XX") like Python.
std::string python_notation(std::string_view scientific) {
  const bool negative = scientific.front() == '-';
  if (negative) scientific.remove_prefix(1);
  const size_t e = scientific.find('e');
  int exponent = 0;
  std::from_chars(scientific.data() + e + (scientific[e + 1] == '+' ? 2 : 1), scientific.data() + scientific.size(),
                  exponent);
  std::string digits;
  for (char c : scientific.substr(0, e)) {
    if (c != '.') digits += c;
  }
  const int n = static_cast<int>(digits.size());
  std::string out;
  if (exponent < -4 || exponent >= 16) {
    out = digits.substr(0, 1) + (n > 1 ? "." + digits.substr(1) : "") + (exponent < 0 ? "e-" : "e+") +
          (std::abs(exponent) < 10 ? "0" : "") + std::to_string(std::abs(exponent));
  } else if (exponent < 0) {
    out = "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
  } else if (n <= exponent + 1) {
    out = digits + std::string(static_cast<size_t>(exponent + 1 - n), '0') + ".0";
  } else {
    out = digits.substr(0, static_cast<size_t>(exponent) + 1) + "." + digits.substr(static_cast<size_t>(exponent) + 1);
  }
  return (negative ? "-" : "") + out;
}

}  // namespace

TracedText str(const Value& v) {
  if (v.undefined()) return {};
  if (const Text* text = v.text()) return *text;
  return repr(v);
}

TracedText repr(const Value& v) {
  TracedText out;
  Printer(out).print(v);
  return out;
}

TracedText repr_text(const TracedText& text) {
  const std::string& bytes = text.bytes;
  const bool use_double = bytes.find('\'') != std::string::npos && bytes.find('"') == std::string::npos;
  const char quote = use_double ? '"' : '\'';
  TracedText out = own_text(std::string(1, quote));
  for (size_t at = 0; at < bytes.size();) {
    const size_t start = at;
    const char32_t c = next_code_point(bytes, at);
    if (c == static_cast<char32_t>(quote) || c == '\\') {
      out.append_for(std::string{'\\', static_cast<char>(c)}, text, start, at);
    } else if (!is_printable(c)) {
      out.append_for(escape_of(c), text, start, at);
    } else {
      out.append(text, start, at);
    }
  }
  out.append(std::string_view(&quote, 1));
  return out;
}

std::string repr_text(std::string_view text) { return repr_text(own_text(std::string(text))).bytes; }

std::string repr_float(double x) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x < 0 ? "-inf" : "inf";
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, x, std::chars_format::scientific).ptr;
  return python_notation({buffer, static_cast<size_t>(end - buffer)});
}

TracedText escape_html(const TracedText& text) {
  constexpr std::string_view kLetters = "&<>'\"";
  constexpr std::string_view kEscapes[] = {"&amp;", "&lt;", "&gt;", "&#39;", "&#34;"};
  TracedText out;
  size_t plain = 0;  // start of characters that need no escape
  for (size_t at; (at = text.bytes.find_first_of(kLetters, plain)) != std::string::npos; plain = at + 1) {
    out.append(text, plain, at);
    out.append_for(kEscapes[kLetters.find(text.bytes[at])], text, at, at + 1);
  }
  out.append(text, plain, text.bytes.size());
  return out;
}

TracedText str_as_markup(const Value& v) {
  const Text* text = v.text();
  if (text && text->markup) return *text;
  return escape_html(str(v));
}

TracedText text_of(const Value& text, bool as_markup) {
  if (as_markup) return str_as_markup(text);
  return *text.text();
}

}  // namespace warpchat::jinja
