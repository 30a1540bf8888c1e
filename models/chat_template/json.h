// JSON in and out: the variables of a rendering, and the filter tojson.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "models/chat_template/value.h"

namespace warpchat::jinja {

// Objects keep their order; is_content: of every text in it, keys too. Fault for integers beyond 64 signed bits and for
// nesting deeper than Walk allows.
Value from_json(Heap& heap, const nlohmann::ordered_json& json, bool is_content);

// As Python's json.dumps(v, ensure_ascii, indent, separators, sort_keys) writes it.
struct JsonStyle {
  bool ensure_ascii = false;
  bool is_indented = false;
  TracedText indent;  // of one level, where indented
  TracedText item_separator = own_text(", "), key_separator = own_text(": ");
  bool sort_keys = false;
};
TracedText to_json(const Value& v, const JsonStyle& style);

}  // namespace warpchat::jinja
