// A text is used if the prompt contains it, or if another text makes another prompt: templates may trim, escape or
// otherwise change what they print.
#include "engine/session/template_content.h"

#include <optional>
#include <string>
#include <vector>

#include "engine/remedy.h"
#include "models/ascii.h"
#include "models/error.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

using nlohmann::ordered_json;

constexpr size_t kMaxRenderings = 4;  // of one prompt, for texts that it does not contain
constexpr size_t kShown = 40;         // bytes of a text in a message

ordered_json content_of(const std::string& text, ContentForm form) {
  if (form == ContentForm::kText) return text;
  return ordered_json::array({{{"type", "text"}, {"text", text}}});
}

std::string text_of(const ordered_json& content) {
  return content.is_string() ? content.get<std::string>() : content.at(0).at("text").get<std::string>();
}

// nullopt: the template refuses these variables.
std::optional<std::string> rendered(const ChatTemplate& chat_template, const ordered_json& variables,
                                    const std::function<bool()>& is_stopped) try {
  return chat_template.render_parts(variables, is_stopped).bytes;
} catch (const Error&) {
  return std::nullopt;
}

bool uses(const ChatTemplate& chat_template, ordered_json variables, ContentForm form) {
  std::optional<std::string> prompts[2];
  for (int i = 0; i < 2; ++i) {
    variables["messages"] =
        ordered_json::array({{{"role", "user"}, {"content", content_of(i == 0 ? "a" : "b", form)}}});
    prompts[i] = rendered(chat_template, variables, {});
  }
  return prompts[0] && prompts[0] != prompts[1];
}

// Texts of the messages that must not get lost.
std::vector<size_t> read_by_the_model(const ordered_json& messages) {
  std::vector<size_t> found;
  for (size_t i = 0; i < messages.size(); ++i) {
    const auto& role = messages[i].at("role");
    if ((role == "user" || role == "system") && !trimmed(text_of(messages[i].at("content"))).empty())
      found.push_back(i);
  }
  return found;
}

}  // namespace

ContentForm content_form(const ChatTemplate& chat_template, const ordered_json& variables) {
  const bool wants_parts =
      !uses(chat_template, variables, ContentForm::kText) && uses(chat_template, variables, ContentForm::kParts);
  return wants_parts ? ContentForm::kParts : ContentForm::kText;
}

void set_content_form(ordered_json& messages, ContentForm form) {
  if (form == ContentForm::kText) return;
  for (ordered_json& message : messages) message["content"] = content_of(message.at("content"), form);
}

void require_used_texts(const ChatTemplate& chat_template, const ordered_json& variables, const TracedText& prompt,
                        const std::function<bool()>& is_stopped) {
  const ordered_json& messages = variables.at("messages");
  std::vector<size_t> missing;
  size_t from = 0;  // messages are printed in order
  for (const size_t i : read_by_the_model(messages)) {
    const std::string text = text_of(messages[i].at("content"));
    const std::string_view sought = trimmed(text);
    const size_t at = prompt.bytes.find(sought, from);
    if (at == std::string::npos)
      missing.push_back(i);
    else
      from = at + sought.size();
  }
  if (missing.size() > kMaxRenderings) missing.erase(missing.begin(), missing.end() - kMaxRenderings);
  for (const size_t i : missing) {
    ordered_json changed = variables;
    ordered_json& content = changed["messages"][i]["content"];
    const std::string text = text_of(content);
    content = content_of(text + "x", content.is_string() ? ContentForm::kText : ContentForm::kParts);
    if (rendered(chat_template, changed, is_stopped) != prompt.bytes) continue;
    throw ErrorWithRemedy("the chat template leaves out the " +
                              std::string(messages[i].at("role") == "user" ? "message" : "system message") + " '" +
                              printable(trimmed(text), kShown) + "'",
                          Remedy::Kind::kOtherTemplate);
  }
}

}  // namespace warpchat
