// One table; /help prints it.
#include "app/terminal/slash_command.h"

#include <algorithm>
#include <cctype>

#include "models/ascii.h"
#include "models/error.h"

namespace warpchat {

namespace {

using A = SlashAction;
using Takes = SlashArgument;

constexpr SlashCommand kCommands[] = {
    {A::kHelp, "/help", Takes::kNone, "", "show this list"},
    {A::kRegenerate, "/regen", Takes::kNone, "", "answer the last message again"},
    {A::kContinue, "/continue", Takes::kNone, "", "go on with an answer that was stopped or cut"},
    {A::kEdit, "/edit", Takes::kText, "[TEXT]", "change the last message and answer it"},
    {A::kUndo, "/undo", Takes::kNone, "", "forget the last message and its answer"},
    {A::kFork, "/fork", Takes::kNone, "", "go on in a copy of this conversation"},
    {A::kNew, "/new", Takes::kNone, "", "start a new conversation"},
    {A::kClear, "/clear", Takes::kNone, "", "start a new conversation on a clear screen"},
    {A::kList, "/list", Takes::kNumber, "[N]", "show the latest N conversations; 20 without N"},
    {A::kSearch, "/search", Takes::kText, "WORDS", "find the conversations that have these words"},
    {A::kLoad, "/load", Takes::kConversation, "N|TITLE",
     "show a conversation and go on with it, by its number in the list or its title"},
    {A::kHistory, "/history", Takes::kNone, "", "show this conversation from its beginning"},
    {A::kSave, "/save", Takes::kText, "TITLE", "give this conversation a title; it is stored anyway"},
    {A::kVersions, "/versions", Takes::kNumber, "[N]", "show other versions of the messages, or go back to one"},
    {A::kDelete, "/delete", Takes::kConversation, "[N|TITLE]", "move a conversation to the trash; alone: this one"},
    {A::kTrash, "/trash", Takes::kNone, "", "show what is in the trash"},
    {A::kRestore, "/restore", Takes::kNumber, "[N]", "take one out of the trash; alone: the last one deleted"},
    {A::kErase, "/erase", Takes::kNumber, "N", "remove one from the trash for ever"},
    {A::kImport, "/import", Takes::kFile, "FILE",
     "store conversations of a .md or .json file, ChatGPT's too, and go on"},
    {A::kExport, "/export", Takes::kFile, "FILE", "write this conversation as .md or .json"},
    {A::kRead, "/read", Takes::kFile, "[FILE]", "put a text file or a PDF before the next message; alone: list them"},
    {A::kUnread, "/unread", Takes::kNumber, "[N]", "leave out file N of those before the next message; alone: all"},
    {A::kModel, "/model", Takes::kModel, "[MODEL]", "show the model and those found, or change to another"},
    {A::kDevice, "/device", Takes::kDevice, "[DEVICE]", "show what the model can run on, or change to another"},
    {A::kLaunch, "/launch", Takes::kLaunchMode, "[MODE]", "show how kernels are launched on a GPU, or change it"},
    {A::kContext, "/context", Takes::kNumber, "[N]",
     "load the model with a context of N tokens; alone: how many it has"},
    {A::kTrim, "/trim", Takes::kOnOff, "[on|off]",
     "let the model read only the newest turns that fit its context; all stay stored"},
    {A::kSet, "/set", Takes::kSetting, "[NAME VALUE]", "change a setting; alone: list them"},
    {A::kShow, "/show", Takes::kNone, "", "show model, device, context and settings"},
    {A::kPerf, "/perf", Takes::kPerf, "[on|off|diff [A B]]",
     "show the last answer's timings, and measure kernels in those to come; diff: two answers side by side"},
    {A::kExit, "/exit", Takes::kNone, "", "leave (also Ctrl-D)"},
};

struct Alias {
  std::string_view word, name;
};
constexpr Alias kAliases[] = {
    {"/?", "/help"}, {"/bye", "/exit"}, {"/quit", "/exit"}, {"/rename", "/save"}, {"/version", "/versions"}};

constexpr std::string_view kBlanks = " \t\n";

bool is_letters(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isalpha(c); });
}

}  // namespace

std::span<const SlashCommand> slash_commands() { return kCommands; }

const SlashCommand* find_slash_command(std::string_view word) {
  for (const Alias& alias : kAliases)
    if (alias.word == word) word = alias.name;
  const auto* found =
      std::find_if(std::begin(kCommands), std::end(kCommands), [&](const SlashCommand& c) { return c.name == word; });
  return found == std::end(kCommands) ? nullptr : found;
}

std::optional<SlashLine> parse_slash_line(std::string_view line) {
  line = trimmed(line, kBlanks);
  if (!line.starts_with('/')) return std::nullopt;
  const size_t word_end = std::min(line.find_first_of(" \t\n"), line.size());
  const std::string_view word = line.substr(0, word_end);
  const std::string argument(trimmed(line.substr(word_end), kBlanks));
  const SlashCommand* command = find_slash_command(word);
  if (!command) {
    if (!is_letters(word.substr(1))) return std::nullopt;
    throw Error("unknown command " + std::string(word) + "; /help lists them");
  }
  if (argument.empty() && !command->arguments.empty() && !command->arguments.starts_with('['))
    throw Error(std::string(command->name) + " needs an argument: " + std::string(command->name) + " " +
                std::string(command->arguments));
  if (command->arguments.empty() && !argument.empty())
    throw Error(std::string(command->name) + " takes no argument, found '" + argument + "'");
  return SlashLine{command, argument};
}

}  // namespace warpchat
