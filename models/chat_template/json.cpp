#include "models/chat_template/json.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "models/chat_template/python_text.h"
#include "models/chat_template/unicode.h"

namespace warpchat::jinja {
namespace {

class Reader {
 public:
  Reader(Heap& heap, bool is_content) : heap_(heap), is_content_(is_content) {}

  Value read(const nlohmann::ordered_json& json) {
    const Walk::Level level(walk_);
    switch (json.type()) {
      case nlohmann::ordered_json::value_t::boolean:
        return json.get<bool>();
      case nlohmann::ordered_json::value_t::number_integer:
        return json.get<int64_t>();
      case nlohmann::ordered_json::value_t::number_unsigned:
        return read_unsigned(json.get<uint64_t>());
      case nlohmann::ordered_json::value_t::number_float:
        return json.get<double>();
      case nlohmann::ordered_json::value_t::string:
        return read_text(json.get_ref<const std::string&>());
      case nlohmann::ordered_json::value_t::array:
        return read_array(json);
      case nlohmann::ordered_json::value_t::object:
        return read_object(json);
      default:
        return None{};
    }
  }

 private:
  static Value read_unsigned(uint64_t number) {
    if (number > INT64_MAX) throw Fault("the integer " + std::to_string(number) + " does not fit 64 signed bits");
    return static_cast<int64_t>(number);
  }

  Value read_text(const std::string& text) {
    if (!is_valid_utf8(text)) throw Fault("a string among the variables is not valid UTF-8");
    return heap_.text(text_for(text, is_content_));
  }

  Value read_array(const nlohmann::ordered_json& json) {
    std::vector<Value> items;
    for (const auto& item : json) items.push_back(read(item));
    return heap_.list(std::move(items));
  }

  Value read_object(const nlohmann::ordered_json& json) {
    Dict* dict = heap_.dict();
    for (const auto& [key, value] : json.items()) heap_.set(*dict, read_text(key), read(value));
    return dict;
  }

  Heap& heap_;
  bool is_content_;
  Walk walk_;
};

class Writer {
 public:
  Writer(const JsonStyle& style, TracedText& out) : style_(style), out_(out) {}
  void write(const Value& v);

 private:
  void write_text(const TracedText& text);
  void write_list(const List& list);
  void write_dict(const Dict& dict);
  void write_key(const Value& key);
  void break_line();

  const JsonStyle& style_;
  TracedText& out_;
  Walk walk_;
  int depth_ = 0;
};

std::string escape_of(char32_t c) {
  constexpr std::string_view kShort = "\"\\\n\r\t\f\b", kLetters = "\"\\nrtfb";
  if (const size_t i = c < 0x80 ? kShort.find(static_cast<char>(c)) : std::string_view::npos; i < kShort.size())
    return {'\\', kLetters[i]};
  char escape[16];
  if (c < 0x10000) {
    std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
  } else {
    const unsigned rest = static_cast<unsigned>(c) - 0x10000;
    std::snprintf(escape, sizeof escape, "\\u%04x\\u%04x", 0xD800 + (rest >> 10), 0xDC00 + (rest & 0x3FF));
  }
  return escape;
}

std::string json_number(double x) {
  if (std::isnan(x)) return "NaN";
  if (std::isinf(x)) return x < 0 ? "-Infinity" : "Infinity";
  return repr_float(x);
}

void Writer::write(const Value& v) {
  const Walk::Level level(walk_);
  if (out_.bytes.size() > kMaxTextBytes) throw Fault("the JSON of a value is longer than 64 MiB");
  if (const Text* text = v.text()) {
    write_text(*text);
  } else if (v.is_none()) {
    out_.append("null");
  } else if (const bool* truth = v.boolean()) {
    out_.append(*truth ? "true" : "false");
  } else if (const int64_t* number = v.integer()) {
    out_.append(std::to_string(*number));
  } else if (const double* real = v.real()) {
    out_.append(json_number(*real));
  } else if (v.list() && v.list()->form <= List::Form::kTuple) {
    write_list(*v.list());
  } else if (v.dict()) {
    write_dict(*v.dict());
  } else if (v.undefined()) {
    fail_undefined(*v.undefined());
  } else {
    throw Fault(std::string("a value of type ") + type_name(v) + " cannot be written as JSON");
  }
}

void Writer::write_text(const TracedText& text) {
  out_.append("\"");
  size_t plain = 0;  // start of characters that need no escape
  for (size_t at = 0; at < text.bytes.size();) {
    const size_t start = at;
    const char32_t c = next_code_point(text.bytes, at);
    if (c != '"' && c != '\\' && c >= 0x20 && !(style_.ensure_ascii && c >= 0x7F)) continue;
    out_.append(text, plain, start);
    out_.append_for(escape_of(c), text, start, at);
    plain = at;
  }
  out_.append(text, plain, text.bytes.size());
  out_.append("\"");
}

void Writer::break_line() {
  if (!style_.is_indented) return;
  out_.append("\n");
  for (int i = 0; i < depth_; ++i) out_.append(style_.indent);
}

void Writer::write_list(const List& list) {
  if (list.items.empty()) {
    out_.append("[]");
    return;
  }
  out_.append("[");
  ++depth_;
  for (size_t i = 0; i < list.items.size(); ++i) {
    if (i > 0) out_.append(style_.item_separator);
    break_line();
    write(list.items[i]);
  }
  --depth_;
  break_line();
  out_.append("]");
}

void Writer::write_dict(const Dict& dict) {
  if (dict.entries().empty()) {
    out_.append("{}");
    return;
  }
  std::vector<Dict::Entry> entries = dict.entries();
  if (style_.sort_keys) {
    std::stable_sort(entries.begin(), entries.end(),
                     [](const auto& a, const auto& b) { return less(a.first, b.first); });
  }
  out_.append("{");
  ++depth_;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (i > 0) out_.append(style_.item_separator);
    break_line();
    write_key(entries[i].first);
    out_.append(style_.key_separator);
    write(entries[i].second);
  }
  --depth_;
  break_line();
  out_.append("}");
}

void Writer::write_key(const Value& key) {
  if (key.text()) return write_text(*key.text());
  if (!is_number(key) && !key.is_none())
    throw Fault(std::string("a key of type ") + type_name(key) + " is none of JSON");
  out_.append("\"");
  write(key);
  out_.append("\"");
}

}  // namespace

Value from_json(Heap& heap, const nlohmann::ordered_json& json, bool is_content) {
  return Reader(heap, is_content).read(json);
}

TracedText to_json(const Value& v, const JsonStyle& style) {
  TracedText out;
  Writer(style, out).write(v);
  return out;
}

}  // namespace warpchat::jinja
