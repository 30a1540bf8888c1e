// Settings as a person types them: each one's key, as the settings file has it, and its value.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace warpchat {

using TypedSettings = std::vector<std::pair<std::string, std::string>>;

inline constexpr const char *kSystemPromptSetting = "system-prompt", *kModelSetting = "model",
                            *kEndpointSetting = "endpoint", *kAssistantSetting = "assistant";

}  // namespace warpchat
