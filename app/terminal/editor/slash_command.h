// Parses a line typed at the prompt: a message, or a command that starts with a slash.
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
  kCut,
  kRead,
  kUnread,
  kOpen,
  kTools,
  kPrompt,
  kModel,
  kDevice,
  kLaunch,
  kContext,
  kTrim,
  kSet,
  kConfig,
  kAssistant,
  kShow,
  kCopy,
  kSave,
  kLoad,
  kHistory,
  kList,
  kSearch,
  kPin,
  kArchive,
  kFolder,
  kTag,
  kVersions,
  kDelete,
  kTrash,
  kRestore,
  kErase,
  kImport,
  kExport,
  kPerf,
};

enum class SlashArgument {
  kNone,
  kText,
  kNumber,
  kFile,
  kConversation,  // a stored one's number or title
  kModel,
  kDevice,
  kLaunchMode,
  kFilter,  // of a list, or words
  kFolder,
  kTag,
  kSetting,  // a name and its value
  kAssistant,
  kPrompt,  // its name, and values
  kTool,    // its name, and a permission
  kKey,     // the same of the settings file
  kOnOff,
  kPerf,  // kOnOff, or two answers
};

struct SlashCommand {
  SlashAction action;
  std::string_view name;  // "/read"
  SlashArgument argument;
  std::string_view arguments;  // for people: "FILE", "[N]" where it may be left out; empty: takes none
  std::string_view help;
};

std::span<const SlashCommand> slash_commands();
const SlashCommand* find_slash_command(std::string_view word);  // by any of its names; null: none

std::string nearest_slash_command(std::string_view word);  // that was probably meant; empty: none

struct SlashLine {
  const SlashCommand* command;
  std::string argument;  // the rest of the line, trimmed
};

// nullopt: a message. A path such as "/usr/lib is full" is one too: only a known name, or one letter-only word after
// the slash, makes a command. Error for an unknown command, a missing argument and one too many.
std::optional<SlashLine> parse_slash_line(std::string_view line);

}  // namespace warpchat
