#include "models/chat_template/chat_template.h"

#include "models/chat_template/interpreter.h"
#include "models/chat_template/parser.h"

namespace warpchat {

struct ChatTemplate::Program {
  jinja::Template parsed;
};

ChatTemplate::ChatTemplate(std::string_view source) : program_(new Program{jinja::parse_template(source)}) {}

ChatTemplate::~ChatTemplate() = default;
ChatTemplate::ChatTemplate(ChatTemplate&&) noexcept = default;

RenderedPrompt ChatTemplate::render_parts(const nlohmann::ordered_json& variables) const {
  jinja::TracedText prompt = jinja::Interpreter(jinja::Limits{}).run(program_->parsed, variables);
  return {std::move(prompt.bytes), std::move(prompt.content)};
}

std::string ChatTemplate::render(const nlohmann::ordered_json& variables) const { return render_parts(variables).text; }

}  // namespace warpchat
