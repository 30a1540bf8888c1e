// JSON in and out: the variables of a rendering, and the filter tojson.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "models/chat_template/value.h"

namespace warpchat::jinja {

// Objects keep their order. Fault for integers beyond 64 signed bits and for nesting deeper than Walk allows.
Value from_json(Heap& heap, const nlohmann::ordered_json& json);

// As Python's json.dumps(v, ensure_ascii, indent, separators, sort_keys) writes it.
struct JsonStyle {
  bool ensure_ascii = false;
  bool is_indented = false;
  std::string indent;  // of one level, where indented
  std::string item_separator = ", ", key_separator = ": ";
  bool sort_keys = false;
};
std::string to_json(const Value& v, const JsonStyle& style);

}  // namespace warpchat::jinja
