// A row per tool. All but the folders is the same for every conversation.
#include "app/tools/built_in_tools.h"

#include <algorithm>

#include "app/tools/calculator.h"
#include "app/tools/local_time.h"
#include "app/tools/read_file_tool.h"
#include "app/tools/search_tool.h"
#include "app/tools/tool_arguments.h"
#include "app/tools/tool_texts.h"
#include "models/text_format.h"
#include "models/threads.h"

namespace warpchat {

namespace {

using nlohmann::json;

json schema_of_one(const char* name, const char* description, bool is_required) {
  json schema = {{"type", "object"},
                 {"properties", {{name, {{"type", "string"}, {"description", description}}}}},
                 {"additionalProperties", false}};
  if (is_required) schema["required"] = {name};
  return schema;
}

json now_schema() { return schema_of_one("zone", "IANA name such as Asia/Tokyo; default the user's", false); }
json calculate_schema() { return schema_of_one("expression", "such as (3 + 4) * sqrt(2) ^ 3", true); }

std::string now(const OpenedFolders&, const json& arguments, std::stop_token) {
  return local_time_text(std::chrono::system_clock::now(), ToolArguments(now_schema(), arguments).text("zone"));
}

std::string calculate_expression(const OpenedFolders&, const json& arguments, std::stop_token) {
  return calculate(ToolArguments(calculate_schema(), arguments).text("expression"));
}

std::string search(const OpenedFolders& folders, const json& arguments, std::stop_token stop) {
  return search_files(folders, arguments, std::move(stop));
}

struct BuiltIn {
  std::string_view name;
  std::string_view description;
  bool needs_folders;
  json (*schema)();
  std::string (*call)(const OpenedFolders& folders, const json& arguments, std::stop_token stop);
};
constexpr BuiltIn kBuiltIns[] = {
    {"calculate",
     "Computes an expression with + - * / % ^ ! ( ), pi, e, sqrt, exp, ln, log10, sin, min and others. Angles are in "
     "radians. Numbers have a point and no thousands separators.",
     false, calculate_schema, calculate_expression},
    {"now", "Tells the current date, weekday, time and time zone.", false, now_schema, now},
    {"read_file",
     "Reads a text or PDF file, or lists a folder. A long file comes in parts: the result says with which first_line "
     "to go on.",
     true, read_file_schema, read_file},
    {"search", "Searches files for lines with a text. Results are path:line: text.", true, search_schema, search},
};

}  // namespace

BuiltInTools::BuiltInTools(const std::vector<std::string>& folders) : folders_(folders) {}

std::vector<Tool> BuiltInTools::declarations() const {
  std::vector<Tool> tools;
  for (const BuiltIn& tool : kBuiltIns) {
    if (tool.needs_folders && folders_.is_empty()) continue;
    std::string description(tool.description);
    if (tool.needs_folders)
      description += " Only what is in the user's opened folders can be read: " + word_list(folders_.labels()) + ".";
    tools.push_back({.name = std::string(kBuiltInPrefix) + std::string(tool.name),
                     .own_name = std::string(tool.name),
                     .description = std::move(description),
                     .schema = tool.schema(),
                     .configuration = sha256_of_json(tool.needs_folders ? json(folders_.paths()) : json::array())});
  }
  return tools;
}

ToolResult BuiltInTools::call(std::string_view name, const json& arguments, const ToolCallControl& control) {
  const auto tool = std::ranges::find_if(kBuiltIns, [&](const BuiltIn& one) {
    return name.starts_with(kBuiltInPrefix) && name.substr(kBuiltInPrefix.size()) == one.name &&
           !(one.needs_folders && folders_.is_empty());
  });
  if (tool == std::end(kBuiltIns)) {
    std::vector<std::string> names;
    for (const Tool& known : declarations()) names.push_back(known.name);
    return unknown_tool_result(name, names);
  }
  ToolResult result;
  try {
    result = {ToolStatus::kOk, cut_result(tool->call(folders_, arguments, control.stop))};
  } catch (const std::exception&) {
    result = failed_result(sentence_of_current_exception());
  }
  return control.stop.stop_requested() ? stopped_result() : result;
}

}  // namespace warpchat
