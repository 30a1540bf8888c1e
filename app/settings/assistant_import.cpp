// Other programs' files as assistants: a Modelfile's instructions and a preset's keys become flags of this program.
#include <algorithm>
#include <filesystem>
#include <sstream>
#include <utility>

#include "app/platform/text_input.h"
#include "app/settings/arguments.h"
#include "app/settings/assistants.h"
#include "app/settings/kept_options.h"
#include "engine/untrusted_json.h"
#include "models/ascii.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

using nlohmann::ordered_json;

constexpr uint64_t kMaxImportedBytes = 4 << 20;
constexpr size_t kMaxQuotedLine = 60, kLongestShortKey = 3;

std::string trimmed_line(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n"), end = text.find_last_not_of(" \t\r\n");
  return begin == std::string_view::npos ? "" : std::string(text.substr(begin, end - begin + 1));
}

std::string stem_of(const std::string& path) {
  const std::filesystem::path file(path);
  const std::string extension = lower_case(file.extension().string());
  const bool says_format = extension == ".json" || extension == ".ini" || extension == ".modelfile";
  return (says_format ? file.stem() : file.filename()).string();
}

// A key as the flags of this or another program spell it, and its value.
void set(Assistant& assistant, const std::string& key, const std::string& value, const std::string& where,
         std::vector<std::string>& notes) {
  const auto flags = [&] {
    try {
      return settings_of_flags(rewrite_arguments({"--" + key, value}));
    } catch (const UsageError&) {
      if (key.size() > kLongestShortKey) throw;
      return settings_of_flags(rewrite_arguments({"-" + key, value}));
    }
  };
  try {
    for (const auto& [name, given] : flags()) assistant.settings[name] = value_for_key(settings_key_named(name), given);
  } catch (const Error& error) {
    notes.push_back(where + ": " + error.what() + "; left out");
  }
}

// One instruction: its word in small letters, and its text, which may have several lines between """.
struct Instruction {
  std::string word, text;
  size_t line;
};

std::vector<Instruction> instructions_of(const std::string& text) {
  constexpr std::string_view kQuotes = "\"\"\"";
  std::vector<Instruction> found;
  std::istringstream lines(text);
  std::string line;
  for (size_t n = 1; std::getline(lines, line); ++n) {
    const std::string clean = trimmed_line(line);
    if (clean.empty() || clean[0] == '#') continue;
    const size_t blank = std::min(clean.find_first_of(" \t"), clean.size());
    Instruction instruction{lower_case(clean.substr(0, blank)), trimmed_line(clean.substr(blank)), n};
    std::string& value = instruction.text;
    if (const size_t open = value.find(kQuotes); open != std::string::npos && open + kQuotes.size() <= value.size()) {
      const std::string before = value.substr(0, open);  // of MESSAGE: the role
      std::string body = value.substr(open + kQuotes.size());
      while (body.find(kQuotes) == std::string::npos && std::getline(lines, line)) body += "\n" + line, ++n;
      value = before + trimmed_line(body.substr(0, body.find(kQuotes)));
    } else if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
      value = value.substr(1, value.size() - 2);
    }
    found.push_back(std::move(instruction));
  }
  return found;
}

