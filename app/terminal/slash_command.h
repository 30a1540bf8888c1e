// What a line typed at the prompt is: a message, or a command that starts with a slash.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpchat {

enum class SlashAction {
  kHelp,
  kExit,
  kClear,
  kNew,
  kRegenerate,
  kContinue,
  kEdit,
  kUndo,
  kFork,
  kRead,
  kUnread,
  kModel,
  kDevice,
  kLaunch,
  kContext,
  kSet,
  kShow,
  kSave,
  kLoad,
  kHistory,
  kList,
  kSearch,
  kVersions,
  kDelete,
  kTrash,
  kRestore,
  kErase,
  kImport,
  kExport,
  kPerf,
};

struct SlashCommand {
  SlashAction action;
  std::string_view name;       // "/read"
  std::string_view arguments;  // for people: "FILE"; empty: takes none
  bool needs_argument;
  std::string_view help;
};

std::span<const SlashCommand> slash_commands();

struct SlashLine {
  const SlashCommand* command;
  std::string argument;  // the rest of the line, trimmed
};

// nullopt: a message. A path such as "/usr/lib is full" is one too: only a known name, or one letter-only word after
// the slash, makes a command. Error for an unknown command, a missing argument and one too many.
std::optional<SlashLine> parse_slash_line(std::string_view line);

// Commands whose name begins like the text, for Tab.
std::vector<std::string> complete_slash_line(const std::string& text);

}  // namespace warpchat
