// --help of a command.
#include "app/commands/help/command_help.h"

#include <algorithm>
#include <cctype>

#include "app/platform/output.h"
#include "app/platform/program_name.h"
#include "app/platform/text/column_text.h"
#include "app/platform/usage_error.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

constexpr int kHelpWidth = 80;  // columns, where it goes to no terminal

constexpr std::string_view kExamples = R"(
Usage: {chat} [FLAGS]            a conversation in the terminal
       {chat} "QUESTION" [FLAGS] one answer; -p QUESTION is the same
       {chat} COMMAND [FLAGS]    {chat} COMMAND --help tells more

Examples:
  {chat} -m qwen2.5-3b-instruct-q4_k_m.gguf
  {chat} -m Qwen/Qwen2.5-3B-Instruct-GGUF:Q4_K_M
  {chat} "Why is the sky blue?"
  git diff | {chat} -p "Write a commit message for this change."
)";

}  // namespace

ValueKind value_kind(const FlagHelp& flag) {
  if (flag.value.empty()) return ValueKind::kNone;
  if (!flag.words.empty()) return ValueKind::kWord;
  if (flag.value.starts_with("FILE")) return ValueKind::kFile;
  if (flag.value == "FOLDER") return ValueKind::kFolder;
  return flag.value == "MODEL" ? ValueKind::kModel : ValueKind::kText;
}

std::string capitalized(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

std::string label_of(const FlagHelp& flag) {
  std::string label = word_list(flag.names);
  if (!flag.value.empty()) label += (label.empty() ? "" : " ") + flag.value;
  return label;
}

std::vector<FlagGroup> grouped_flags(const std::vector<FlagHelp>& flags) {
  std::vector<FlagGroup> groups;
  for (const FlagHelp& flag : flags) {
    auto group = std::ranges::find(groups, flag.group, &FlagGroup::title);
    if (group == groups.end()) group = groups.insert(groups.end(), {flag.group, {}});
    group->flags.push_back(flag);
  }
  return groups;
}

std::string help_text(const std::vector<CommandHelp>& commands, const std::string& name) {
  const auto found = std::ranges::find(commands, name, &CommandHelp::name);
  if (found == commands.end())
    throw UsageError("unknown command " + printable(name, 60) + "; " + program_name() + " --help lists all");
  const CommandHelp& command = *found;
  std::string text = capitalized(command.purpose) + ".\n";
  if (found == commands.begin()) {
    text += with_program_name(kExamples) + "\nCommands:\n";
    for (size_t i = 1; i < commands.size(); ++i) text += "  " + commands[i].name + "\t" + commands[i].purpose + "\n";
  } else {
    text += "\nUsage: " + program_name() + " " + command.name + " [FLAGS]\n";
  }
  for (const FlagGroup& group : grouped_flags(command.flags)) {
    text += "\n" + group.title + ":\n";
    for (const FlagHelp& flag : group.flags) text += "  " + label_of(flag) + "\t" + flag.help + "\n";
  }
  return column_text(text, output_is_terminal() ? output_width() : kHelpWidth);
}

std::string formatted_help(const std::vector<CommandHelp>& commands, const std::string& format) {
  if (format == "bash") return bash_completion(commands);
  if (format == "zsh") return zsh_completion(commands);
  return format == "fish" ? fish_completion(commands) : man_page(commands);
}

}  // namespace warpchat
