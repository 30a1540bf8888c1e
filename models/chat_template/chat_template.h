// Renders a model's Jinja chat template: the prompt equals that of python3-jinja2 with transformers' settings byte for
// byte (trim_blocks, lstrip_blocks, loop controls, tojson in insertion order).
// Structure: lexer -> parser (parse_statement, parse_expression) -> ast -> interpreter (execute, evaluate). The
// interpreter calls operators, methods, filters and value_tests on values (value, loop); python_text, json and the
// formats print them. Not supported (Error with name and line): include, import, extends, block, recursive loops, and
// the filters filesizeformat, groupby, pprint, random, striptags, urlize, wordwrap, xmlattr. Additional to
// transformers: methods that modify lists and dicts, which its sandbox refuses.
#pragma once
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "models/chat_template/traced_text.h"

namespace warpchat {

// Default for a model file without template whose vocabulary has <|im_start|>.
inline constexpr std::string_view kChatMlTemplate =
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

class ChatTemplate {
 public:
  // Parses once. Error with construct and line ("chat template line 12: ...").
  explicit ChatTemplate(std::string_view source);
  ~ChatTemplate();
  ChatTemplate(ChatTemplate&&) noexcept;

  // variables: JSON object in insertion order: messages, tools, add_generation_prompt, bos_token, eos_token,
  // enable_thinking, ... Every key is a template variable. Error with the line for raise_exception and run-time faults.
  // Content is every text in the variables, including keys, except variables named *_token. It stays content when the
  // template cuts, joins, escapes or prints it. Numbers, and text that the template writes because of what it has read,
  // are not content.
  // A template that does too much, takes half a minute, or is to stop (is_stopped is asked often, on this thread) ends
  // with an Error, too.
  TracedText render_parts(const nlohmann::ordered_json& variables, std::function<bool()> is_stopped = {}) const;
  std::string render(const nlohmann::ordered_json& variables) const;  // bytes of the result

 private:
  struct Program;
  std::unique_ptr<Program> program_;
};

}  // namespace warpchat
