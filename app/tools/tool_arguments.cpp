// A null stands for an argument that is not given: models write it so.
#include "app/tools/tool_arguments.h"

#include <cmath>

#include "models/error.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

using nlohmann::json;

// 3.0 is a whole number, too.
bool is_whole(const json& value) {
  if (value.is_number_integer()) return true;
  return value.is_number_float() && std::floor(value.get<double>()) == value.get<double>();
}

void check(const std::string& name, const json& schema, const json& value) {
  if (schema["type"] == "string") {
    if (!value.is_string()) throw Error("the argument \"" + name + "\" is not a text");
    return;
  }
  const double min = schema["minimum"].get<double>(), max = schema["maximum"].get<double>();
  if (!is_whole(value) || value.get<double>() < min || value.get<double>() > max)
    throw Error("the argument \"" + name + "\" is not a whole number from " + grouped(static_cast<uint64_t>(min)) +
                " to " + grouped(static_cast<uint64_t>(max)));
}

}  // namespace

ToolArguments::ToolArguments(const json& schema, const json& arguments) : arguments_(arguments) {
  if (!arguments.is_object()) throw Error("the arguments are not an object");
  const json& properties = schema["properties"];
  for (const auto& [name, value] : arguments.items()) {
    if (!properties.contains(name))
      throw Error("there is no argument \"" + printable(name) + "\"; " +
                  (properties.empty() ? "there are none"
                                      : "there are " + word_list(properties.items(), ", ",
                                                                 [](const auto& one) { return one.key(); })));
    if (!value.is_null()) check(name, properties[name], value);
  }
  for (const json& name : schema.value("required", json::array()))
    if (find(name.get_ref<const std::string&>().c_str()) == nullptr)
      throw Error("the argument \"" + name.get<std::string>() + "\" is missing");
}

std::string ToolArguments::text(const char* name) const {
  const json* value = find(name);
  return value != nullptr ? value->get<std::string>() : "";
}

std::optional<uint64_t> ToolArguments::count(const char* name) const {
  const json* value = find(name);
  if (value == nullptr) return std::nullopt;
  return value->is_number_float() ? static_cast<uint64_t>(value->get<double>()) : value->get<uint64_t>();
}

const json* ToolArguments::find(const char* name) const {
  const auto found = arguments_.find(name);
  return found != arguments_.end() && !found->is_null() ? &*found : nullptr;
}

}  // namespace warpchat
