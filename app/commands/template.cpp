// chat template: applies a chat template to messages and prints the exact prompt.
#include <nlohmann/json.hpp>

#include "app/commands/commands.h"
#include "app/model_choice/model_loading.h"
#include "app/platform/output.h"
#include "app/platform/text_input.h"
#include "engine/session/model.h"
#include "engine/untrusted_json.h"
#include "models/chat_template/chat_template.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

using nlohmann::ordered_json;

ordered_json read_variables(const std::string& path) {
  const std::string text = read_file(path);
  require_utf8(text, path);
  try {
    ordered_json variables = parse_untrusted_json<ordered_json>(text);
    if (variables.is_array()) variables = ordered_json{{"messages", ordered_json(variables)}};
    if (!variables.is_object() || !variables.contains("messages") || !variables["messages"].is_array())
      throw Error(path + ": expected an array of messages, or a JSON object with an array 'messages'");
    return variables;
  } catch (const JsonError& error) {
    throw Error(path + ": " + error.what());
  }
}

void set_default(ordered_json& variables, const char* key, const ordered_json& value) {
  if (!variables.contains(key)) variables[key] = value;
}

std::string token_text(const Tokenizer& tokenizer, Token token) {
  return token < 0 ? std::string() : tokenizer.piece(token, /*with_control=*/true);
}

}  // namespace

int run_command(const TemplateOptions& options) {
  if (!options.model.empty() && !options.template_file.empty()) throw UsageError("use -m or --template, not both");
  ordered_json variables = read_variables(options.messages_file);
  std::string source, bos = "<s>", eos = "</s>";
  if (options.template_file.empty()) {
    const GgufFile file = GgufFile::open(find_model_file(options.model));
    const std::unique_ptr<Tokenizer> tokenizer = Tokenizer::from(file);
    source = find_chat_template(file, *tokenizer);
    if (source.empty())
      throw Error(file.path() +
                  ": the file has no chat template and its vocabulary no <|im_start|>; use --template FILE");
    bos = token_text(*tokenizer, tokenizer->bos());
    eos = token_text(*tokenizer, tokenizer->eos());
  } else {
    source = read_file(options.template_file);
    require_utf8(source, options.template_file);
  }
  set_default(variables, "add_generation_prompt", true);
  set_default(variables, "bos_token", bos);
  set_default(variables, "eos_token", eos);
  write_output(ChatTemplate(source).render(variables));
  return 0;
}

}  // namespace warpchat
