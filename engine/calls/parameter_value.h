// Values of parameters that are not written as JSON: which type the tool's schema gives them, and what they are then.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "engine/calls/call_format.h"

namespace warpchat::calls {

// The text as JSON, invalid UTF-8 in it as U+FFFD.
std::string json_string(std::string_view text);

// The schema of the tool; "": there is no such tool, or it has none.
std::string_view schema_of(std::span<const CallTool> tools, std::string_view name);

class ParameterTypes {
 public:
  explicit ParameterTypes(std::string_view schema);

  // A parameter's text, one line break off at each side, as JSON. A text stays a text; other types, and values without
  // a type, are read as JSON or as True, False and None, and stay texts where they are none of these.
  std::string json_of(std::string_view name, std::string_view text) const;

 private:
  uint32_t types_of(const nlohmann::json& schema, uint32_t& n_steps, int depth) const;
  const nlohmann::json* target_of(const nlohmann::json& reference) const;

  nlohmann::json root_;
};

// The value that a Python text begins with: a quoted text, or up to the next comma outside of brackets. json: empty if
// there is none.
struct PythonValue {
  std::string json = {};
  size_t n_bytes = 0;
};
PythonValue next_python_value(std::string_view text);

}  // namespace warpchat::calls
