// Two small writers.
#include "app/export.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/output.h"
#include "models/error.h"

namespace warpchat {

namespace {

std::string as_markdown(const std::string& model, const std::vector<Message>& messages) {
  std::string text = "# Conversation with " + model + "\n";
  for (const Message& message : messages)
    text += "\n## " +
            (message.role == "user"     ? std::string("You")
             : message.role == "system" ? "System"
                                        : model) +
            "\n\n" + message.content + (message.content.ends_with('\n') ? "" : "\n");
  return text;
}

std::string as_json(const std::string& model, const std::vector<Message>& messages) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Message& message : messages) list.push_back({{"role", message.role}, {"content", message.content}});
  const nlohmann::ordered_json all = {{"model", model}, {"messages", std::move(list)}};
  return all.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string export_text(const std::string& path, const std::string& model, const std::string& system_prompt,
                        const std::vector<Message>& messages) {
  std::vector<Message> all = messages;
  if (!system_prompt.empty()) all.insert(all.begin(), {"system", system_prompt});
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension == ".md") return as_markdown(model, all);
  if (extension == ".json") return as_json(model, all);
  throw Error("cannot export to " + path + ": its name must end in .md or .json");
}

void export_conversation(const std::string& path, const std::string& model, const std::string& system_prompt,
                         const std::vector<Message>& messages) {
  const std::string text = export_text(path, model, system_prompt, messages);
  std::error_code error;
  if (std::filesystem::exists(path, error)) throw Error(path + " exists already; choose another name");
  OutputFile file(path);
  file.write(text.data(), text.size());
  file.finish();
}

}  // namespace warpchat
