// Renders a model's Jinja chat template: messages to the exact prompt text.
#pragma once
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace warpchat {

// For a model file without a template whose vocabulary has <|im_start|>.
inline constexpr std::string_view kChatMlTemplate =
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

class ChatTemplate {
 public:
  // Parses once. Error names the construct and its line ("chat template line 12: ...").
  explicit ChatTemplate(std::string_view source);
  ~ChatTemplate();
  ChatTemplate(ChatTemplate&&) noexcept;

  // variables: a JSON object in insertion order: messages, tools, add_generation_prompt, bos_token, eos_token,
  // enable_thinking, ... Every key is a template variable. Error for raise_exception and run-time faults, with the
  // line.
  std::string render(const nlohmann::ordered_json& variables) const;

 private:
  struct Program;
  std::unique_ptr<Program> program_;
};

}  // namespace warpchat
