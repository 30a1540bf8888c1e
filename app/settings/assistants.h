// Assistants: a name with a system message, settings, a model or a server. Each is a file of its own, NAME.json in
// assistants/ of the configuration: one JSON object with the keys of the settings file.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/settings/options.h"
#include "app/settings/settings_file.h"

namespace warpchat {

struct Assistant {
  std::string name;
  nlohmann::ordered_json settings = nlohmann::ordered_json::object();
};

std::vector<std::string> assistant_names();  // in the order of the alphabet

// Error: there is none of that name (the sentence has a similar one), or its file is no JSON object.
Assistant load_assistant(const std::string& name);

// From typed settings. UsageError for a key or value that does not count, and for none.
Assistant assistant_of(const std::string& name, const TypedSettings& settings);
TypedSettings typed_settings(const Assistant& assistant);  // the other way

void save_assistant(const Assistant& assistant);  // in place of one of that name; Error
// In place of `from`, which is renamed by it, in the settings file, too; empty: a new one. Error if another has its
// name.
void replace_assistant(const std::string& from, const Assistant& assistant);
void remove_assistant(const std::string& name);  // Error if there is none
// Where the settings file has `from` for new conversations. now: nullopt: it was removed.
void follow_in_settings_file(const std::string& from, const std::optional<std::string>& now);
std::string file_of_assistant(const std::string& name);

std::string free_assistant_name(const std::string& name);  // it, or the first of "NAME 2", "NAME 3", ... that is free

// To a file that read_assistants() reads. replace: the file that is there. Error.
void export_assistant(const Assistant& assistant, const std::string& path, bool replace);

// Its settings as options of a conversation, with a complaint for each that does not count.
ChatOptions options_of(const Assistant& assistant);

// Its choices alone; nullopt: there is no such assistant any more, or its file is damaged.
std::optional<AnswerChoices> choices_of_assistant(const std::string& name);

// "Answer briefly.  (temp 0.2, model qwen)": on one line.
std::string description_of(const Assistant& assistant);

// Reads a file of this program, an Ollama Modelfile, or llama.cpp's presets (INI), which may hold several. name:
// instead of the file's own; empty: that, or what the file is called. notes: a sentence for each line that has no
// meaning here. Error for any other file, and for a template that is not Jinja.
struct ImportedAssistants {
  std::vector<Assistant> assistants;
  std::vector<std::string> notes;
};
ImportedAssistants read_assistants(const std::string& path, const std::string& name);

}  // namespace warpchat
