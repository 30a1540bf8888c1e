// Commands and flags for people and shells: --help, the man page and shell completions.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "app/settings/options.h"

namespace warpchat {

enum class ValueKind : uint8_t { kNone, kText, kFile, kFolder, kModel, kWord };
ValueKind value_kind(const FlagHelp& flag);

std::string capitalized(std::string text);

// "-m, --model MODEL"
std::string label_of(const FlagHelp& flag);

// `flags` in their groups, in the order in which the groups first appear.
struct FlagGroup {
  std::string title;
  std::vector<FlagHelp> flags;
};
std::vector<FlagGroup> grouped_flags(const std::vector<FlagHelp>& flags);

// The --help text of a command, wrapped at standard output's width. UsageError for an unknown name.
std::string help_text(const std::vector<CommandHelp>& commands, const std::string& name);

// `chat help --format FORMAT`: man, bash, zsh or fish.
std::string formatted_help(const std::vector<CommandHelp>& commands, const std::string& format);

std::string man_page(const std::vector<CommandHelp>& commands);
std::string bash_completion(const std::vector<CommandHelp>& commands);
std::string zsh_completion(const std::vector<CommandHelp>& commands);
std::string fish_completion(const std::vector<CommandHelp>& commands);

}  // namespace warpchat
