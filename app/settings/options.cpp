// From words to options, and CLI11's errors in our wording.
#include "app/settings/options.h"

#include <cctype>
#include <functional>
#include <ranges>
#include <type_traits>

#include "app/platform/output.h"
#include "app/platform/program_name.h"
#include "app/platform/text/nearest_name.h"
#include "app/settings/arguments.h"
#include "app/settings/foreign_flags.h"
#include "app/settings/option_tables.h"
#include "models/ascii.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

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
  for (const CommandEntry& entry : command_entries()) names.emplace_back(entry.name);
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
  for (const CommandEntry& entry : command_entries())
    if (word == entry.name)
      throw UsageError("the command comes first: " + program_name() + " " + word + " and then its flags" + question);
  for (const ForeignCommand& foreign : kForeignCommands)
    if (word == foreign.name)
      throw UsageError("unknown command " + word + "; " + with_program_name(foreign.instead) + question);
  if (word.ends_with(".gguf")) throw model_without_flag(word);
  for (const CommandEntry& entry : command_entries())
    if (letters_apart(lower_case(word), entry.name) <= 1)
      throw UsageError("unknown command " + word + perhaps_meant(program_name() + " " + std::string(entry.name)) +
                       question);
}

// "--" says that the words behind it are no flags; CLI11 has read them, and leaves the mark.
template <class T>
void read_extras(std::vector<std::string> extras, const std::string& command, const CLI::App& app, T&) {
  if (const auto mark = std::ranges::find(extras, "--"); mark != extras.end()) extras.erase(mark);
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

// Adds the command's flags, which are parsed into `options`.
template <class T>
void fill(CLI::App& app, T& options) {
  app.set_help_flag();                 // added again at the end, so that it is listed with the general flags
  app.option_defaults()->take_last();  // a repeated flag overrides the earlier one, as in llama.cpp
  add_flags(app, options);
  add_general_flags(app, options);
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
    {"json-schema", kOneRun},
    {"json-schema-file", kOneRun},
    {"grammar", kOneRun},
    {"grammar-file", kOneRun},
    {"tools", kOneRun},
    {"open-folder", kOneRun},
    {"approve", kOneRun},
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
  using KeyKind = SettingsKey::Kind;
  SettingsKey key{option.get_lnames().front(), option.get_description(), words_of(option), KeyKind::kText};
  if (option.get_items_expected_max() == 0) key.kind = KeyKind::kSwitch;
  if (option.get_option_text() == "N") key.kind = KeyKind::kNumber;
  if (option.get_option_text() == "JSON") key.kind = KeyKind::kJson;
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

// CLI::Success for --help and --version.
void read_arguments(CLI::App& app, const std::vector<std::string>& arguments, const std::string& command) {
  std::vector<std::string> own = translate_foreign_flags(
      arguments, [&](const std::string& name) { return app.get_option_no_throw(name) != nullptr; });
  keep_mark_behind("--resume", own);
  std::ranges::reverse(own);
  try {
    app.parse(own);
  } catch (const CLI::Success&) {
    throw;
  } catch (const CLI::ParseError& error) {
    throw usage_error(app, error, command);
  }
}

template <class T>
ParsedOptions parse(const CommandLine& line, T options) {
  CLI::App app(purpose_of(line.command));
  fill(app, options);
  try {
    read_arguments(app, line.arguments, line.command);
  } catch (const CLI::CallForHelp&) {
    return {HelpOptions{{}, line.command, ""}, ""};
  } catch (const CLI::CallForVersion& version) {
    return {std::nullopt, std::string(version.what()) + "\n"};
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
  for (const CommandEntry& entry : command_entries()) names.push_back(entry.name);
  const CommandLine line = split_command(rewrite_arguments(std::move(arguments)), names);
  return with_options(line.command, [&]<class T>(T options) {
    if constexpr (std::is_same_v<T, AssistantOptions>) {
      const CommandLine words = without_flags(line, options);
      return parse(words, std::move(options));
    }
    if constexpr (std::is_same_v<T, ChatOptions>) {
      options = kept("");
      ParsedOptions parsed = parse(line, options);
      const auto* chat = parsed.options ? std::get_if<ChatOptions>(&*parsed.options) : nullptr;
      return chat == nullptr || chat->assistant.empty() ? parsed : parse(line, kept(chat->assistant));
    }
    return parse(line, std::move(options));
  });
}

std::string reason_against_key(const std::string& name) {
  for (const OneRunFlag& flag : kOneRunFlags)
    if (name == flag.name) return with_program_name(flag.reason);
  return "";
}

const std::vector<SettingsKey>& settings_keys() {
  static const std::vector<SettingsKey> kKeys = [] {
    CLI::App app;
    ChatOptions options;
    fill(app, options);
    std::vector<SettingsKey> keys;
    for (CLI::Option* option : app.get_options({}))
      if (!option->get_lnames().empty() && reason_against_key(option->get_lnames().front()).empty())
        keys.push_back(settings_key(*option));
    return keys;
  }();
  return kKeys;
}

TypedSettings settings_of_flags(const std::vector<std::string>& arguments) {
  CLI::App app;
  ChatOptions options;
  fill(app, options);
  read_arguments(app, arguments, "chat");
  if (!app.remaining().empty()) throw unexpected_argument(app.remaining().front(), "chat", app, WordsAre::kUnexpected);
  TypedSettings found;
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
  fill(app, options);
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
  for (const CommandEntry& entry : command_entries()) names.emplace_back(entry.name);
  std::vector<CommandHelp> commands;
  for (const std::string& name : names)
    commands.push_back(with_options(name, [&]<class T>(T options) {
      CLI::App app(purpose_of(name));
      fill(app, options);
      return help_of(app, name);
    }));
  return commands;
}

}  // namespace warpchat
