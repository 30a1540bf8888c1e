// One table; /help prints it.
#include "app/terminal/editor/slash_command.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "app/platform/text/nearest_name.h"
#include "models/ascii.h"
#include "models/error.h"

namespace warpchat {

namespace {

using A = SlashAction;
using Takes = SlashArgument;

constexpr SlashCommand kCommands[] = {
    {A::kHelp, "/help", Takes::kText, "[COMMAND]", "show this list, or one command of it"},
    {A::kRegenerate, "/regen", Takes::kModel, "[NAME=VALUE|MODEL]",
     "answer the last message again, perhaps with other settings or another model, only this time"},
    {A::kContinue, "/continue", Takes::kNone, "", "continue an answer that was stopped or cut"},
    {A::kEdit, "/edit", Takes::kText, "[N|TEXT]", "change the last message, or your N-th one, and answer it"},
    {A::kUndo, "/undo", Takes::kNone, "", "take back the last message and its answer"},
    {A::kFork, "/fork", Takes::kNumber, "[N]",
     "continue in a copy, up to message N of yours; the original stays unchanged"},
    {A::kCut, "/cut", Takes::kNumber, "[N]",
     "delete message N of yours with its answer; the rest stays; without N: the last"},
    {A::kNew, "/new", Takes::kNone, "", "start a new conversation"},
    {A::kClear, "/clear", Takes::kNone, "", "start a new conversation on a clear screen"},
    {A::kList, "/list", Takes::kFilter, "[FILTER] [N]",
     "show the latest N conversations (20 without N); FILTER: folder:NAME tag:NAME archived pinned sort:title"},
    {A::kSearch, "/search", Takes::kFilter, "[WORDS]",
     "find conversations with these words; also folder:NAME tag:NAME is:archived is:pinned; without WORDS: the next "
     "ones"},
    {A::kPin, "/pin", Takes::kConversation, "[N]",
     "keep this conversation, or those with these numbers, on top; or not"},
    {A::kArchive, "/archive", Takes::kConversation, "[N]", "hide this conversation, or others, from the list; or not"},
    {A::kFolder, "/folder", Takes::kFolder, "[NAME [N]]",
     "move this conversation, or others, to a folder; - : to none; without NAME: list folders"},
    {A::kTag, "/tag", Takes::kTag, "[NAME [N]]",
     "give this conversation, or others, a tag, or take it off; without NAME: list tags"},
    {A::kLoad, "/load", Takes::kConversation, "N|TITLE", "open a conversation by its number in the list or its title"},
    {A::kHistory, "/history", Takes::kNone, "", "show this conversation from its beginning"},
    {A::kCopy, "/copy", Takes::kText, "[code [N]]", "copy the last answer to the clipboard, or the code block N of it"},
    {A::kSave, "/save", Takes::kText, "TITLE|code N FILE",
     "set this conversation's title, or write code block N of the last answer to a file"},
    {A::kVersions, "/versions", Takes::kNumber, "[N]", "show other versions of the messages, or go back to one"},
    {A::kDelete, "/delete", Takes::kConversation, "[N|TITLE]",
     "move a conversation to the trash, or several: 1 3 5-8; without N: this one"},
    {A::kTrash, "/trash", Takes::kNumber, "[N]", "list the trash, or show a conversation of it"},
    {A::kRestore, "/restore", Takes::kNumber, "[N]", "restore one from the trash; without N: the one deleted last"},
    {A::kErase, "/erase", Takes::kNumber, "N", "delete one for good"},
    {A::kImport, "/import", Takes::kFile, "FILE",
     "import conversations from a .md or .json file, also other programs'"},
    {A::kExport, "/export", Takes::kFile, "FILE",
     "write this conversation as .md or .json; all FILE.json: all conversations"},
    {A::kRead, "/read", Takes::kFile, "[FILE]",
     "attach a text file or a PDF to the next message, or those of a folder or src/**/*.h; without FILE: list them"},
    {A::kUnread, "/unread", Takes::kNumber, "[N]", "detach file N from the next message; without N: all"},
    {A::kOpen, "/open", Takes::kFile, "[DIR]",
     "let the model read files below a folder, with your approval; without DIR: list open folders"},
    {A::kTools, "/tools", Takes::kTool, "[NAME [ask|conversation|always|never]]",
     "list tools, or show one, or set whether you are asked before it is called"},
    {A::kPrompt, "/prompt", Takes::kPrompt, "[NAME [VALUES]]",
     "fill in a prompt of the library and edit it as your message; VALUES: text, or name=value; without NAME: list "
     "them"},
    {A::kModel, "/model", Takes::kModel, "[MODEL]", "list models, or change to another one"},
    {A::kDevice, "/device", Takes::kDevice, "[DEVICE]", "list devices, or change to another one"},
    {A::kLaunch, "/launch", Takes::kLaunchMode, "[MODE]", "show the launch mode of a GPU's kernels, or change it"},
    {A::kContext, "/context", Takes::kNumber, "[N]",
     "reload the model with a context of N tokens; without N: show its size"},
    {A::kTrim, "/trim", Takes::kOnOff, "[on|off]",
     "leave the oldest turns out when the context is full (they stay stored)"},
    {A::kAssistant, "/assistant", Takes::kAssistant, "[NAME|none|save NAME]",
     "let an assistant answer, or list them; save: make one of this conversation's settings"},
    {A::kConfig, "/config", Takes::kKey, "[KEY [VALUE]]",
     "keep a setting for new conversations and later starts (VALUE default: no longer), or list them"},
    {A::kSet, "/set", Takes::kSetting, "[NAME [VALUE]]", "change a setting, or show it; without NAME: list them"},
    {A::kShow, "/show", Takes::kNone, "", "show model, device, context and settings"},
    {A::kPerf, "/perf", Takes::kPerf, "[on|off|diff [A B]]",
     "show the last answer's timings and measure kernels from now on; diff: compare two answers"},
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

Error missing_argument(const SlashCommand& command) {
  constexpr struct {
    std::string_view arguments, meaning, example;
  } kMeanings[] = {{"FILE", "a file", "chat.md"},
                   {"N", "a number", "N"},
                   {"TITLE|code N FILE", "a title", "TITLE"},
                   {"N|TITLE", "a number or a title", "N|TITLE"}};
  const std::string name(command.name);
  std::string meaning = "an argument", example(command.arguments);
  for (const auto& row : kMeanings)
    if (row.arguments == command.arguments) meaning = row.meaning, example = row.example;
  return Error(name + " needs " + meaning + ": " + name + " " + example);
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

std::string nearest_slash_command(std::string_view word) {
  std::vector<std::string> names;
  for (const SlashCommand& known : kCommands) names.emplace_back(known.name);
  return nearest_name(word, names);
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
    throw Error("unknown command " + std::string(word) + perhaps_meant(nearest_slash_command(word)) +
                "; /help lists them");
  }
  if (argument.empty() && !command->arguments.empty() && !command->arguments.starts_with('['))
    throw missing_argument(*command);
  if (command->arguments.empty() && !argument.empty())
    throw Error(std::string(command->name) + " takes no argument, found '" + argument + "'");
  return SlashLine{command, argument};
}

}  // namespace warpchat
