#include "models/chat_template/chat_template.h"

#include <utility>

#include "models/chat_template/interpreter.h"
#include "models/chat_template/parser.h"

namespace warpchat {

struct ChatTemplate::Program {
  jinja::Template parsed;
};

ChatTemplate::ChatTemplate(std::string_view source) : program_(new Program{jinja::parse_template(source)}) {}

ChatTemplate::~ChatTemplate() = default;
ChatTemplate::ChatTemplate(ChatTemplate&&) noexcept = default;

TracedText ChatTemplate::render_parts(const nlohmann::ordered_json& variables, std::function<bool()> is_stopped) const {
  return jinja::Interpreter({.is_stopped = std::move(is_stopped)}).run(program_->parsed, variables);
}

std::string ChatTemplate::render(const nlohmann::ordered_json& variables) const {
  return render_parts(variables).bytes;
}

}  // namespace warpchat
