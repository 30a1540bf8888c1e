// chat prompt: the library of prompts.
#include "app/formats/prompts.h"

#include <nlohmann/json.hpp>

#include "app/commands/commands.h"
#include "app/formats/prompt_text.h"
#include "app/model_choice/model_lookup.h"
#include "app/platform/output.h"
#include "app/platform/program_name.h"
#include "app/platform/text_input.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

using nlohmann::ordered_json;

ordered_json json_of(const LibraryPrompt& prompt) {
  ordered_json json = {{"name", prompt.name}, {"text", prompt.text}};
  ordered_json& list = json["placeholders"] = ordered_json::array();
  for (const Placeholder& placeholder : placeholders_of(prompt.text)) {
    list.push_back({{"name", placeholder.name}});
    if (placeholder.preset) list.back()["default"] = *placeholder.preset;
  }
  return json;
}

// A prompt that cannot be read is named on standard error, and the others are listed.
int list_prompts(bool as_json) {
  ordered_json list = ordered_json::array();
  std::string lines;
  for (const std::string& name : prompt_names()) {
    const LibraryPrompt prompt = read_prompt(name);
    if (!prompt.fault.empty())
      print_error(prompt.fault);
    else if (as_json)
      list.push_back(json_of(prompt));
    else
      lines += printable(name) + "\t" + description_of(prompt) + "\n";
  }
  if (as_json) return write_json(list.dump(2) + "\n"), 0;
  if (lines.empty()) print_error(no_prompts_sentence());
  write_text(lines);
  return 0;
}

int show_prompt(const std::string& name) {
  write_output(load_prompt(name).text + "\n");
  return 0;
}

std::string text_to_add(const PromptOptions& options) {
  if (options.file && !options.words.empty())
    throw UsageError(with_program_name("give the text or -f FILE, not both: {chat} prompt add NAME -f FILE"));
  if (options.file && *options.file != "-") {
    const std::string bytes = read_regular_file(*options.file, kMaxPromptBytes);
    require_text(bytes, *options.file);
    return bytes;
  }
  if (options.words.empty() && input_is_terminal())
    write_error_text("write the prompt; Ctrl-D at the beginning of a line ends it\n");
  if (options.words.empty()) return read_standard_input();
  std::string text;
  for (const std::string& word : options.words) text += (text.empty() ? "" : " ") + word;
  return text;
}

int add_prompt(const PromptOptions& options) {
  const std::string text = text_to_add(options);
  const std::optional<LibraryPrompt> before =
      is_prompt(options.name) ? std::optional(read_prompt(options.name)) : std::nullopt;
  save_prompt(options.name, text);
  if (before) print_error(printable(options.name) + " was until now: " + description_of(*before));
  write_error_text(printable(options.name) + ": " + description_of(load_prompt(options.name)) + "\n");
  return 0;
}

int fill_prompt(const PromptOptions& options) {
  const std::string text = load_prompt(options.name).text;
  const std::vector<Placeholder> placeholders = placeholders_of(text);
  const PromptValues values = values_of_words(placeholders, options.words);
  if (const std::string missing = names_of_missing(placeholders, values); !missing.empty())
    throw Error("the prompt '" + printable(options.name) + "' needs a value for " + missing + ": " + program_name() +
                " prompt fill NAME " + missing.substr(0, missing.find_first_of(" ,")) + "=VALUE");
  write_output(filled_prompt(text, values) + "\n");
  return 0;
}

}  // namespace

int run_command(const PromptOptions& options) {
  const std::string& action = options.action;
  const auto require = [&](bool is_well, const char* usage) {
    if (!is_well) throw UsageError(with_program_name("usage: {chat} prompt ") + usage);
  };
  const bool has_name = !options.name.empty(), has_words = !options.words.empty();
  require(!options.file || action == "add", "add NAME [TEXT | -f FILE]");
  require(!options.json || action == "list", "list [--json]");
  if (action == "add") return require(has_name, "add NAME [TEXT | -f FILE]"), add_prompt(options);
  if (action == "fill") return require(has_name, "fill NAME [VALUE | NAME=VALUE ...]"), fill_prompt(options);
  if (action == "show") return require(has_name && !has_words, "show NAME"), show_prompt(options.name);
  if (action == "remove") return require(has_name && !has_words, "remove NAME"), remove_prompt(options.name), 0;
  return require(!has_name, "list [--json]"), list_prompts(options.json);
}

}  // namespace warpchat
