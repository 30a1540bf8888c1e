// Renders a model's Jinja chat template: messages to the exact prompt text, byte for byte what python3-jinja2 gives in
// transformers' settings (trim_blocks, lstrip_blocks, loop controls, tojson in insertion order).
// Reading path: lexer -> parser (parse_statement, parse_expression) -> ast -> interpreter (execute, evaluate), which
// calls operators, methods, filters and value_tests on values (value, loop); python_text, json and the formats print
// them. Left out, each an Error with its name and line: include, import, extends, block, recursive loops, and the
// filters filesizeformat, groupby, pprint, random, striptags, urlize, wordwrap, xmlattr. More than transformers allows:
// methods that change lists and dicts, which its sandbox refuses.
#pragma once
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "models/chat_template/traced_text.h"

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
  // line. Content is every text in the variables, keys too, but for those of variables named *_token, and what the
  // template works out of them: cut, joined, escaped, printed. Numbers, and what a template writes because of what it
  // has read, are not.
  TracedText render_parts(const nlohmann::ordered_json& variables) const;
  std::string render(const nlohmann::ordered_json& variables) const;  // its bytes

 private:
  struct Program;
  std::unique_ptr<Program> program_;
};

}  // namespace warpchat
