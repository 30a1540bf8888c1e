// chat assistant: names for a system message, settings, a model or a server.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/assistants.h"
#include "app/commands/commands.h"
#include "app/kept_options.h"
#include "app/output.h"
#include "app/program_name.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

int list_assistants() {
  std::string lines;
  for (const std::string& name : assistant_names()) {
    try {
      lines += printable(name) + "\t" + description_of(load_assistant(name)) + "\n";
    } catch (const Error& error) {
      print_error(error.what());
    }
  }
  if (lines.empty())
    print_error(with_program_name("there is no assistant; {chat} assistant add NAME -sys TEXT makes one"));
  write_text(lines);
  return 0;
}

void store_assistant(const Assistant& assistant) {
  const std::vector<std::string> names = assistant_names();
  if (std::ranges::find(names, assistant.name) != names.end())
    print_error(printable(assistant.name) + " was until now: " + description_of(load_assistant(assistant.name)));
  save_assistant(assistant);
  write_error_text(printable(assistant.name) + ": " + description_of(assistant) + "\n");
}

int add_assistant_of(const AssistantOptions& options) {
  Assistant assistant{options.name};
  for (const auto& [key, value] : settings_of_flags(options.flags)) {
    if (key == "assistant") throw UsageError("an assistant has no assistant; leave out --assistant");
    assistant.settings[key] = value_for_key(settings_key_named(key), value);
  }
  if (assistant.settings.empty())
    throw UsageError(with_program_name("an assistant needs a setting: {chat} assistant add NAME -sys TEXT --temp 0.3"));
  store_assistant(assistant);
  return 0;
}

int show_assistant(const std::string& name) {
  const Assistant assistant = load_assistant(name);
  write_json(assistant.settings.dump(2) + "\n");
  for (const std::string& complaint : options_of(assistant).complaints) print_error(complaint);
  return 0;
}

int export_assistant(const AssistantOptions& options) {
  const Assistant assistant = load_assistant(options.name);
  nlohmann::ordered_json json = {{"name", assistant.name}};
  json.update(assistant.settings);
  write_file(options.file, json.dump(2) + "\n", OutputFile::Readers::kOwnerOrDevice);
  return 0;
}

int import_assistants(const AssistantOptions& options) {
  const ImportedAssistants imported = read_assistants(options.name, options.new_name);
  for (const std::string& note : imported.notes) print_error(note);
  for (const Assistant& assistant : imported.assistants) store_assistant(assistant);
  return 0;
}

int remove_by_name(const std::string& name) {
  remove_assistant(name);
  return 0;
}

}  // namespace

int run_command(const AssistantOptions& options) {
  const size_t n_words = size_t{!options.name.empty()} + size_t{!options.file.empty()};
  const auto require = [&](size_t n, const char* usage) {
    if (n_words != n || (!options.new_name.empty() && options.action != "import"))
      throw UsageError(with_program_name("usage: {chat} assistant ") + usage);
  };
  if (options.action == "add") return require(1, "add NAME [FLAGS]"), add_assistant_of(options);
  if (options.action == "show") return require(1, "show NAME"), show_assistant(options.name);
  if (options.action == "remove") return require(1, "remove NAME"), remove_by_name(options.name);
  if (options.action == "export") return require(2, "export NAME FILE"), export_assistant(options);
  if (options.action == "import") return require(1, "import FILE [--name NAME]"), import_assistants(options);
  return require(0, "list"), list_assistants();
}

}  // namespace warpchat
