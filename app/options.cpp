// The flags of every command, in groups as --help shows them. CLI11 stays in this file.
#include "app/options.h"

#include <CLI/CLI.hpp>
#include <cctype>
#include <functional>
#include <ranges>
#include <type_traits>

#include "app/arguments.h"
#include "app/foreign_flags.h"
#include "app/nearest_name.h"
#include "app/output.h"
#include "app/parse_number.h"
#include "app/program_name.h"
#include "app/version.h"
#include "models/ascii.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

struct CommandEntry {
  std::string_view name, help;
};
constexpr CommandEntry kCommandEntries[] = {
    {"pull", "fetch a model from a hub into the cache that other programs share"},
    {"endpoint", "manage named servers: add, list, remove"},
    {"model", "manage the models on this machine: list, show, remove, aliases, folders"},
    {"tokenize", "print the token ids of a text"},
    {"template", "print the prompt that a chat template makes of messages"},
    {"logits", "write the logits of given tokens to a file"},
    {"perplexity", "measure how well a model predicts a text"},
    {"inspect", "list a model file's metadata and tensors"},
    {"check-device", "check that a GPU computes correct results"},
    {"compare", "compare two devices step by step, and name where they first differ"},
    {"bench", "measure tokens per second, as llama-bench does"},
    {"kernels", "list the GPU kernels of a model, and write their PTX"},
    {"assistant", "manage assistants: list, show, add, remove, export, import"},
    {"config", "show and change the settings that stay, in config.json"},
    {"help", "show the help of a command, or write a man page or a completion script"},
};

template <class T>
struct NumberOf {
  using type = T;
};
template <class T>
struct NumberOf<std::optional<T>> {
  using type = T;
};
template <class T>
struct NumberOf<std::vector<T>> {
  using type = T;
};

