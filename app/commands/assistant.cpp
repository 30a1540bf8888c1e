// chat assistant: names for a system message, settings, a model or a server.
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/commands/commands.h"
#include "app/platform/directories.h"
#include "app/platform/output.h"
#include "app/platform/program_name.h"
#include "app/settings/assistants.h"
#include "app/settings/kept_options.h"
#include "engine/store/conversation_store.h"
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
  const TypedSettings settings = settings_of_flags(options.flags);
  if (settings.empty())
    throw UsageError(with_program_name("an assistant needs a setting: {chat} assistant add NAME -sys TEXT --temp 0.3"));
  store_assistant(assistant_of(options.name, settings));
  return 0;
}

int show_assistant(const std::string& name) {
  const Assistant assistant = load_assistant(name);
  write_json(assistant.settings.dump(2) + "\n");
  for (const std::string& complaint : options_of(assistant).complaints) print_error(complaint);
  return 0;
}

int export_by_name(const AssistantOptions& options) {
  export_assistant(load_assistant(options.name), options.file, /*replace=*/true);
  return 0;
}

int import_assistants(const AssistantOptions& options) {
  const ImportedAssistants imported = read_assistants(options.name, options.new_name);
  for (const std::string& note : imported.notes) print_error(note);
  for (const Assistant& assistant : imported.assistants) store_assistant(assistant);
  return 0;
}

int copy_by_name(const AssistantOptions& options) {
  replace_assistant("", {options.file, load_assistant(options.name).settings});
  return 0;
}

// The stored conversations that have it follow.
int rename_by_name(const AssistantOptions& options) {
  replace_assistant(options.name, {options.file, load_assistant(options.name).settings});
  if (!std::filesystem::exists(data_directory())) return 0;
  const ConversationStore::Opened opened = ConversationStore::open(data_directory());
  if (!opened.notice.empty()) print_error(opened.notice);
  opened.store->rename_assistant(options.name, options.file);
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
  if (options.action == "copy") return require(2, "copy NAME OTHER"), copy_by_name(options);
  if (options.action == "rename") return require(2, "rename NAME OTHER"), rename_by_name(options);
  if (options.action == "remove") return require(1, "remove NAME"), remove_by_name(options.name);
  if (options.action == "export") return require(2, "export NAME FILE"), export_by_name(options);
  if (options.action == "import") return require(1, "import FILE [--name NAME]"), import_assistants(options);
  return require(0, "list"), list_assistants();
}

}  // namespace warpchat
