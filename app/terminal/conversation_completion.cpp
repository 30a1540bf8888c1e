// Completions of the commands' arguments from the current state.
#include "app/model_choice/endpoint_book.h"
#include "app/model_choice/model_book.h"
#include "app/model_choice/model_facts.h"
#include "app/settings/assistants.h"
#include "app/terminal/conversation.h"
#include "engine/launch_mode.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

constexpr uint32_t kMaxTitles = 200;
constexpr size_t kLongestTitle = 200;  // bytes

std::vector<std::string> model_names(const ModelFlags& flags) {
  std::vector<std::string> names;
  for (const ModelChoice& model : describe_models(model_places(), flags, {})) names.push_back(model.name);
  for (const auto& [alias, target] : read_model_book().aliases) names.push_back(alias);
  const EndpointBook book;
  for (const NamedEndpoint& endpoint : book.all()) names.push_back(endpoint.name);
  return names;
}

std::vector<std::string> usable(const std::vector<DeviceLine>& devices) {
  std::vector<std::string> names;
  for (const DeviceLine& device : devices)
    if (device.usable) names.push_back(device.name);
  return names;
}

// Names, and behind one of them its placeholders.
std::vector<std::string> prompt_arguments(std::string_view typed) {
  std::vector<std::string> found;
  const std::vector<std::string> names = prompt_names();
  for (const std::string& name : names) found.push_back(name + " ");
  const std::string name = split_prompt_name(typed, names).first;
  if (!typed.starts_with(name + " ") || !is_prompt(name)) return found;
  const std::string before(typed.substr(0, typed.rfind(' ') + 1));
  for (const Placeholder& placeholder : placeholders_of(load_prompt(name).text))
    found.push_back(before + placeholder.name + "=");
  return found;
}

}  // namespace

std::vector<std::string> Conversation::titles() {
  std::vector<std::string> titles;
  look([&](const ConversationStore& store) {
    for (const ConversationSummary& conversation : store.list(kMaxTitles))
      titles.push_back(printable(conversation.title, kLongestTitle));
  });
  return titles;
}

// Names as commands take them.
std::vector<std::string> Conversation::names(Names which) {
  std::vector<std::string> quoted;
  look([&](const ConversationStore& store) {
    for (const NameCount& found : which == Names::kFolders ? store.folders() : store.tags()) {
      const std::string name = printable(found.name, kLongestTitle);
      quoted.push_back(name.find(' ') == std::string::npos ? name : "\"" + name + "\"");
    }
  });
  return quoted;
}

// For the last word that was typed.
std::vector<std::string> Conversation::filters(std::string_view typed) {
  const size_t blank = typed.rfind(' ');
  const std::string before(blank == std::string_view::npos ? "" : typed.substr(0, blank + 1));
  std::vector<std::string> filters;
  for (const char* flag : {"is:archived", "is:pinned"}) filters.push_back(before + flag);
  for (const std::string& folder : names(Names::kFolders)) filters.push_back(before + "folder:" + folder);
  for (const std::string& tag : names(Names::kTags)) filters.push_back(before + "tag:" + tag);
  return filters;
}

// On an error Tab offers nothing; the command itself reports it.
std::vector<std::string> Conversation::arguments(SlashArgument kind, std::string_view typed) try {
  switch (kind) {
    case SlashArgument::kConversation:
      return titles();
    case SlashArgument::kFilter:
      return filters(typed);
    case SlashArgument::kFolder:
      return names(Names::kFolders);
    case SlashArgument::kTag:
      return names(Names::kTags);
    case SlashArgument::kModel:
      return model_names(options_);
    case SlashArgument::kDevice:
      return usable(controller_.now().devices);
    case SlashArgument::kLaunchMode: {
      std::vector<std::string> names(kLaunchModeNames.begin(), kLaunchModeNames.end());
      names.emplace_back("auto");
      return names;
    }
    case SlashArgument::kSetting:
      return setting_arguments(settings(), typed);
    case SlashArgument::kAssistant: {
      std::vector<std::string> names = assistant_names();
      names.emplace_back("none");
      names.emplace_back("save ");
      return names;
    }
    case SlashArgument::kPrompt:
      return prompt_arguments(typed);
    case SlashArgument::kTool: {
      std::vector<std::string> names;
      for (const OfferedTool& tool : controller_.now().tools.tools) names.push_back(tool.name + " ");
      return names;
    }
    case SlashArgument::kKey: {
      std::vector<std::string> names;
      for (const SettingsKey& key : settings_keys()) names.push_back(key.name + " ");
      return names;
    }
    case SlashArgument::kOnOff:
      return {"on", "off"};
    case SlashArgument::kPerf:
      return {"on", "off", "diff"};
    case SlashArgument::kNone:
    case SlashArgument::kText:
    case SlashArgument::kNumber:
    case SlashArgument::kFile:
      return {};
  }
  return {};
} catch (const std::exception&) {
  return {};
}

}  // namespace warpchat
