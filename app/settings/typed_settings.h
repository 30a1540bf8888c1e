// Settings as a person types them: each one's key, as the settings file has it, and its value.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

namespace warpchat {

using TypedSettings = std::vector<std::pair<std::string, std::string>>;

// A value of the settings file as it is typed: "on" for true, and text without quotes.
std::string typed_value(const nlohmann::ordered_json& value);

inline constexpr const char *kSystemPromptSetting = "system-prompt", *kModelSetting = "model",
                            *kEndpointSetting = "endpoint", *kAssistantSetting = "assistant";

}  // namespace warpchat
