// The commands of the program: each takes its options and returns an exit code, or throws.
#pragma once
#include "app/settings/options.h"

namespace warpchat {

int run_command(const ChatOptions& options);
int run_command(const PullOptions& options);
int run_command(const EndpointOptions& options);
int run_command(const ModelCommandOptions& options);
int run_command(const TokenizeOptions& options);
int run_command(const GrammarOptions& options);
int run_command(const LogitsOptions& options);
int run_command(const TemplateOptions& options);
int run_command(const PerplexityOptions& options);
int run_command(const InspectOptions& options);
int run_command(const CheckDeviceOptions& options);
int run_command(const CompareOptions& options);
int run_command(const BenchOptions& options);
int run_command(const KernelsOptions& options);
int run_command(const AssistantOptions& options);
int run_command(const PromptOptions& options);
int run_command(const ConfigOptions& options);
int run_command(const McpOptions& options);
int run_command(const HelpOptions& options);

int list_local_models(const ModelFlags& flags, bool as_json);  // for --list-models, too

}  // namespace warpchat
