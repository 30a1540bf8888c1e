#include "models/chat_template/python_text.h"

#include <charconv>
#include <cmath>
#include <cstdio>

#include "models/chat_template/loop.h"
#include "models/chat_template/unicode.h"

namespace warpchat::jinja {
namespace {

void append_escape(std::string& out, char32_t c) {
  char escape[16];
  const char* form = c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x";
  std::snprintf(escape, sizeof escape, form, static_cast<unsigned>(c));
  out += escape;
}

// Appends the repr of values to one string, which is refused beyond kMaxTextBytes.
class Printer {
 public:
  explicit Printer(std::string& out) : out_(out) {}
  void print(const Value& v);

 private:
  void print_list(const List& list);
  void print_dict(const Dict& dict);
  void print_object(const Value& v);

  std::string& out_;
  Walk walk_;
};

void Printer::print(const Value& v) {
  const Walk::Level level(walk_);
  if (v.undefined()) {
    out_ += "Undefined";
  } else if (v.is_none()) {
    out_ += "None";
  } else if (const bool* truth = v.boolean()) {
    out_ += *truth ? "True" : "False";
  } else if (const int64_t* number = v.integer()) {
    out_ += std::to_string(*number);
  } else if (const double* real = v.real()) {
    out_ += repr_float(*real);
  } else if (const Text* text = v.text()) {
    out_ += text->markup ? "Markup(" + repr_text(text->bytes) + ")" : repr_text(text->bytes);
  } else if (const List* list = v.list()) {
    print_list(*list);
  } else if (const Dict* dict = v.dict()) {
    print_dict(*dict);
  } else {
    print_object(v);
  }
  if (out_.size() > kMaxTextBytes) throw Fault("the text of a value is longer than 64 MiB");
}

void Printer::print_list(const List& list) {
  constexpr const char* kOpen[] = {"[", "(", "range(", "dict_keys([", "dict_values([", "dict_items(["};
  constexpr const char* kClose[] = {"]", ")", ")", "])", "])", "])"};
  if (list.form == List::Form::kRange) throw Fault("a range has no text; turn it into a list with |list");
  out_ += kOpen[static_cast<int>(list.form)];
  for (size_t i = 0; i < list.items.size(); ++i) {
    if (i > 0) out_ += ", ";
    print(list.items[i]);
  }
  if (list.form == List::Form::kTuple && list.items.size() == 1) out_ += ',';
  out_ += kClose[static_cast<int>(list.form)];
}

void Printer::print_dict(const Dict& dict) {
  const char* separator = "{";
  for (const auto& [key, value] : dict.entries()) {
    out_ += separator;
    print(key);
    out_ += ": ";
    print(value);
    separator = ", ";
  }
  out_ += dict.entries().empty() ? "{}" : "}";
}

void Printer::print_object(const Value& v) {
  if (const Namespace* space = v.name_space()) {
    out_ += "<Namespace ";
    print_dict(*space->attributes);
    out_ += '>';
  } else if (Loop* loop = v.loop()) {
    out_ += "<LoopContext " + std::to_string(loop->index()) + "/" + std::to_string(loop->length()) + ">";
  } else if (const Callable* callable = v.callable()) {
    if (!callable->is_macro) throw Fault(callable->name + " is a function and has no text; call it");
    out_ += "<Macro " + repr_text(callable->name) + ">";
  } else {
    throw Fault("an iterator has no text; turn it into a list with |list");
  }
}

// Digits and exponent of scientific notation ("d.ddde+XX") as Python lays them out.
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

std::string str(const Value& v) {
  if (v.undefined()) return "";
  if (const Text* text = v.text()) return text->bytes;
  return repr(v);
}

std::string repr(const Value& v) {
  std::string out;
  Printer(out).print(v);
  return out;
}

std::string repr_text(std::string_view text) {
  const bool use_double = text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos;
  const char quote = use_double ? '"' : '\'';
  std::string out(1, quote);
  for (size_t at = 0; at < text.size();) {
    const size_t start = at;
    const char32_t c = next_code_point(text, at);
    if (c == static_cast<char32_t>(quote) || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (!is_printable(c)) {
      append_escape(out, c);
    } else {
      out += text.substr(start, at - start);
    }
  }
  return out + quote;
}

std::string repr_float(double x) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x < 0 ? "-inf" : "inf";
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, x, std::chars_format::scientific).ptr;
  return python_notation({buffer, static_cast<size_t>(end - buffer)});
}

std::string escape_html(std::string_view text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '\'':
        out += "&#39;";
        break;
      case '"':
        out += "&#34;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string str_as_markup(const Value& v) {
  const Text* text = v.text();
  return text && text->markup ? text->bytes : escape_html(str(v));
}

}  // namespace warpchat::jinja
