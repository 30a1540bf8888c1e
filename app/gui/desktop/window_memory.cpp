// Every value is checked by itself, so that one bad value does not cost the others.
#include "app/gui/desktop/window_memory.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/platform/directories.h"
#include "app/platform/output.h"
#include "app/platform/text_input.h"
#include "engine/untrusted_json.h"
#include "models/error.h"

namespace warpchat::gui {

namespace {

using Json = nlohmann::json;

constexpr int kLargestScreen = 32767;  // pixels
constexpr uint64_t kMaxBytes = 64'000'000;

constexpr std::pair<const char*, ConversationOrder> kOrders[] = {{"changed", ConversationOrder::kUpdated},
                                                                 {"created", ConversationOrder::kCreated},
                                                                 {"title", ConversationOrder::kTitle}};

template <class T>
void read_number(const Json& json, const char* key, T& value, T min, T max) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number()) return;
  const double number = found->get<double>();
  if (number >= static_cast<double>(min) && number <= static_cast<double>(max)) value = static_cast<T>(number);
}

void read_flag(const Json& json, const char* key, bool& value) {
  const auto found = json.find(key);
  if (found != json.end() && found->is_boolean()) value = found->get<bool>();
}

void read_text(const Json& json, const char* key, std::string& value) {
  const auto found = json.find(key);
  if (found != json.end() && found->is_string()) value = found->get<std::string>();
}

// Files of versions without a choice have `dark`, which their users have chosen.
void read_theme(const Json& json, WindowMemory& memory) {
  read_flag(json, "dark", memory.dark);
  std::string name = memory.dark ? name_of(ThemeChoice::kDark) : "";
  read_text(json, "theme", name);
  for (const ThemeChoice theme : {ThemeChoice::kLight, ThemeChoice::kDark})
    if (name == name_of(theme)) memory.theme = theme, memory.dark = theme == ThemeChoice::kDark;
}

void read_draft(const Json& json, std::map<int64_t, WindowMemory::Draft>& drafts) {
  if (!json.is_object()) return;
  const auto conversation = json.find("conversation"), text = json.find("text");
  if (conversation == json.end() || text == json.end()) return;
  if (!conversation->is_number_integer() || !text->is_string()) return;
  WindowMemory::Draft& draft = drafts[conversation->get<int64_t>()];
  draft.text = *text;
  if (const auto files = json.find("files"); files != json.end() && files->is_array())
    for (const Json& file : *files)
      if (file.is_string()) draft.files.push_back(file);
}

}  // namespace

const char* name_of(ThemeChoice theme) {
  return theme == ThemeChoice::kSystem ? "system" : theme == ThemeChoice::kLight ? "light" : "dark";
}

WindowMemory window_memory_from(const std::string& text) {
  WindowMemory memory;
  const Json json = try_parse_untrusted_json(text);
  if (!json.is_object()) return memory;
  read_number(json, "width", memory.place.width, 480, kLargestScreen);
  read_number(json, "height", memory.place.height, 360, kLargestScreen);
  memory.place.placed = json.contains("x") && json.contains("y") && json.contains("width");
  read_number(json, "x", memory.place.x, -kLargestScreen, kLargestScreen);
  read_number(json, "y", memory.place.y, -kLargestScreen, kLargestScreen);
  read_theme(json, memory);
  read_text(json, "text_font", memory.text_font);
  read_text(json, "code_font", memory.code_font);
  read_number(json, "zoom", memory.zoom, kMinZoom, kMaxZoom);
  read_number(json, "sidebar_width", memory.sidebar_width, kMinSidebar, kMaxSidebar);
  read_flag(json, "sidebar_open", memory.sidebar_open);
  read_number(json, "profiler_share", memory.profiler_share, kMinProfilerShare, 1.0f);
  read_flag(json, "emulators", memory.emulators);
  if (const auto drafts = json.find("drafts"); drafts != json.end() && drafts->is_array())
    for (const Json& draft : *drafts) read_draft(draft, memory.drafts);
  if (const auto folders = json.find("folders"); folders != json.end() && folders->is_array())
    for (const Json& folder : *folders)
      if (folder.is_string() && folder.get<std::string>().ends_with('/')) memory.folders.push_back(folder);
  if (const auto recent = json.find("recent_commands"); recent != json.end() && recent->is_array())
    for (const Json& command : *recent)
      if (command.is_string()) memory.recent_commands.push_back(command);
  if (const auto folded = json.find("folded"); folded != json.end() && folded->is_array())
    for (const Json& folder : *folded)
      if (folder.is_string()) memory.folded.push_back(folder);
  const std::string order = json.contains("order") && json["order"].is_string() ? json["order"] : Json("");
  for (const auto& [name, value] : kOrders)
    if (order == name) memory.order = value;
  return memory;
}

std::string to_json(const WindowMemory& memory) {
  Json json = {
      {"width", memory.place.width},        {"height", memory.place.height}, {"dark", memory.dark},
      {"theme", name_of(memory.theme)},     {"zoom", memory.zoom},           {"sidebar_width", memory.sidebar_width},
      {"sidebar_open", memory.sidebar_open}};
  if (memory.profiler_share != kUsualProfilerShare) json["profiler_share"] = memory.profiler_share;
  if (!memory.text_font.empty()) json["text_font"] = memory.text_font;
  if (!memory.code_font.empty()) json["code_font"] = memory.code_font;
  if (memory.emulators) json["emulators"] = true;
  for (const auto& [conversation, draft] : memory.drafts) {
    json["drafts"].push_back({{"conversation", conversation}, {"text", draft.text}});
    if (!draft.files.empty()) json["drafts"].back()["files"] = draft.files;
  }
  if (!memory.folders.empty()) json["folders"] = memory.folders;
  if (!memory.recent_commands.empty()) json["recent_commands"] = memory.recent_commands;
  if (!memory.folded.empty()) json["folded"] = memory.folded;
  for (const auto& [name, value] : kOrders)
    if (memory.order == value && value != ConversationOrder::kUpdated) json["order"] = name;
  if (memory.place.placed) json["x"] = memory.place.x, json["y"] = memory.place.y;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

WindowMemory load_window_memory(const std::string& folder) try {
  return window_memory_from(read_regular_file(folder + "/window.json", kMaxBytes));
} catch (const Error&) {  // no such file, or it is none
  return {};
}

void save_window_memory(const WindowMemory& memory, const std::string& folder) try {
  if (!make_private_directory(folder)) return;
  write_file(folder + "/window.json", to_json(memory));
} catch (const std::exception&) {  // the window opens as at the first start
}

}  // namespace warpchat::gui
