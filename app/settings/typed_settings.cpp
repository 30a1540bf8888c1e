#include "app/settings/typed_settings.h"

#include <nlohmann/json.hpp>

namespace warpchat {

std::string typed_value(const nlohmann::ordered_json& value) {
  if (value.is_boolean()) return value.get<bool>() ? "on" : "off";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace warpchat
