#include "engine/calls/parameter_value.h"

#include <algorithm>

#include "engine/calls/markup.h"
#include "engine/untrusted_json.h"
#include "models/ascii.h"

namespace warpchat::calls {

namespace {

using nlohmann::json;

enum Type : uint32_t {
  kNull = 1,
  kBoolean = 2,
  kInteger = 4,
  kFraction = 8,
  kString = 16,
  kArray = 32,
  kObject = 64,
  kAnyType = 127
};

constexpr int kMaxTypeDepth = 32;           // of schemas in anyOf and the like, and of references
constexpr uint32_t kMaxTypeSteps = 10'000;  // schemas that refer to each other many times

uint32_t type_named(std::string_view name) {
  if (name == "null") return kNull;
  if (name == "boolean") return kBoolean;
  if (name == "integer") return kInteger;
  if (name == "number") return kInteger | kFraction;
  if (name == "string") return kString;
  if (name == "array") return kArray;
  if (name == "object") return kObject;
  return 0;
}

uint32_t type_of(const json& value) {
  if (value.is_null()) return kNull;
  if (value.is_boolean()) return kBoolean;
  if (value.is_number_float()) return kFraction;
  if (value.is_number()) return kInteger;
  if (value.is_string()) return kString;
  return value.is_array() ? kArray : kObject;
}

std::string_view json_word(std::string_view text) {
  return text == "True" ? "true" : text == "False" ? "false" : text == "None" ? "null" : text;
}

}  // namespace

std::string json_string(std::string_view text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string_view schema_of(std::span<const CallTool> tools, std::string_view name) {
  const auto found = std::ranges::find(tools, name, &CallTool::name);
  return found == tools.end() ? std::string_view() : std::string_view(found->schema);
}

ParameterTypes::ParameterTypes(std::string_view schema)
    : root_(schema.empty() ? json::object() : try_parse_untrusted_json(schema, {.depth = 300})) {
  if (root_.is_discarded()) root_ = json::object();
}

// A place within the document: "#/$defs/name".
const json* ParameterTypes::target_of(const json& reference) const {
  if (!reference.is_string()) return nullptr;
  const auto& text = reference.get_ref<const std::string&>();
  if (!text.starts_with('#')) return nullptr;
  const json* at = &root_;
  for (size_t from = 1; from < text.size();) {
    if (text[from] != '/') return nullptr;
    const size_t to = std::min(text.find('/', from + 1), text.size());
    std::string key;
    for (size_t i = from + 1; i < to; ++i) {
      const bool is_escape = text[i] == '~' && i + 1 < to;
      key += !is_escape ? text[i] : text[++i] == '1' ? '/' : '~';
    }
    if (at->is_array()) return nullptr;
    const auto member = at->find(key);
    if (member == at->end()) return nullptr;
    at = &*member;
    from = to;
  }
  return at;
}

// Types that the schema allows, as far as its keywords for types tell; kAnyType if none does.
uint32_t ParameterTypes::types_of(const json& schema, uint32_t& n_steps, int depth) const {
  if (!schema.is_object() || depth == kMaxTypeDepth || ++n_steps > kMaxTypeSteps) return kAnyType;
  const auto of_list = [](const json& list, uint32_t none, const auto& types) {
    uint32_t all = 0;
    if (list.is_array())
      for (const json& item : list) all |= types(item);
    return all == 0 ? none : all;
  };
  uint32_t allowed = kAnyType;
  for (const auto& [key, value] : schema.items()) {
    uint32_t types = kAnyType;
    if (key == "type" && value.is_string())
      types = type_named(value.get_ref<const std::string&>());
    else if (key == "type")
      types = of_list(value, kAnyType, [](const json& name) {
        return name.is_string() ? type_named(name.get_ref<const std::string&>()) : 0;
      });
    else if (key == "enum")
      types = of_list(value, kAnyType, type_of);
    else if (key == "const")
      types = type_of(value);
    else if (key == "anyOf" || key == "oneOf")
      types = of_list(value, kAnyType, [&](const json& branch) { return types_of(branch, n_steps, depth + 1); });
    else if (key == "allOf" && value.is_array())
      for (const json& branch : value) types &= types_of(branch, n_steps, depth + 1);
    else if (const json* target = key == "$ref" ? target_of(value) : nullptr)
      types = types_of(*target, n_steps, depth + 1);
    if ((allowed & types) != 0) allowed &= types;  // else they contradict each other, and the server says so
  }
  return allowed;
}

std::string ParameterTypes::json_of(std::string_view name, std::string_view text) const {
  if (text.starts_with('\n')) text.remove_prefix(1);
  if (text.ends_with('\n')) text.remove_suffix(1);
  uint32_t types = kAnyType;
  const auto properties = root_.find("properties");
  if (root_.is_object() && properties != root_.end() && properties->is_object()) {
    const auto property = properties->find(name);
    uint32_t n_steps = 0;
    if (property != properties->end()) types = types_of(*property, n_steps, 0);
  }
  if (types == kString) return json_string(text);
  const std::string_view word = json_word(trimmed(text));
  const json value = try_parse_untrusted_json(word);
  if (value.is_discarded()) return json_string(text);
  // A text such as "42" is one unless a number may stand here; "null" beside other types is null.
  uint32_t type = type_of(value);
  if (type == kInteger && (types & kFraction) != 0) type = kFraction;
  if ((types & kString) != 0 && types != kAnyType && ((types & ~kString) & type) == 0) return json_string(text);
  return std::string(word);
}

PythonValue next_python_value(std::string_view text) {
  if (text.empty()) return {};
  const char quote = text[0];
  size_t end = 1, depth = 0;
  if (quote == '"' || quote == '\'') {
    for (; end < text.size() && text[end] != quote; ++end)
      if (text[end] == '\\') ++end;
    if (end >= text.size()) return {};
    const std::string_view inner = text.substr(1, end - 1);
    if (quote == '"') {
      const json value = try_parse_untrusted_json(text.substr(0, end + 1));
      if (!value.is_discarded()) return {std::string(text.substr(0, end + 1)), end + 1};
    }
    std::string plain;
    for (size_t i = 0; i < inner.size(); ++i) {
      const bool is_escape = inner[i] == '\\' && i + 1 < inner.size();
      if (is_escape) ++i;
      plain += is_escape && inner[i] == 'n' ? '\n' : is_escape && inner[i] == 't' ? '\t' : inner[i];
    }
    return {json_string(plain), end + 1};
  }
  bool in_string = false;
  for (end = 0; end < text.size() && (in_string || depth > 0 || text[end] != ','); ++end) {
    if (in_string && text[end] == '\\')
      ++end;
    else if (text[end] == '"')
      in_string = !in_string;
    else if (!in_string && (text[end] == '[' || text[end] == '{'))
      ++depth;
    else if (!in_string && depth > 0 && (text[end] == ']' || text[end] == '}'))
      --depth;
  }
  end = std::min(end, text.size());
  const std::string_view word = json_word(trimmed(text.substr(0, end)));
  return try_parse_untrusted_json(word).is_discarded() ? PythonValue{} : PythonValue{std::string(word), end};
}

}  // namespace warpchat::calls
