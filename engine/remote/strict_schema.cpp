#include "engine/remote/strict_schema.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace warpchat {

namespace {

using nlohmann::ordered_json;

constexpr std::string_view kKeywords[] = {"type",
                                          "properties",
                                          "required",
                                          "additionalProperties",
                                          "items",
                                          "anyOf",
                                          "enum",
                                          "const",
                                          "$ref",
                                          "$defs",
                                          "title",
                                          "definitions",
                                          "description",
                                          "pattern",
                                          "format",
                                          "$schema",
                                          "multipleOf",
                                          "minimum",
                                          "maximum",
                                          "exclusiveMinimum",
                                          "exclusiveMaximum",
                                          "minItems",
                                          "maxItems"};
constexpr std::string_view kFormats[] = {"date-time", "time", "date", "duration", "email",
                                         "hostname",  "ipv4", "ipv6", "uuid"};
constexpr const char* kOfSchemas[] = {"properties", "$defs", "definitions"};  // keywords with a schema for each name

bool is_in(const auto& words, std::string_view word) { return std::ranges::find(words, word) != std::end(words); }

bool fits(const ordered_json& schema);

bool lists(const ordered_json& list, const std::string& name) {
  return list.is_array() && std::find(list.begin(), list.end(), name) != list.end();
}

bool is_closed_object(const ordered_json& schema) {
  const ordered_json properties = schema.value("properties", ordered_json::object());
  const ordered_json required = schema.value("required", ordered_json::array());
  if (schema.value("additionalProperties", ordered_json()) != false || !properties.is_object()) return false;
  for (const auto& [name, value] : properties.items())
    if (!lists(required, name)) return false;
  return true;
}

bool has_fitting_parts(const ordered_json& schema) {
  for (const char* keyword : kOfSchemas)
    if (const auto found = schema.find(keyword); found != schema.end())
      if (!found->is_object() || !std::all_of(found->begin(), found->end(), fits)) return false;
  if (const auto found = schema.find("anyOf"); found != schema.end())
    if (!found->is_array() || !std::all_of(found->begin(), found->end(), fits)) return false;
  const auto items = schema.find("items");
  return items == schema.end() || fits(*items);
}

bool fits(const ordered_json& schema) {
  if (!schema.is_object()) return false;
  for (const auto& [keyword, value] : schema.items())
    if (!is_in(kKeywords, keyword)) return false;
  const ordered_json type = schema.value("type", ordered_json());
  const bool may_be_object = type == "object" || lists(type, "object") || schema.contains("properties");
  const ordered_json format = schema.value("format", ordered_json("date"));
  return (!may_be_object || is_closed_object(schema)) && format.is_string() &&
         is_in(kFormats, format.get_ref<const std::string&>()) && has_fitting_parts(schema);
}

}  // namespace

bool fits_strict_mode(const ordered_json& schema) {
  return schema.is_object() && schema.value("type", ordered_json()) == "object" && !schema.contains("anyOf") &&
         fits(schema);
}

}  // namespace warpchat