// Returns the end of a sentence that begins with the flag's name; empty: the word is valid.
template <class T>
CLI::Validator number_between(double from, double to) {
  const auto check = [from, to](std::string& text) -> std::string {
    try {
      parse_number<typename NumberOf<T>::type>(text, from, to);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  return CLI::Validator(check, "");
}

constexpr char kWordsValidator[] =
    "words";  // name of a validator whose description lists the words, separated by blanks

std::string with_blanks(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

CLI::Validator one_of(const std::vector<std::string>& words) {
  const auto check = [words](std::string& text) -> std::string {
    if (std::ranges::find(words, text) != words.end()) return "";
    std::string list;
    for (size_t i = 0; i < words.size(); ++i) list += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
    return "takes " + list + ", found '" + text + "'";
  };
  return CLI::Validator(check, with_blanks(words), kWordsValidator);
}

// Words for a shell to offer; other values are possible or checked later.
CLI::Validator such_as(const std::vector<std::string>& words) {
  return CLI::Validator([](std::string&) { return std::string(); }, with_blanks(words), kWordsValidator);
}

template <class T>
CLI::Option* number(CLI::App& app, const std::string& names, T& value, const std::string& help, double from,
                    double to = kNoUpperBound) {
  return app.add_option(names, value, help)->check(number_between<T>(from, to))->option_text("N");
}

template <class T>
CLI::Option* text(CLI::App& app, const std::string& names, T& value, const std::string& label,
                  const std::string& help) {
  return app.add_option(names, value, help)->option_text(label);
}

// Rejects a value for a switch; CLI11 would read --verbose=3 as --verbose.
const CLI::Validator& no_value() {
  static const CLI::Validator check(
      [](std::string& text) { return text == "true" ? "" : "takes no value, found '" + text + "'"; }, "");
  return check;
}

// --verbose=false turns off what the settings file turns on.
void toggle(CLI::App& app, const std::string& names, bool& value, const std::string& help) {
  static const CLI::Validator check(
      [](std::string& text) {
        return text == "true" || text == "false" ? "" : "takes no value but =true or =false, found '" + text + "'";
      },
      "");
  app.add_flag(names, value, help)->check(check);
}

// Texts of the user: a second one does not replace the first without a word.
template <class T>
CLI::Option* single_text(CLI::App& app, const std::string& names, T& value, const std::string& label,
                         const std::string& help) {
  return text(app, names, value, label, help)->multi_option_policy(CLI::MultiOptionPolicy::Throw);
}

// An option that may be given several times, with a value each time.
CLI::Option* repeated(CLI::App& app, const std::string& names, std::vector<std::string>& values,
                      const std::string& label, const std::string& help) {
  return app.add_option(names, values, help)->take_all()->allow_extra_args(false)->option_text(label);
}

void add_device(CLI::App& app, CommonOptions& o) {
  text(app, "--device", o.device, "NAME",
       "where to compute: cpu, cuda, cuda:N, emulator[:sm_XX]; default: a GPU, else the CPU")
      ->check(such_as({"cpu", "cuda", "emulator"}));
}

void add_device(CLI::App& app, CompareOptions& o) {
  repeated(app, "--device", o.devices, "NAME", "twice, one device each: cpu, cuda, cuda:N, emulator[:sm_XX]")
      ->check(such_as({"cpu", "cuda", "emulator"}));
}

template <class T>
void add_common(CLI::App& app, T& o) {
  app.option_defaults()->group("General");
  add_device(app, o);
  toggle(app, "--list-devices", o.list_devices, "list this machine's devices and exit");
  text(app, "--log-file", o.log_file, "FILE", "append a log (never message texts)");
  app.set_help_flag("-h,--help", "show this help and exit");
}

void add_model(CLI::App& app, std::string& model) {
  app.option_defaults()->group("Model");
  text(app, "-m,--model", model, "MODEL",
       "a GGUF file, part of the name of one in the model folders, an alias, or org/repo[:QUANT] or an address of the "
       "hub; default: the model used last, or the only one found");
}

void add_launch(CLI::App& app, ModelFlags& o) {
  text(app, "--launch", o.launch, "MODE",
       "how a GPU's kernels are launched: stream, graph, persistent (batches: as graphs) or auto; default auto: the "
       "fastest")
      ->check(such_as({"auto", "stream", "graph", "persistent"}));
}

void add_launch(CLI::App& app, CompareOptions& o) {
  repeated(app, "--launch", o.launches, "MODE",
           "how a GPU's kernels are launched: stream, the default; graph or persistent, which compare only "
           "logits; once for both devices, or twice in their order")
      ->check(one_of({"stream", "graph", "persistent"}));
}

template <class T>
void add_model_flags(CLI::App& app, T& o, const std::string& context_help) {
  add_model(app, o.model);
  if (!context_help.empty()) number(app, "-c,--ctx-size", o.context, context_help, 0);
  number(app, "-t,--threads", o.threads,
         "CPU threads; default: one per core (only performance cores where there are two kinds)", 1, 1024);
  number(app, "-b,--batch-size", o.batch, "prompt tokens submitted at once; default 2048", 1, 1 << 20);
  number(app, "--ubatch-size", o.micro_batch,
         "prompt tokens computed in one pass; default 512; fewer if a pass would take longer than 1/6 s", 1, 1 << 20);
  text(app, "--cache-type-k", o.cache_type_k, "TYPE",
       "format of the KV cache's keys: f16, the default; q8_0, half as large; or f32, twice as large and exact")
      ->check(such_as({"f16", "q8_0", "f32"}));
  text(app, "--cache-type-v", o.cache_type_v, "TYPE", "format of the KV cache's values: f16, q8_0 or f32")
      ->check(such_as({"f16", "q8_0", "f32"}));
  number(app, "--cache-ram", o.cache_ram,
         "MiB of KV cache that all conversations share; default and minimum: the size of one context", 0, 1 << 30);
  add_launch(app, o);
  toggle(app, "--no-device-check", o.no_device_check,
         "use a GPU that was never checked or failed its check (see " + program_name() + " check-device)");
  app.option_defaults()->group("");
  number(app, "--layers-on-gpu", o.layers_on_gpu, "-ngl", 1);
  app.option_defaults()->group("Model");
  text(app, "--profile", o.profile, "FILE", "write a trace for Perfetto at the end, and a summary as FILE.md");
}

void add_sampling(CLI::App& app, AnswerChoices& o) {
  app.option_defaults()->group("Sampling (flags beat the model file, which beats the defaults)");
  number(app, "--temp", o.temperature, "temperature; 0: always the likeliest token; default 0.8", 0, 100);
  number(app, "--top-k", o.top_k, "keep the k likeliest tokens; 0: all; default 40", 0);
  number(app, "--top-p", o.top_p, "keep the likeliest tokens of this total probability; default 0.95", 0, 1);
  number(app, "--min-p", o.min_p, "drop tokens less likely than this share of the best; default 0.05", 0, 1);
  number(app, "--repeat-penalty", o.repeat_penalty, "penalise recent tokens; 1: off, the default", 0.01, 100);
  number(app, "--repeat-last-n", o.repeat_last_n, "how many tokens are recent; default 64", 0);
  number(app, "--presence-penalty", o.presence_penalty, "subtract once from recent tokens' logits; default 0", -100,
         100);
  number(app, "--frequency-penalty", o.frequency_penalty, "subtract per occurrence; default 0", -100, 100);
  number(app, "-s,--seed", o.seed, "seed of the sampler; -1, the default: a new one each start", -1,
         9007199254740992.0);
}

void add_chat(CLI::App& app, ChatOptions& o) {
  app.option_defaults()->group("Conversation");
  single_text(app, "-p,--prompt", o.prompt, "TEXT",
              "answer this and exit, as a question without a flag does; piped standard input comes before it");
  repeated(app, "-f,--file", o.prompt_files, "FILE",
           "a prompt from a file; comes before -p; a folder, or a pattern in quotes such as 'src/**/*.h': all text "
           "files there");
  single_text(app, "--system-prompt", o.system_prompt, "TEXT", "the system message; default: none");
  text(app, "--assistant", o.assistant, "NAME",
       "a system message and settings by name; see '" + program_name() + " assistant'");
  number(app, "-n,--n-predict", o.n_predict, "longest answer in tokens; -1, the default: no limit", -1);
  toggle(app, "--raw", o.raw, "complete the prompt without a chat template");
  toggle(app, "-e,--escape", o.escapes, "read \\n, \\t, \\\\ and the like in -p; default: they are text");
  toggle(app, "--json", o.json, "print one answer as a JSON object, with its reasoning, usage and timings");
  toggle(app, "--parse-special", o.parse_special,
         "read <|im_end|> and other control tokens in messages, too; default: as plain text");
  toggle(app, "--no-drafts", o.no_drafts,
         "no speculative decoding where an answer repeats earlier text: the same answer, slower");
  text(app, "--chat-template", o.chat_template, "JINJA", "a template instead of the model's: its text, or 'chatml'");
  text(app, "--chat-template-file", o.chat_template_file, "FILE", "the same from a file");
  text(app, "--chat-template-kwargs", o.template_variables, "JSON", "variables for the template: {\"name\": value}");
  app.add_option_function<std::vector<std::string>>(
         "--resume", [&o](const std::vector<std::string>& wanted) { o.resume = wanted.empty() ? "" : wanted.back(); },
         "continue the last conversation, or the one with this number in /list or this title; with a prompt: by one "
         "answer, which is stored")
      ->expected(0, 1)
      ->allow_extra_args(false)
      ->option_text("[N|TITLE]");
  toggle(app, "--no-history", o.no_history, "store neither the conversation nor typed lines on disk");
  app.add_flag_callback(
         "--titles", [&o] { o.titles = true; },
         "let the model name a conversation after its first answer; default: in the window")
      ->check(no_value());
  app.add_flag_callback(
         "--no-titles", [&o] { o.titles = false; }, "name a conversation after its first line")
      ->check(no_value());
  toggle(app, "--gui", o.gui, "open a window instead of using the terminal");
  text(app, "--gui-state", o.gui_state, "FILE", "for tests: what the window shows as JSON, after each frame");
  app.option_defaults()->group("");
  toggle(app, "--converse", o.converse, "-cnv");
  app.option_defaults()->group("Thinking and display");
  app.add_flag_callback(
         "--think", [&o] { o.think = true; }, "let the model think first; default: its template's choice")
      ->check(no_value());
  app.add_flag_callback(
         "--no-think", [&o] { o.think = false; }, "turn thinking off")
      ->check(no_value());
  toggle(app, "--hide-thinking", o.hide_thinking, "do not show its reasoning");
  toggle(app, "--no-wordwrap", o.no_word_wrap, "let the terminal break lines");
  toggle(app, "--plain", o.plain, "for a screen reader: no redrawing, no colours, roles in words");
  toggle(app, "--verbose", o.verbose, "after each answer show timings and the profile on standard error");
  add_model_flags(app, o, "context in tokens; 0: the maximum of the model; default: that maximum, at most 8192");
  app.option_defaults()->group("Server (OpenAI-compatible: vLLM, SGLang, llama-server, Ollama, ...)");
  text(app, "--endpoint", o.endpoint, "NAME|URL",
       "a server to answer, with its model -m: http://host:8000, or a name from '" + program_name() + " endpoint add'");
  text(app, "--api-key-env", o.api_key_env, "VAR", "the environment variable with its API key");
  app.option_defaults()->group("Model");
  toggle(app, "--list-models", o.list_models,
         "list the models that -m can name here, or at the endpoint, and exit; with --json as JSON");
  toggle(app, "--yes", o.yes, "download the model that -m names without asking");
  toggle(app, "--offline", o.offline, "use no network; HF_HUB_OFFLINE=1 turns off model downloads alone");
  number(app, "--parallel", o.parallel, "accepted for scripts; only 1", 1, 1 << 16);
  add_sampling(app, o);
  app.option_defaults()->group("General");
  app.set_version_flag("--version", program_name() + " " + kVersion, "show the version and exit");
}

void add_pull(CLI::App& app, PullOptions& o) {
  app.option_defaults()->group("Model");
  app.add_option("NAME", o.words,
                 "org/repo[:QUANT] on the hub, QUANT: Q4_K_M by default; words: search the hub; "
                 "nothing: list models that suit this machine")
      ->option_text(" ");
  toggle(app, "--offline", o.offline, "use no network");
}

void add_endpoint(CLI::App& app, EndpointOptions& o) {
  app.option_defaults()->group("Task");
  app.add_option("ACTION", o.action, "add NAME URL, list (the default), or remove NAME")
      ->check(one_of({"add", "list", "remove"}))
      ->option_text(" ");
  app.add_option("NAME", o.name, "its name for --endpoint")->option_text(" ");
  app.add_option("URL", o.url, "http://host:8000, https://host/path/v1, ...")->option_text(" ");
  text(app, "-m,--model", o.model, "NAME", "the model that answers if none is named");
  text(app, "--api-key-env", o.api_key_env, "VAR", "the environment variable with its API key");
  toggle(app, "--key-from-stdin", o.key_from_stdin,
         "read its API key from standard input; stored in the keyring, else in a file that only you can read");
}

void add_model_command(CLI::App& app, ModelCommandOptions& o) {
  app.option_defaults()->group("Task");
  app.add_option("ACTION", o.action,
                 "list (the default), show MODEL, remove MODEL, alias [NAME [MODEL]], folders, add-folder FOLDER, or "
                 "remove-folder FOLDER")
      ->check(one_of({"list", "show", "remove", "alias", "folders", "add-folder", "remove-folder"}))
      ->option_text(" ");
  app.add_option("NAME", o.name, "a model as -m names it, an alias, or a folder")->option_text(" ");
  app.add_option("MODEL", o.target, "the model that an alias means; nothing: the alias is removed")->option_text(" ");
  toggle(app, "--json", o.json, "list, show: as JSON");
  toggle(app, "--yes", o.yes, "remove without asking");
}

void add_tokenize(CLI::App& app, TokenizeOptions& o) {
  add_model(app, o.model);
  app.option_defaults()->group("Input");
  app.add_option("TEXT", o.text, "the text; default: standard input")->option_text(" ");
  text(app, "-f,--file", o.file, "FILE", "a file with the text");
  toggle(app, "--null", o.null_separated, "the input is records separated by NUL; one line of ids each");
}

void add_logits(CLI::App& app, LogitsOptions& o) {
  add_model_flags(app, o, "");
  app.option_defaults()->group("Task");
  app.add_option("--tokens", o.tokens, "token ids of one sequence from position 0")
      ->take_all()
      ->delimiter(',')
      ->check(number_between<std::vector<int64_t>>(0, kNoUpperBound))
      ->required()
      ->option_text("ID,ID,...");
  app.add_option("-o,--output", o.output, "float32 [n_tokens, n_vocab], row-major")->required()->option_text("FILE");
  toggle(app, "--one-by-one", o.token_by_token, "decode token by token instead of one prefill");
}

void add_template(CLI::App& app, TemplateOptions& o) {
  add_model(app, o.model);
  app.option_defaults()->group("Task");
  text(app, "--template", o.template_file, "FILE", "a Jinja template instead of a model's");
  app.add_option("--messages", o.messages_file,
                 "object with messages, optionally tools and add_generation_prompt; other keys are variables")
      ->required()
      ->option_text("FILE.json");
}

void add_perplexity(CLI::App& app, PerplexityOptions& o) {
  o.context = 512;
  add_model_flags(app, o, "tokens per window, of which the second half is scored; default 512");
  app.option_defaults()->group("Task");
  app.add_option("-f,--file", o.file, "the text")->required()->option_text("FILE");
}

void add_inspect(CLI::App& app, InspectOptions& o) {
  add_model(app, o.model);
  app.add_option("MODEL", o.model, "the same without -m")->option_text(" ");
  app.option_defaults()->group("Output");
  toggle(app, "--json", o.json, "as one JSON object");
}

void add_compare(CLI::App& app, CompareOptions& o) {
  add_model_flags(app, o, "");
  app.remove_option(app.get_option("--profile"));  // nothing is measured
  app.option_defaults()->group("Task");
  single_text(app, "-p,--prompt", o.prompt, "TEXT", "the text to compute; default: two sentences");
  single_text(app, "-f,--file", o.prompt_file, "FILE", "the same from a file");
  number(app, "-n,--n-decode", o.n_decode,
         "how many of the text's last tokens are decoded one at a time; default 8, at most half", 0);
  number(app, "--bound", o.bound,
         "largest allowed difference, relative to a vector's norm; default 0.01; logits with a q8_0 cache: 0.05", 0, 1);
  toggle(app, "--json", o.json, "print the result as a JSON object");
}

void add_bench(CLI::App& app, BenchOptions& o) {
  add_model_flags(app, o, "");
  app.option_defaults()->group("Tests (lists: 128,512)");
  const auto list = [&](const std::string& names, std::vector<uint32_t>& values, const std::string& help) {
    app.add_option(names, values, help)
        ->take_all()
        ->delimiter(',')
        ->check(number_between<std::vector<uint32_t>>(0, 1e6))
        ->option_text("N,...");
  };
  list("-p,--n-prompt", o.n_prompt, "prompt tokens to compute; 0: none; default 512");
  list("-n,--n-gen", o.n_generate, "tokens to decode; 0: none; default 128");
  list("-d,--n-depth", o.depth, "tokens already in the cache; default 0");
  number(app, "--parallel", o.parallel, "sequences that -n decodes side by side; default 1", 1, 256);
  number(app, "-r,--repetitions", o.repetitions, "runs of each test after a warm-up; default 5", 1, 10000);
  app.add_option("-o,--output", o.format, "md, csv, json or jsonl; default md")
      ->check(one_of({"md", "csv", "json", "jsonl"}))
      ->option_text("FORMAT");
}

void add_kernels(CLI::App& app, KernelsOptions& o) {
  add_model(app, o.model);
  text(app, "--shape", o.shape, "NAME",
       "a known model's shape in Q4_K_M instead of a file: qwen2.5-0.5b, qwen2.5-1.5b, qwen2.5-3b, qwen2.5-7b, "
       "qwen3-0.6b, qwen3-1.7b, qwen3-4b, qwen3-30b-a3b, qwen3.5-4b, qwen3.5-9b, qwen3.5-27b, qwen3.5-35b-a3b");
  number(app, "-c,--ctx-size", o.context, "context in tokens; default: the model's own, at most 8192", 1);
  app.option_defaults()->group("Output");
  text(app, "--target", o.target, "sm_XX", "the GPU architecture, sm_75 to sm_120; default sm_90");
  text(app, "--ptx", o.ptx_folder, "FOLDER", "write their PTX to FOLDER/token.ptx, few.ptx, batch.ptx and prompt.ptx");
}

void add_config(CLI::App& app, ConfigOptions& o) {
  app.option_defaults()->group("Task");
  app.add_option("KEY", o.words,
                 "a flag's long name: shows its value; KEY VALUE: keeps it for later starts; nothing: lists all keys")
      ->expected(0, 2)
      ->option_text(" ");
  toggle(app, "--unset", o.unset, "remove KEY, so that the default holds again");
  toggle(app, "--json", o.json, "list what is kept as a JSON object");
}

void add_assistant(CLI::App& app, AssistantOptions& o) {
  app.option_defaults()->group("Task");
  app.add_option(
         "ACTION", o.action,
         "list (the default), show NAME, add NAME and flags of a conversation, remove NAME, export NAME FILE, or "
         "import FILE, also an Ollama Modelfile or llama.cpp's presets")
      ->check(one_of({"list", "show", "add", "remove", "export", "import"}))
      ->option_text(" ");
  app.add_option("NAME", o.name, "its name for --assistant")->option_text(" ");
  app.add_option("FILE", o.file, "the file")->option_text(" ");
  text(app, "--name", o.new_name, "NAME", "import it under this name; default: the file's");
}

void add_help(CLI::App& app, HelpOptions& o) {
  app.option_defaults()->group("Task");
  std::vector<std::string> names;
  for (const CommandEntry& entry : kCommandEntries) names.emplace_back(entry.name);
  app.add_option("COMMAND", o.command, "the command; default: a conversation")->check(such_as(names))->option_text(" ");
  app.add_option("--format", o.format, "all commands and flags for other programs: man, bash, zsh or fish")
      ->check(one_of({"man", "bash", "zsh", "fish"}))
      ->option_text("FORMAT");
}

std::vector<std::string> words_of(CLI::Option& option) {
  try {
    return CLI::detail::split_up(option.get_validator(kWordsValidator)->get_description());
  } catch (const CLI::OptionNotFound&) {
    return {};
  }
}

FlagHelp flag_help(CLI::Option& option) {
  FlagHelp flag{.group = option.get_group(), .help = option.get_description(), .words = words_of(option)};
  for (const std::string& name : option.get_snames()) flag.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) {
    const std::string_view spelling = short_spelling("--" + name);
    if (!spelling.empty()) flag.names.emplace_back(spelling);
    flag.names.push_back("--" + name);
  }
  if (flag.names.empty())
    flag.value = option.get_name(/*positional=*/true);
  else if (option.get_items_expected_max() > 0)
    flag.value = option.get_option_text();
  flag.repeats = option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
  return flag;
}

CommandHelp help_of(CLI::App& app, const std::string& command) {
  CommandHelp help{command, app.get_description(), {}};
  for (CLI::Option* option : app.get_options({}))
    if (!option->get_group().empty()) help.flags.push_back(flag_help(*option));
  return help;
}

std::string one_sentence(std::string text) {
  for (char& c : text)
    if (c == '\n') c = ' ';
  while (text.ends_with('.') || text.ends_with(' ')) text.pop_back();
  if (text.size() > 1 && !std::isupper(static_cast<unsigned char>(text[1])))
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

std::string help_hint(const std::string& command) {
  return program_name() + (command == "chat" ? "" : " " + command) + " --help";
}

struct ForeignCommand {
  std::string_view name, instead;
};
constexpr ForeignCommand kForeignCommands[] = {
    // commands of Ollama and others
    {"run", "{chat} -m MODEL starts a conversation, {chat} -m MODEL -p TEXT answers once"},
    {"list", "{chat} model list lists the models on this machine"},
    {"ls", "{chat} model list lists the models on this machine"},
    {"show", "{chat} model show MODEL describes a model"},
    {"serve", "Warpchat is no server; --endpoint URL talks to one"},
    {"rm", "{chat} model remove MODEL removes a model from the disk"},
};

std::vector<std::string> flags_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options({}))
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

std::vector<std::string> commands_of_program() {
  std::vector<std::string> names;
  for (const CommandEntry& entry : kCommandEntries) names.emplace_back(entry.name);
  return names;
}

UsageError model_without_flag(const std::string& file) {
  return UsageError("name a model with -m: " + program_name() + " -m " + file);
}

// Whether words of the command line that no flag takes may be a question.
enum class WordsAre { kUnexpected, kPerhapsQuestion };

UsageError unexpected_argument(const std::string& argument, const std::string& command, const CLI::App& app,
                               WordsAre words) {
  if (argument.ends_with(".gguf")) return model_without_flag(argument);
  const bool flag = argument.starts_with('-');
  std::string meant = nearest_name(argument, flag ? flags_of(app) : commands_of_program());
  if (!flag && !meant.empty()) meant = program_name() + " " + meant;
  return UsageError((flag ? "unknown flag " : "unexpected argument '") + argument + (flag ? "" : "'") +
                    perhaps_meant(meant) + "; " + help_hint(command) + " lists what there is" +
                    (words == WordsAre::kPerhapsQuestion ? "; a question goes in quotes" : ""));
}

// The first word of a question is no name of a command or model, nor one with a typing error: what was meant is
// unclear.
void require_no_name(const std::string& word) {
  const std::string question = "; a question that begins so goes behind --: " + program_name() + " -- QUESTION";
  for (const CommandEntry& entry : kCommandEntries)
    if (word == entry.name)
      throw UsageError("the command comes first: " + program_name() + " " + word + " and then its flags" + question);
  for (const ForeignCommand& foreign : kForeignCommands)
    if (word == foreign.name)
      throw UsageError("unknown command " + word + "; " + with_program_name(foreign.instead) + question);
  if (word.ends_with(".gguf")) throw model_without_flag(word);
  for (const CommandEntry& entry : kCommandEntries)
    if (letters_apart(lower_case(word), entry.name) <= 1)
      throw UsageError("unknown command " + word + perhaps_meant(program_name() + " " + std::string(entry.name)) +
                       question);
}

template <class T>
void read_extras(const std::vector<std::string>& extras, const std::string& command, const CLI::App& app, T&) {
  if (!extras.empty())
    throw unexpected_argument(
        extras.front(), command, app,
        extras.size() > 1 && !extras.front().starts_with('-') ? WordsAre::kPerhapsQuestion : WordsAre::kUnexpected);
}

// The words are the prompt, as behind -p. A question in quotes is one word here; words behind "--" are no names.
void read_extras(const std::vector<std::string>& extras, const std::string& command, const CLI::App& app,
                 ChatOptions& options) {
  const auto mark = std::ranges::find(extras, "--");
  const auto flag = std::find_if(extras.begin(), mark, [](const std::string& word) { return word.starts_with('-'); });
  if (flag != mark)
    throw unexpected_argument(*flag, command, app,
                              flag == extras.begin() ? WordsAre::kUnexpected : WordsAre::kPerhapsQuestion);
  if (mark != extras.begin()) require_no_name(extras.front());
  std::vector<std::string> words(extras.begin(), mark);
  if (mark != extras.end()) words.insert(words.end(), mark + 1, extras.end());
  if (words.empty()) return;
  const std::string question = with_blanks(words);
  if (options.prompt)
    throw UsageError("both -p and '" + printable(question, 60) +
                     "' ask a question; give one of them, with all of its text");
  options.prompt = question;
}

// Translates CLI11's errors into our wording.
UsageError usage_error(const CLI::App& app, const CLI::ParseError& error, const std::string& command) {
  const std::string text = error.what(), name = text.substr(0, text.find(':'));
  const std::string see = "; see " + help_hint(command);
  if (const CLI::Option* option = app.get_option_no_throw(name); option != nullptr && text != name) {
    if (error.get_name() == "ValidationError") return UsageError(name + text.substr(name.size() + 1) + see);
    if (error.get_name() == "ArgumentMismatch" && option->results().size() > 1)
      return UsageError(name + " is given twice; give it once, with all of its text" + see);
    if (error.get_name() == "ArgumentMismatch")
      return UsageError(name + " needs a value after it: " + name + " " + option->get_option_text() + see);
  }
  return UsageError(one_sentence(text) + see);
}

std::string purpose_of(const std::string& command) {
  for (const CommandEntry& entry : kCommandEntries)
    if (entry.name == command) return std::string(entry.help);
  return "chat with a language model in a GGUF file";
}

template <class T>
using AddFlags = void (*)(CLI::App&, T&);

// Calls visit with the function that adds the command's flags.
template <class F>
auto with_table(const std::string& command, const F& visit) {
  if (command == "pull") return visit(AddFlags<PullOptions>(add_pull));
  if (command == "endpoint") return visit(AddFlags<EndpointOptions>(add_endpoint));
  if (command == "model") return visit(AddFlags<ModelCommandOptions>(add_model_command));
  if (command == "tokenize") return visit(AddFlags<TokenizeOptions>(add_tokenize));
  if (command == "template") return visit(AddFlags<TemplateOptions>(add_template));
  if (command == "logits") return visit(AddFlags<LogitsOptions>(add_logits));
  if (command == "perplexity") return visit(AddFlags<PerplexityOptions>(add_perplexity));
  if (command == "inspect") return visit(AddFlags<InspectOptions>(add_inspect));
  if (command == "check-device") return visit(AddFlags<CheckDeviceOptions>([](CLI::App&, CheckDeviceOptions&) {}));
  if (command == "compare") return visit(AddFlags<CompareOptions>(add_compare));
  if (command == "bench") return visit(AddFlags<BenchOptions>(add_bench));
  if (command == "kernels") return visit(AddFlags<KernelsOptions>(add_kernels));
  if (command == "assistant") return visit(AddFlags<AssistantOptions>(add_assistant));
  if (command == "config") return visit(AddFlags<ConfigOptions>(add_config));
  if (command == "help") return visit(AddFlags<HelpOptions>(add_help));
  return visit(AddFlags<ChatOptions>(add_chat));
}

// Adds the command's flags, which are parsed into `options`.
template <class T>
void fill(CLI::App& app, AddFlags<T> add, T& options) {
  app.set_help_flag();                 // added again at the end, so that it is listed with the general flags
  app.option_defaults()->take_last();  // a repeated flag overrides the earlier one, as in llama.cpp
  add(app, options);
  add_common(app, options);
  app.allow_extras();
}

// Flags of one run: what it is to do, where its output goes, and what only it can know.
struct OneRunFlag {
  std::string_view name, reason;
};
constexpr std::string_view kOneRun = "it belongs to one run";
constexpr OneRunFlag kOneRunFlags[] = {
    {"prompt", kOneRun},
    {"file", kOneRun},
    {"raw", kOneRun},
    {"escape", kOneRun},
    {"json", kOneRun},
    {"resume", kOneRun},
    {"gui", kOneRun},
    {"gui-state", kOneRun},
    {"converse", kOneRun},
    {"yes", kOneRun},
    {"list-models", kOneRun},
    {"list-devices", kOneRun},
    {"profile", kOneRun},
    {"help", kOneRun},
    {"version", kOneRun},
    {"parallel", kOneRun},
    {"layers-on-gpu", "device chooses a GPU or the CPU"},
    {"no-think", "use \"think\": false"},
    {"no-titles", "use \"titles\": false"},
    {"api-key-env", "a server's key is stored with it: {chat} endpoint add NAME URL"},
};

constexpr const char* kPairs[] = {"think", "titles"};  // each has a flag with "no-" before it, too

SettingsKey settings_key(CLI::Option& option) {
  using Kind = SettingsKey::Kind;
  SettingsKey key{option.get_lnames().front(), option.get_description(), words_of(option), Kind::kText};
  if (option.get_items_expected_max() == 0) key.kind = Kind::kSwitch;
  if (option.get_option_text() == "N") key.kind = Kind::kNumber;
  if (option.get_option_text() == "JSON") key.kind = Kind::kJson;
  return key;
}

// What the settings file says gives way to what the command line says where both cannot be meant.
void settle(ChatOptions& o, const std::function<bool(const std::string&)>& is_given) {
  const auto is_kept = [&](const std::string& name) { return o.kept.contains(name); };
  const auto leave_out = [&](const std::string& name, std::string& value) {
    if (is_kept(name)) value.clear(), o.kept.erase(name);
  };
  if (is_given("chat-template")) leave_out("chat-template-file", o.chat_template_file);
  if (is_given("chat-template-file") || is_kept("chat-template-file")) leave_out("chat-template", o.chat_template);
  if (is_given("endpoint")) leave_out("model", o.model);
  constexpr const char* kOfThisMachine[] = {
      "device",  "launch",       "ctx-size",  "chat-template", "chat-template-file", "cache-type-k",    "threads",
      "profile", "cache-type-v", "cache-ram", "batch-size",    "ubatch-size",        "no-device-check", "offline"};
  const bool names_file = is_given("model") && (o.model.find('/') == 0 || o.model.ends_with(".gguf"));
  if (names_file || std::ranges::any_of(kOfThisMachine, is_given)) {
    if (is_kept("endpoint")) leave_out("model", o.model);
    leave_out("endpoint", o.endpoint);
  }
  if (o.endpoint.empty()) return;
  leave_out("device", o.device);
  leave_out("chat-template", o.chat_template);
  leave_out("chat-template-file", o.chat_template_file);
  if (is_kept("ctx-size")) o.context = ChatOptions().context;
  if (is_kept("offline")) o.offline = false;
}

// "add NAME" takes the flags of a conversation, which are parsed by themselves.
CommandLine without_flags(CommandLine line, AssistantOptions& options) {
  const auto asks_for_help = [](const std::string& word) { return word == "-h" || word == "--help"; };
  auto& words = line.arguments;
  if (words.empty() || words[0] != "add" || std::ranges::any_of(words, asks_for_help)) return line;
  const auto first = std::ranges::find_if(words, [](const std::string& word) { return word.starts_with('-'); });
  options.flags.assign(first, words.end());
  words.erase(first, words.end());
  return line;
}

// CLI11 drops a "--" right behind a flag whose value may be missing; a second one stays.
void keep_mark_behind(std::string_view flag, std::vector<std::string>& arguments) {
  const auto mark = std::ranges::find(arguments, "--");
  if (mark != arguments.begin() && mark != arguments.end() && *(mark - 1) == flag) arguments.insert(mark, "--");
}

template <class T>
ParsedOptions parse(const CommandLine& line, AddFlags<T> add, T options) {
  CLI::App app(purpose_of(line.command));
  fill(app, add, options);
  std::vector<std::string> arguments = translate_foreign_flags(
      line.arguments, [&](const std::string& name) { return app.get_option_no_throw(name) != nullptr; });
  keep_mark_behind("--resume", arguments);
  std::ranges::reverse(arguments);
  try {
    app.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    return {std::nullopt, help_text(command_help(), line.command)};
  } catch (const CLI::CallForVersion& version) {
    return {std::nullopt, std::string(version.what()) + "\n"};
  } catch (const CLI::ParseError& error) {
    throw usage_error(app, error, line.command);
  }
  read_extras(app.remaining(), line.command, app, options);
  if constexpr (std::is_same_v<T, ChatOptions>) {
    const auto is_given = [&](const std::string& name) { return app.get_option("--" + name)->count() > 0; };
    std::erase_if(options.kept, is_given);
    settle(options, is_given);
  }
  return {Options(std::move(options)), ""};
}

}  // namespace

ParsedOptions parse_options(std::vector<std::string> arguments, const KeptOptions& kept) {
  std::vector<std::string_view> names;
  for (const CommandEntry& entry : kCommandEntries) names.push_back(entry.name);
  const CommandLine line = split_command(rewrite_arguments(std::move(arguments)), names);
  return with_table(line.command, [&]<class T>(AddFlags<T> add) {
    T options;
    if constexpr (std::is_same_v<T, AssistantOptions>) {
      const CommandLine words = without_flags(line, options);
      return parse(words, add, std::move(options));
    }
    if constexpr (std::is_same_v<T, ChatOptions>) {
      options = kept("");
      ParsedOptions parsed = parse(line, add, options);
      const std::string name = parsed.options ? std::get<ChatOptions>(*parsed.options).assistant : "";
      return name.empty() ? parsed : parse(line, add, kept(name));
    }
    return parse(line, add, std::move(options));
  });
}

std::string reason_against_key(const std::string& name) {
  for (const OneRunFlag& flag : kOneRunFlags)
    if (name == flag.name) return with_program_name(flag.reason);
  return "";
}

std::vector<SettingsKey> settings_keys() {
  CLI::App app;
  ChatOptions options;
  fill(app, AddFlags<ChatOptions>(add_chat), options);
  std::vector<SettingsKey> keys;
  for (CLI::Option* option : app.get_options({}))
    if (!option->get_lnames().empty() && reason_against_key(option->get_lnames().front()).empty())
      keys.push_back(settings_key(*option));
  return keys;
}

std::vector<std::pair<std::string, std::string>> settings_of_flags(const std::vector<std::string>& arguments) {
  CLI::App app;
  ChatOptions options;
  fill(app, AddFlags<ChatOptions>(add_chat), options);
  std::vector<std::string> translated = translate_foreign_flags(
      rewrite_arguments(arguments), [&](const std::string& name) { return app.get_option_no_throw(name) != nullptr; });
  std::ranges::reverse(translated);
  try {
    app.parse(translated);
  } catch (const CLI::ParseError& error) {
    throw usage_error(app, error, "chat");
  }
  if (!app.remaining().empty()) throw unexpected_argument(app.remaining().front(), "chat", app, WordsAre::kUnexpected);
  std::vector<std::pair<std::string, std::string>> found;
  for (const CLI::Option* option : app.get_options({})) {
    if (option->count() == 0) continue;
    const std::string name = option->get_lnames().front();
    const auto pair = std::ranges::find_if(kPairs, [&](const char* key) { return name == "no-" + std::string(key); });
    if (pair != std::end(kPairs))
      found.emplace_back(*pair, "false");
    else if (const std::string reason = reason_against_key(name); !reason.empty())
      throw UsageError("--" + name + " is no setting that stays; " + reason);
    else
      found.emplace_back(name, option->results().back());
  }
  return found;
}

void set_by_key(ChatOptions& options, const std::string& key, const std::string& value) {
  CLI::App app;
  fill(app, AddFlags<ChatOptions>(add_chat), options);
  const bool is_negated = value == "false" && std::ranges::find(kPairs, key) != std::end(kPairs);
  std::vector<std::string> argument = {is_negated ? "--no-" + key : "--" + key + "=" + value};
  try {
    app.parse(argument);
  } catch (const CLI::ParseError& error) {
    const std::string text = error.what(), name = "--" + key + ": ";
    throw UsageError(key + " " + (text.starts_with(name) ? text.substr(name.size()) : one_sentence(text)));
  }
}

std::vector<CommandHelp> command_help() {
  std::vector<std::string> names = {"chat"};
  for (const CommandEntry& entry : kCommandEntries) names.emplace_back(entry.name);
  std::vector<CommandHelp> commands;
  for (const std::string& name : names)
    commands.push_back(with_table(name, [&]<class T>(AddFlags<T> add) {
      CLI::App app(purpose_of(name));
      T options;
      fill(app, add, options);
      return help_of(app, name);
    }));
  return commands;
}

}  // namespace warpchat
