// One table; /help prints it.
#include "app/terminal/slash_command.h"

#include <algorithm>
#include <cctype>

#include "models/error.h"

namespace warpchat {

namespace {

using A = SlashAction;

constexpr SlashCommand kCommands[] = {
    {A::kHelp, "/help", "", false, "show this list"},
    {A::kRegenerate, "/regen", "", false, "answer the last message again"},
    {A::kContinue, "/continue", "", false, "go on with an answer that was stopped or cut"},
    {A::kEdit, "/edit", "[TEXT]", false, "change the last message and answer it"},
    {A::kUndo, "/undo", "", false, "forget the last message and its answer"},
    {A::kFork, "/fork", "", false, "go on in a copy of this conversation"},
    {A::kNew, "/new", "", false, "start a new conversation"},
    {A::kClear, "/clear", "", false, "start a new conversation on a clear screen"},
    {A::kList, "/list", "[N]", false, "show the latest N conversations; 20 without N"},
    {A::kSearch, "/search", "WORDS", true, "find the conversations that have these words"},
    {A::kLoad, "/load", "N|TITLE", true,
     "show a conversation and go on with it, by its number in the list or its title"},
    {A::kHistory, "/history", "", false, "show this conversation from its beginning"},
    {A::kSave, "/save", "TITLE", true, "give this conversation a title; it is stored anyway"},
    {A::kVersions, "/versions", "[N]", false, "show other versions of the messages, or go back to one"},
    {A::kDelete, "/delete", "[N|TITLE]", false, "move a conversation to the trash; alone: this one"},
    {A::kTrash, "/trash", "", false, "show what is in the trash"},
    {A::kRestore, "/restore", "[N]", false, "take one out of the trash; alone: the last one deleted"},
    {A::kErase, "/erase", "N", true, "remove one from the trash for ever"},
    {A::kImport, "/import", "FILE", true, "store a conversation from a .md or .json file, and continue it"},
    {A::kExport, "/export", "FILE", true, "write this conversation as .md or .json"},
    {A::kRead, "/read", "FILE", true, "put a text file before the next message"},
    {A::kUnread, "/unread", "", false, "leave out the files that were to go before the next message"},
    {A::kModel, "/model", "[MODEL]", false, "show the model and those found, or change to another"},
    {A::kDevice, "/device", "[DEVICE]", false, "show what the model can run on, or change to another"},
    {A::kLaunch, "/launch", "[MODE]", false, "show how kernels are launched on a GPU, or change it"},
    {A::kContext, "/context", "[N]", false, "load the model with a context of N tokens; alone: how many it has"},
    {A::kSet, "/set", "[NAME VALUE]", false, "change a setting; alone: list them"},
    {A::kShow, "/show", "", false, "show model, device, context and settings"},
    {A::kPerf, "/perf", "[on|off]", false, "show the last answer's timings, and measure kernels in those to come"},
    {A::kExit, "/exit", "", false, "leave (also Ctrl-D)"},
};

struct Alias {
  std::string_view word, name;
};
constexpr Alias kAliases[] = {
    {"/?", "/help"}, {"/bye", "/exit"}, {"/quit", "/exit"}, {"/rename", "/save"}, {"/version", "/versions"}};

std::string_view trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

bool is_letters(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isalpha(c); });
}

const SlashCommand* find_command(std::string_view word) {
  for (const Alias& alias : kAliases)
    if (alias.word == word) word = alias.name;
  const auto* found =
      std::find_if(std::begin(kCommands), std::end(kCommands), [&](const SlashCommand& c) { return c.name == word; });
  return found == std::end(kCommands) ? nullptr : found;
}

}  // namespace

std::span<const SlashCommand> slash_commands() { return kCommands; }

std::optional<SlashLine> parse_slash_line(std::string_view line) {
  line = trim(line);
  if (!line.starts_with('/')) return std::nullopt;
  const size_t word_end = std::min(line.find_first_of(" \t\n"), line.size());
  const std::string_view word = line.substr(0, word_end);
  const std::string argument(trim(line.substr(word_end)));
  const SlashCommand* command = find_command(word);
  if (!command) {
    if (!is_letters(word.substr(1))) return std::nullopt;
    throw Error("unknown command " + std::string(word) + "; /help lists them");
  }
  if (command->needs_argument && argument.empty())
    throw Error(std::string(command->name) + " needs an argument: " + std::string(command->name) + " " +
                std::string(command->arguments));
  if (command->arguments.empty() && !argument.empty())
    throw Error(std::string(command->name) + " takes no argument, found '" + argument + "'");
  return SlashLine{command, argument};
}

std::vector<std::string> complete_slash_line(const std::string& text) {
  std::vector<std::string> names;
  if (!text.starts_with('/') || text.find_first_of(" \n") != std::string::npos) return names;
  for (const SlashCommand& command : kCommands)
    if (command.name.starts_with(text)) names.push_back(std::string(command.name) + " ");
  return names;
}

}  // namespace warpchat
