// In groups, as --help shows them.
#include "app/settings/option_tables.h"

#include "app/platform/program_name.h"
#include "app/platform/text/parse_number.h"
#include "app/platform/version.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

constexpr CommandEntry kCommandEntries[] = {
    {"pull", "fetch a model from a hub into the cache that other programs share"},
    {"endpoint", "manage named servers: add, list, remove"},
    {"model", "manage the models on this machine: list, show, remove, aliases, folders"},
    {"tokenize", "print the token ids of a text"},
    {"grammar", "check texts against a JSON Schema or a grammar, and measure how fast it holds an answer"},
    {"template", "print the prompt that a chat template makes of messages"},
    {"logits", "write the logits of given tokens to a file"},
    {"perplexity", "measure how well a model predicts a text"},
    {"inspect", "list a model file's metadata and tensors"},
    {"check-device", "check that a GPU computes correct results"},
    {"compare", "compare two devices step by step, and name where they first differ"},
    {"bench", "measure tokens per second, as llama-bench does"},
    {"kernels", "list the GPU kernels of a model, and write their PTX"},
    {"assistant", "manage assistants: list, show, add, copy, rename, remove, export, import"},
    {"prompt", "manage the library of prompts: list, show, add, remove, fill"},
    {"mcp", "list the MCP servers of mcp.json and their tools"},
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

CLI::Validator one_of(const std::vector<std::string>& words) {
  const auto check = [words](std::string& text) -> std::string {
    if (std::ranges::find(words, text) != words.end()) return "";
    return "takes " + word_list(words, " or ") + ", found '" + text + "'";
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

void add_form(CLI::App& app, FormFlags& o) {
  app.option_defaults()->group("Form of answers");
  single_text(
      app, "-j,--json-schema", o.schema, "TEXT",
      "a JSON Schema, drafts 4 to 2020-12, that an answer keeps to; the model does not read it: describe the form in "
      "the prompt, too");
  single_text(app, "--json-schema-file", o.schema_file, "FILE", "the same from a file");
  single_text(app, "--grammar", o.grammar, "TEXT", "a GBNF grammar that an answer keeps to, with a rule named root");
  single_text(app, "--grammar-file", o.grammar_file, "FILE", "the same from a file");
}

void add_mcp_config(CLI::App& app, std::string& file) {
  text(app, "--mcp-config", file, "FILE",
       "the servers, as {\"mcpServers\": {NAME: {\"command\": ..., \"args\": [...]}}} or with \"url\"; default: "
       "mcp.json beside config.json");
}

void add_tools(CLI::App& app, ToolFlags& o) {
  app.option_defaults()->group("Tools that the model may call");
  add_mcp_config(app, o.mcp_config);
  toggle(app, "--no-mcp", o.no_mcp, "start no MCP server");
  toggle(app, "--tools", o.tools, "offer this program's own tools for the time and for arithmetic");
  repeated(app, "--open-folder", o.open_folders, "DIR",
           "offer its own tools, and those that read and search text and PDF in this folder; may be repeated");
  text(app, "--approve", o.approve, "NAMES",
       "the tools that may be called without a question: all, none (the default), or whole names with commas");
  number(app, "--max-tool-rounds", o.max_tool_rounds, "how often an answer may call tools and go on; default 16", 0,
         1000);
  toggle(app, "--no-tool-grammar", o.no_tool_grammar, "do not hold the arguments of calls to their schemas");
}

}  // namespace

std::span<const CommandEntry> command_entries() { return kCommandEntries; }

std::string purpose_of(const std::string& command) {
  for (const CommandEntry& entry : kCommandEntries)
    if (entry.name == command) return std::string(entry.help);
  return "chat with a language model in a GGUF file";
}

void add_flags(CLI::App& app, ChatOptions& o) {
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
  add_form(app, o);
  add_tools(app, o);
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

void add_flags(CLI::App& app, PullOptions& o) {
  app.option_defaults()->group("Model");
  app.add_option("NAME", o.words,
                 "org/repo[:QUANT] on the hub, QUANT: Q4_K_M by default; words: search the hub; "
                 "nothing: list models that suit this machine")
      ->option_text(" ");
  toggle(app, "--offline", o.offline, "use no network");
}

void add_flags(CLI::App& app, EndpointOptions& o) {
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

void add_flags(CLI::App& app, ModelCommandOptions& o) {
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

void add_flags(CLI::App& app, TokenizeOptions& o) {
  add_model(app, o.model);
  app.option_defaults()->group("Input");
  app.add_option("TEXT", o.text, "the text; default: standard input")->option_text(" ");
  text(app, "-f,--file", o.file, "FILE", "a file with the text");
  toggle(app, "--null", o.null_separated, "the input is records separated by NUL; one line of ids each");
}

void add_flags(CLI::App& app, GrammarOptions& o) {
  add_form(app, o);
  app.option_defaults()->group("Task");
  app.add_option_function<std::vector<std::string>>(
         "--check", [&o](const std::vector<std::string>& file) { o.check = file.empty() ? "" : file.back(); },
         "say whether the text in FILE, or on standard input, is whole and allowed; exit code 1 if not")
      ->expected(0, 1)
      ->allow_extra_args(false)
      ->option_text("[FILE]");
  toggle(app, "--lines", o.lines, "with --check: one text a line, one verdict a line");
  toggle(app, "--bench", o.bench, "measure masks over the vocabulary of -m; a file without weights is enough");
  add_model(app, o.model);
}

void add_flags(CLI::App& app, LogitsOptions& o) {
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

void add_flags(CLI::App& app, TemplateOptions& o) {
  add_model(app, o.model);
  app.option_defaults()->group("Task");
  text(app, "--template", o.template_file, "FILE", "a Jinja template instead of a model's");
  app.add_option("--messages", o.messages_file,
                 "object with messages, optionally tools and add_generation_prompt; other keys are variables")
      ->required()
      ->option_text("FILE.json");
}

void add_flags(CLI::App& app, PerplexityOptions& o) {
  o.context = 512;
  add_model_flags(app, o, "tokens per window, of which the second half is scored; default 512");
  app.option_defaults()->group("Task");
  app.add_option("-f,--file", o.file, "the text")->required()->option_text("FILE");
}

void add_flags(CLI::App& app, InspectOptions& o) {
  add_model(app, o.model);
  app.add_option("MODEL", o.model, "the same without -m")->option_text(" ");
  app.option_defaults()->group("Output");
  toggle(app, "--json", o.json, "as one JSON object");
}

void add_flags(CLI::App& app, CompareOptions& o) {
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

void add_flags(CLI::App& app, BenchOptions& o) {
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

void add_flags(CLI::App& app, KernelsOptions& o) {
  add_model(app, o.model);
  text(app, "--shape", o.shape, "NAME",
       "a known model's shape in Q4_K_M instead of a file: qwen2.5-0.5b, qwen2.5-1.5b, qwen2.5-3b, qwen2.5-7b, "
       "qwen3-0.6b, qwen3-1.7b, qwen3-4b, qwen3-30b-a3b, qwen3.5-4b, qwen3.5-9b, qwen3.5-27b, qwen3.5-35b-a3b");
  number(app, "-c,--ctx-size", o.context, "context in tokens; default: the model's own, at most 8192", 1);
  app.option_defaults()->group("Output");
  text(app, "--target", o.target, "sm_XX", "the GPU architecture, sm_75 to sm_120; default sm_90");
  text(app, "--ptx", o.ptx_folder, "FOLDER", "write their PTX to FOLDER/token.ptx, few.ptx, batch.ptx and prompt.ptx");
}

void add_flags(CLI::App& app, ConfigOptions& o) {
  app.option_defaults()->group("Task");
  app.add_option("KEY", o.words,
                 "a flag's long name: shows its value; KEY VALUE: keeps it for later starts; nothing: lists all keys")
      ->expected(0, 2)
      ->option_text(" ");
  toggle(app, "--unset", o.unset, "remove KEY, so that the default holds again");
  toggle(app, "--json", o.json, "list what is kept as a JSON object");
}

void add_flags(CLI::App& app, AssistantOptions& o) {
  app.option_defaults()->group("Task");
  app.add_option(
         "ACTION", o.action,
         "list (the default), show NAME, add NAME and flags of a conversation, copy NAME OTHER, rename NAME OTHER, "
         "remove NAME, export NAME FILE, or import FILE, also an Ollama Modelfile or llama.cpp's presets")
      ->check(one_of({"list", "show", "add", "copy", "rename", "remove", "export", "import"}))
      ->option_text(" ");
  app.add_option("NAME", o.name, "its name for --assistant")->option_text(" ");
  app.add_option("FILE", o.file, "the file, or the other name")->option_text(" ");
  text(app, "--name", o.new_name, "NAME", "import it under this name; default: the file's");
}

void add_flags(CLI::App& app, PromptOptions& o) {
  app.option_defaults()->group("Task");
  app.add_option("ACTION", o.action,
                 "list (the default), show NAME, add NAME and a text, remove NAME, or fill NAME, which prints the text "
                 "with values for its placeholders, {word} or {word=default}")
      ->check(one_of({"list", "show", "add", "remove", "fill"}))
      ->option_text(" ");
  app.add_option("NAME", o.name, "its name for /prompt")->option_text(" ");
  app.add_option("TEXT", o.words,
                 "add: the text, behind -- if it begins with a dash; default: standard input; fill: word=value of a "
                 "placeholder, or a value for the first "
                 "one without a default")
      ->option_text(" ");
  text(app, "-f,--file", o.file, "FILE", "add: a file with the text");
  toggle(app, "--json", o.json, "list: as JSON");
}

void add_flags(CLI::App& app, McpOptions& o) {
  app.option_defaults()->group("Task");
  app.add_option("ACTION", o.action,
                 "list (the default) opens all servers and shows their protocol and number of tools; tools shows the "
                 "tools of all, or of one")
      ->check(one_of({"list", "tools"}))
      ->option_text(" ");
  app.add_option("SERVER", o.server, "tools: the server's name in the file")->option_text(" ");
  add_mcp_config(app, o.mcp_config);
}

void add_flags(CLI::App& app, HelpOptions& o) {
  app.option_defaults()->group("Task");
  std::vector<std::string> names;
  for (const CommandEntry& entry : command_entries()) names.emplace_back(entry.name);
  app.add_option("COMMAND", o.command, "the command; default: a conversation")->check(such_as(names))->option_text(" ");
  app.add_option("--format", o.format, "all commands and flags for other programs: man, bash, zsh or fish")
      ->check(one_of({"man", "bash", "zsh", "fish"}))
      ->option_text("FORMAT");
}

std::string with_blanks(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

void add_flags(CLI::App&, CheckDeviceOptions&) {}

void add_general_flags(CLI::App& app, CommonOptions& o) { add_common(app, o); }
void add_general_flags(CLI::App& app, CompareOptions& o) { add_common(app, o); }

std::vector<std::string> words_of(CLI::Option& option) {
  try {
    return CLI::detail::split_up(option.get_validator(kWordsValidator)->get_description());
  } catch (const CLI::OptionNotFound&) {
    return {};
  }
}

}  // namespace warpchat
