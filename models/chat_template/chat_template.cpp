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

TracedText ChatTemplate::render_parts(const nlohmann::ordered_json& variables) const {
  return jinja::Interpreter(jinja::Limits{}).run(program_->parsed, variables);
}

std::string ChatTemplate::render(const nlohmann::ordered_json& variables) const {
  return render_parts(variables).bytes;
}

}  // namespace warpchat
