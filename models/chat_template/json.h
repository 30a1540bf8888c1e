// JSON in both directions: template variables, and the filter tojson.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "models/chat_template/value.h"

namespace warpchat::jinja {

// Objects keep their order. is_content: marks every text, including keys. Fault for integers beyond signed 64 bits, and
// for nesting deeper than Walk allows.
Value from_json(Heap& heap, const nlohmann::ordered_json& json, bool is_content);

// As printed by Python's json.dumps(v, ensure_ascii, indent, separators, sort_keys).
struct JsonStyle {
  bool ensure_ascii = false;
  bool is_indented = false;
  TracedText indent;  // per level, if indented
  TracedText item_separator = own_text(", "), key_separator = own_text(": ");
  bool sort_keys = false;
};
TracedText to_json(const Value& v, const JsonStyle& style);

}  // namespace warpchat::jinja
