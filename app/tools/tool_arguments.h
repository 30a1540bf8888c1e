// The arguments of a call of a built-in tool, checked against its schema.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace warpchat {

class ToolArguments {
 public:
  // schema: an object of "properties", all of one "type" and without further keywords but "required", "minimum" and
  // "maximum". Error, one sentence that names the argument: one is missing, unknown, of another type or out of range.
  ToolArguments(const nlohmann::json& schema, const nlohmann::json& arguments);

  std::string text(const char* name) const;  // empty: not given
  std::optional<uint64_t> count(const char* name) const;

 private:
  const nlohmann::json* find(const char* name) const;
  const nlohmann::json& arguments_;
};

}  // namespace warpchat
