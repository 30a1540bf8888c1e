// The tables of all flags, for the parser (options.cpp). CLI11 stays in these two.
#pragma once
#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/settings/options.h"

namespace warpchat {

struct CommandEntry {
  std::string_view name, help;
};
std::span<const CommandEntry> command_entries();     // without a conversation
std::string purpose_of(const std::string& command);  // "chat": a conversation

// Adds a command's flags, which are parsed into `o`.
void add_flags(CLI::App& app, ChatOptions& o);
void add_flags(CLI::App& app, PullOptions& o);
void add_flags(CLI::App& app, EndpointOptions& o);
void add_flags(CLI::App& app, ModelCommandOptions& o);
void add_flags(CLI::App& app, TokenizeOptions& o);
void add_flags(CLI::App& app, GrammarOptions& o);
void add_flags(CLI::App& app, LogitsOptions& o);
void add_flags(CLI::App& app, TemplateOptions& o);
void add_flags(CLI::App& app, PerplexityOptions& o);
void add_flags(CLI::App& app, InspectOptions& o);
void add_flags(CLI::App& app, CompareOptions& o);
void add_flags(CLI::App& app, BenchOptions& o);
void add_flags(CLI::App& app, KernelsOptions& o);
void add_flags(CLI::App& app, ConfigOptions& o);
void add_flags(CLI::App& app, AssistantOptions& o);
void add_flags(CLI::App& app, PromptOptions& o);
void add_flags(CLI::App& app, McpOptions& o);
void add_flags(CLI::App& app, HelpOptions& o);
void add_flags(CLI::App& app, CheckDeviceOptions& o);
void add_general_flags(CLI::App& app, CommonOptions& o);  // of every command
void add_general_flags(CLI::App& app, CompareOptions& o);

// Calls visit with the options of a command as they are without flags.
template <class F>
auto with_options(const std::string& command, const F& visit) {
  if (command == "pull") return visit(PullOptions());
  if (command == "endpoint") return visit(EndpointOptions());
  if (command == "model") return visit(ModelCommandOptions());
  if (command == "tokenize") return visit(TokenizeOptions());
  if (command == "grammar") return visit(GrammarOptions());
  if (command == "logits") return visit(LogitsOptions());
  if (command == "template") return visit(TemplateOptions());
  if (command == "perplexity") return visit(PerplexityOptions());
  if (command == "inspect") return visit(InspectOptions());
  if (command == "compare") return visit(CompareOptions());
  if (command == "bench") return visit(BenchOptions());
  if (command == "kernels") return visit(KernelsOptions());
  if (command == "config") return visit(ConfigOptions());
  if (command == "assistant") return visit(AssistantOptions());
  if (command == "prompt") return visit(PromptOptions());
  if (command == "mcp") return visit(McpOptions());
  if (command == "help") return visit(HelpOptions());
  if (command == "check-device") return visit(CheckDeviceOptions());
  return visit(ChatOptions());
}

std::string with_blanks(const std::vector<std::string>& words);  // between them
std::vector<std::string> words_of(CLI::Option& option);          // that it takes; empty: not a few

}  // namespace warpchat
