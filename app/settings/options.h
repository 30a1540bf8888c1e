// What the command line asks for, one struct a command, and the parser that fills them.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "app/platform/usage_error.h"
#include "app/settings/answer_choices.h"
#include "app/settings/settings_file.h"
#include "engine/answer_form.h"

namespace warpchat {

struct CommonOptions {  // of every command
  std::string device;   // empty: the default
  bool list_devices = false;
  std::string log_file;
  bool operator==(const CommonOptions&) const = default;
};

struct ModelFlags : CommonOptions {  // of every command that loads a model
  std::string model;                 // empty: see resolve_model
  uint32_t threads = 0;
  int32_t context = -1;  // -1: the model's own, at most 8192; 0: the model's own
  uint32_t batch = 2048, micro_batch = 512;
  std::string cache_type_k = "f16", cache_type_v = "f16";
  uint32_t cache_ram = 0;                 // MiB
  std::string launch = "auto";            // how kernels are launched on a GPU
  bool no_device_check = false;           // a GPU is used without, or against, its check
  std::string profile;                    // FILE for a trace; empty: none
  std::optional<uint32_t> layers_on_gpu;  // llama.cpp's -ngl: all of them, or it is refused
  bool operator==(const ModelFlags&) const = default;
};

struct FormFlags {  // one of them at most
  std::optional<std::string> schema, schema_file, grammar, grammar_file;
  bool operator==(const FormFlags&) const = default;
};

struct ToolFlags {
  std::string mcp_config;                 // FILE with the servers; empty: the default one
  bool no_mcp = false;                    // no server
  bool tools = false;                     // the program's own, without opened folders
  std::vector<std::string> open_folders;  // which the program's own tools may read
  std::string approve = "none";
  uint32_t max_tool_rounds = 16;
  bool no_tool_grammar = false;  // arguments need not keep to their schemas
  bool operator==(const ToolFlags&) const = default;
};

struct ChatOptions : ModelFlags,
                     AnswerChoices,
                     FormFlags,
                     ToolFlags {  // the choices: of the command line, above a conversation's
  std::optional<std::string> prompt;
  std::vector<std::string> prompt_files;  // before it, in this order
  std::string system_prompt;
  std::string assistant;  // its name; empty: none
  bool raw = false, parse_special = false;
  bool no_drafts = false;  // decode token by token
  bool json = false;       // one answer as a JSON object
  bool escapes = false;    // \n and the like in -p are read
  bool converse = false;   // asked for by name, so that a prompt contradicts it
  std::string chat_template, chat_template_file, template_variables;  // the last: a JSON object
  bool hide_thinking = false, verbose = false, no_word_wrap = false, plain = false;
  std::optional<bool> titles;         // by the model; nullopt: in the window
  bool no_history = false;            // keep neither conversations nor typed lines
  bool offline = false;               // no network
  std::string endpoint;               // NAME or URL of the machine that answers; empty: this one
  std::string api_key_env;            // the variable with its key; empty: the endpoint's own, if any
  std::optional<std::string> resume;  // a stored conversation's number or title; "": the last one
  bool list_models = false;
  bool yes = false;       // fetches a model without asking
  uint32_t parallel = 1;  // conversations at once
  bool gui = false;       // in a window
  std::string gui_state;  // FILE for what the window shows, for tests; empty: none

  AnswerForm form = {};             // that the flags give, read once, because a file may be a pipe
  bool draws_seed = false;          // kept_choices.seed is a random one
  AnswerChoices assistant_choices;  // of `assistant`, between a conversation's and the settings file's
  AnswerChoices kept_choices;       // of the settings file, below a conversation's
  std::string kept_system_prompt;   // the same; system_prompt has the assistant's or a flag's, if there is one
  std::optional<std::string> assistant_prompt;  // the assistant's own
  std::set<std::string> kept;                   // flags whose values are the settings file's, without dashes
  std::vector<std::string> complaints;          // about the settings file, a sentence each
  // Whether a flag on the command line gave the key's value.
  bool is_flag(const std::string& key, const std::string& value) const { return !value.empty() && !kept.contains(key); }
  bool operator==(const ChatOptions&) const = default;
};

struct PullOptions : CommonOptions {
  std::vector<std::string> words;  // one name, or what to search for
  bool offline = false;
};

struct EndpointOptions : CommonOptions {
  std::string action = "list", name, url, model;
  std::string api_key_env;
  bool key_from_stdin = false;
};

struct ModelCommandOptions : CommonOptions {
  std::string action = "list", name, target;  // name: of a model, an alias or a folder; target: of an alias
  bool json = false, yes = false;
};

struct TokenizeOptions : CommonOptions {
  std::string model;
  std::optional<std::string> text;
  std::optional<std::string> file;
  bool null_separated = false;
};

struct GrammarOptions : CommonOptions, FormFlags {
  std::optional<std::string> check;  // FILE with a text; "": standard input
  bool lines = false;                // a text a line
  bool bench = false;
  std::string model;  // whose vocabulary is measured
};

struct LogitsOptions : ModelFlags {
  std::vector<int64_t> tokens;
  std::string output;
  bool token_by_token = false;
};

struct TemplateOptions : CommonOptions {
  std::string model, template_file, messages_file;
};

struct PerplexityOptions : ModelFlags {
  std::string file;
};

struct InspectOptions : CommonOptions {
  std::string model;
  bool json = false;
};

struct CheckDeviceOptions : CommonOptions {};

struct CompareOptions : ModelFlags {           // device and launch: each device's, out of these
  std::vector<std::string> devices, launches;  // two; none, one of both, or one each
  std::optional<std::string> prompt, prompt_file;
  uint32_t n_decode = 8;  // of the text's tokens, the last
  std::optional<double> bound;
  bool json = false;
};

struct BenchOptions : ModelFlags {
  std::vector<uint32_t> n_prompt = {512}, n_generate = {128}, depth = {0};
  uint32_t repetitions = 5;
  uint32_t parallel = 1;  // sequences decoded side by side
  std::string format = "md";
};

struct KernelsOptions : CommonOptions {
  std::string model, shape;  // one of them
  std::string target = "sm_90";
  std::string ptx_folder;  // empty: no texts
  uint32_t context = 0;    // 0: the model's own, at most 8192
};

struct ConfigOptions : CommonOptions {
  std::vector<std::string> words;  // KEY, or KEY VALUE
  bool unset = false, json = false;
};

struct AssistantOptions : CommonOptions {
  std::string action = "list", name, file, new_name;  // file: of copy and rename, the other name
  std::vector<std::string> flags;                     // of a conversation, for "add"
};

struct PromptOptions : CommonOptions {
  std::string action = "list", name;
  std::vector<std::string> words;   // a text to add, or values
  std::optional<std::string> file;  // with the text to add
  bool json = false;
};

struct McpOptions : CommonOptions {
  std::string action = "list", server;  // server: for "tools"; empty: all
  std::string mcp_config;               // FILE with the servers; empty: the default one
};

struct HelpOptions : CommonOptions {
  std::string command;  // empty: a conversation
  std::string format;   // of all commands: man, bash, zsh or fish; empty: help of one for people
};

using Options =
    std::variant<ChatOptions, PullOptions, EndpointOptions, ModelCommandOptions, TokenizeOptions, GrammarOptions,
                 LogitsOptions, TemplateOptions, PerplexityOptions, InspectOptions, CheckDeviceOptions, CompareOptions,
                 BenchOptions, KernelsOptions, ConfigOptions, AssistantOptions, PromptOptions, McpOptions, HelpOptions>;

struct ParsedOptions {
  std::optional<Options> options;  // of --help: those of the command that shows it; nullopt: `text` answers (--version)
  std::string text;
};

// arguments: without the program's name. UsageError for anything that is not understood. kept: called for a
// conversation; what the settings file and this assistant (empty: none) say, for flags that are not given.
using KeptOptions = std::function<ChatOptions(const std::string& assistant)>;
ParsedOptions parse_options(
    std::vector<std::string> arguments, const KeptOptions& kept = [](const std::string&) { return ChatOptions(); });

// A flag of a conversation that can be kept in the settings file.
struct SettingsKey {
  enum class Kind { kSwitch, kNumber, kText, kJson };  // of its value there
  std::string name;                                    // the flag without dashes
  std::string help;
  std::vector<std::string> words;  // values to choose from; empty: not a few
  Kind kind;
};
const std::vector<SettingsKey>& settings_keys();

// Why a flag that exists is no key; empty: it is one, or there is no such flag.
std::string reason_against_key(const std::string& name);

// The keys that flags of a conversation set, spelled as rewrite_arguments leaves them, and their values. UsageError for
// flags of one run and other words.
TypedSettings settings_of_flags(const std::vector<std::string>& arguments);

// Sets the field of a key's flag as the command line would. UsageError for a value that does not fit.
void set_by_key(ChatOptions& options, const std::string& key, const std::string& value);

// Commands and flags as data, from the option tables: for their help (app/commands/help/command_help.h).
struct FlagHelp {
  std::string group;
  std::vector<std::string> names;  // as they are typed, dashes included; empty: an argument without a flag
  std::string value;               // label of the value, or the argument's name; empty: a switch
  std::string help;
  std::vector<std::string> words;  // values to choose from; empty: not a few
  bool repeats = false;            // may be given several times
};

struct CommandHelp {
  std::string name;     // "chat" for a conversation, which is no command
  std::string purpose;  // begins with a small letter, ends without a full stop
  std::vector<FlagHelp> flags;
};

// All commands and their flags, a conversation first.
std::vector<CommandHelp> command_help();

}  // namespace warpchat