Assistant read_modelfile(const std::string& text, const std::string& path, std::vector<std::string>& notes) {
  constexpr std::pair<std::string_view, std::string_view> kParameters[] = {{"num_ctx", "ctx-size"},
                                                                           {"num_predict", "n-predict"},
                                                                           {"temperature", "temp"},
                                                                           {"repeat_last_n", "repeat-last-n"},
                                                                           {"repeat_penalty", "repeat-penalty"},
                                                                           {"top_k", "top-k"},
                                                                           {"top_p", "top-p"},
                                                                           {"min_p", "min-p"},
                                                                           {"seed", "seed"},
                                                                           {"presence_penalty", "presence-penalty"},
                                                                           {"frequency_penalty", "frequency-penalty"},
                                                                           {"num_thread", "threads"}};
  Assistant assistant;
  for (const Instruction& instruction : instructions_of(text)) {
    const std::string where = path + ", line " + std::to_string(instruction.line);
    if (instruction.word == "from") {
      set(assistant, "model", instruction.text, where, notes);
    } else if (instruction.word == "system") {
      assistant.settings["system-prompt"] = instruction.text;
    } else if (instruction.word == "parameter") {
      const size_t blank = std::min(instruction.text.find_first_of(" \t"), instruction.text.size());
      const std::string name = instruction.text.substr(0, blank);
      const auto known = std::ranges::find(kParameters, name, &std::pair<std::string_view, std::string_view>::first);
      if (known != std::end(kParameters))
        set(assistant, std::string(known->second), trimmed_line(instruction.text.substr(blank)), where, notes);
      else
        notes.push_back(where + ": the parameter " + printable(name, kMaxQuotedLine) +
                        " has no meaning here; left out");
    } else if (instruction.word == "template") {
      // Ollama's templates are in Go's language, whose fields begin with a dot.
      if (instruction.text.find("{%") == std::string::npos)
        throw Error(where +
                    ": the template is not Jinja but Go's language; remove TEMPLATE, and the model's own counts");
      assistant.settings["chat-template"] = instruction.text;
    } else {
      notes.push_back(where + ": " + printable(instruction.word, kMaxQuotedLine) + " has no meaning here; left out");
    }
  }
  return assistant;
}

// [NAME], then "key = value" lines; [*] is for all.
std::vector<Assistant> read_presets(const std::string& text, const std::string& path, std::vector<std::string>& notes) {
  std::vector<Assistant> assistants;
  Assistant common;
  Assistant* open = &common;
  std::istringstream lines(text);
  std::string line;
  for (size_t n = 1; std::getline(lines, line); ++n) {
    const std::string clean = trimmed_line(line), where = path + ", line " + std::to_string(n);
    if (clean.empty() || clean[0] == '#' || clean[0] == ';') continue;
    if (clean.front() == '[' && clean.back() == ']') {
      const std::string name = clean.substr(1, clean.size() - 2);
      open = &common;
      if (name == "*") continue;
      assistants.push_back({name, common.settings});
      open = &assistants.back();
      continue;
    }
    const size_t equals = clean.find('=');
    if (equals == std::string::npos)
      throw Error(where + ": '" + printable(clean, kMaxQuotedLine) + "' is no key = value");
    const std::string key = trimmed_line(clean.substr(0, equals)), value = trimmed_line(clean.substr(equals + 1));
    if (key == "version" && assistants.empty()) continue;
    set(*open, key, value, where, notes);
  }
  return assistants;
}

bool is_modelfile(const std::string& text) {
  return std::ranges::any_of(instructions_of(text), [](const Instruction& i) { return i.word == "from"; });
}

}  // namespace

ImportedAssistants read_assistants(const std::string& path, const std::string& name) {
  const std::string text = read_regular_file(path, kMaxImportedBytes);
  require_text(text, path);
  ImportedAssistants imported;
  const std::string clean = trimmed_line(text);
  if (clean.starts_with('{')) {
    ordered_json settings;
    try {
      settings = parse_untrusted_json<ordered_json>(clean);
    } catch (const JsonError& error) {
      throw Error(path + ": " + error.what());
    }
    Assistant assistant;
    if (const auto own = settings.find("name"); own != settings.end() && own->is_string()) assistant.name = *own;
    settings.erase("name");
    for (const auto& [key, value] : settings.items()) {
      const std::string complaint = complaint_about(key, value);
      if (complaint.empty())
        assistant.settings[key] = value;
      else
        imported.notes.push_back(path + ": " + complaint + "; left out");
    }
    imported.assistants = {std::move(assistant)};
  } else if (clean.starts_with('[') || clean.starts_with("version")) {
    imported.assistants = read_presets(text, path, imported.notes);
  } else if (is_modelfile(text)) {
    imported.assistants = {read_modelfile(text, path, imported.notes)};
  } else {
    throw Error(path + " is no assistant: it is neither JSON, a Modelfile nor a file of presets");
  }
  if (imported.assistants.empty()) throw Error(path + " has no assistant");
  if (!name.empty() && imported.assistants.size() > 1)
    throw Error(path + " has " + grouped(imported.assistants.size()) + " assistants; leave out --name");
  for (Assistant& assistant : imported.assistants) {
    if (!name.empty()) assistant.name = name;
    if (assistant.name.empty()) assistant.name = stem_of(path);
  }
  return imported;
}

}  // namespace warpchat
