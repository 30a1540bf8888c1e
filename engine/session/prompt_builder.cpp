// If a conversation does not fit, drops its oldest user turns, each with its answers.
#include "engine/session/prompt_builder.h"

#include <algorithm>
#include <utility>

#include "engine/remedy.h"
#include "engine/untrusted_json.h"

namespace warpchat {

namespace {

using nlohmann::ordered_json;
using State = ReasoningSplitter::State;

constexpr uint32_t kAnswerShare = 4;  // when turns are dropped, 1/kAnswerShare of the context stays free for the answer

std::string token_text(const Tokenizer& tokenizer, Token token) {
  return token < 0 ? std::string() : tokenizer.piece(token, /*with_control=*/true);
}

// Start of each user turn, with the first message.
std::vector<size_t> turns_of(std::span<const Message> messages) {
  std::vector<size_t> turns{0};
  for (size_t i = 1; i < messages.size(); ++i)
    if (messages[i].role == "user") turns.push_back(i);
  return turns;
}

// As templates expect it: OpenAI's format, but arguments as a JSON value, not a string.
ordered_json as_template_variable(const Message& message) {
  ordered_json variable = {{"role", message.role}, {"content", text_for_model(message)}};
  if (!message.reasoning.empty()) variable["reasoning_content"] = message.reasoning;
  for (const ToolCall& call : message.tool_calls) {
    ordered_json arguments = try_parse_untrusted_json<ordered_json>(call.arguments);
    if (arguments.is_discarded()) arguments = call.arguments;
    ordered_json function = {{"name", call.name}};
    function["arguments"] = std::move(arguments);
    variable["tool_calls"].push_back({{"id", call.id}, {"type", "function"}});
    variable["tool_calls"].back()["function"] = std::move(function);
  }
  if (!message.tool_call_id.empty()) variable["tool_call_id"] = message.tool_call_id;
  if (!message.tool_name.empty()) variable["name"] = message.tool_name;
  return variable;
}

// Appends an unfinished answer, whose thought may be open. Returns how it goes on.
ReasoningSplitter::Begin append_answer(TracedText& prompt, const Message& answer, const ModelThoughts& thoughts) {
  const ReasoningSplitter::Begin begin = begin_after(prompt, thoughts);
  if (answer.reasoning.empty() && answer.content.empty()) return begin;
  const ThoughtMarks& marks = thoughts.marks ? *thoughts.marks : kUsualMarks;
  const bool is_opened = begin.state == State::kThinking, has_thought = !answer.reasoning.empty();
  if (has_thought && !is_opened) prompt.append(std::string(marks.open) + std::string(marks.after_open));
  prompt.append(text_for(answer.reasoning, /*is_content=*/true));
  if (answer.content.empty() && !answer.reasoning_ended) return begin_behind(answer);
  if (is_opened || has_thought)
    prompt.append(std::string(marks.before_close) + std::string(marks.close) + std::string(marks.after_close));
  prompt.append(text_for(answer.content, /*is_content=*/true));
  ReasoningSplitter::Begin behind = begin_behind(answer);
  behind.has_thought |= begin.has_thought || is_opened;
  return behind;
}

}  // namespace

void PromptBuilder::compile(const AnswerOptions& options) {
  const std::string& source = options.chat_template.empty() ? model_.chat_template : options.chat_template;
  if (source.empty())
    throw ErrorWithRemedy(model_.file.path() + ": the file has no chat template and its vocabulary no <|im_start|>",
                          Remedy::Kind::kOtherTemplate);
  if (template_ && source == template_source_) return;
  try {
    template_ = std::make_unique<ChatTemplate>(source);
  } catch (const Error& error) {
    if (options.chat_template.empty()) model_.file.fail(error.what());
    throw;
  }
  template_source_ = source;
  content_form_.reset();
}

TracedText PromptBuilder::render(std::span<const Message> messages, const AnswerOptions& options) {
  const Tokenizer& tokenizer = *model_.tokenizer;
  ordered_json list = ordered_json::array();
  if (!options.system_prompt.empty()) list.push_back({{"role", "system"}, {"content", options.system_prompt}});
  for (const Message& message : messages) list.push_back(as_template_variable(message));
  ordered_json variables = {{"messages", std::move(list)},
                            {"add_generation_prompt", true},
                            {"bos_token", token_text(tokenizer, tokenizer.bos())},
                            {"eos_token", token_text(tokenizer, tokenizer.eos())}};
  for (const ToolDeclaration& tool : options.tools)
    variables["tools"].push_back(as_json(tool));
  for (const auto& [key, value] : options.template_variables.items()) variables[key] = value;
  if (!content_form_) content_form_ = content_form(*template_, variables);
  set_content_form(variables["messages"], *content_form_);
  TracedText prompt = template_->render_parts(variables, options.is_stopped);
  require_used_texts(*template_, variables, prompt, options.is_stopped);
  return prompt;
}

BuiltPrompt PromptBuilder::prompt_of(std::span<const Message> messages, const AnswerOptions& options) {
  const Tokenizer& tokenizer = *model_.tokenizer;
  const std::string bos = token_text(tokenizer, tokenizer.bos());
  const bool continues = !messages.empty() && messages.back().role == "assistant";
  BuiltPrompt prompt;
  TracedText text = render(continues ? messages.first(messages.size() - 1) : messages, options);
  const Message unfinished = continues ? messages.back() : Message();
  prompt.thoughts = find_thoughts(tokenizer, template_source_, options.system_prompt);
  if (!prompt.thoughts.marks && !unfinished.reasoning.empty()) prompt.thoughts.marks = &kUsualMarks;
  prompt.begun = unfinished.content;
  if (!options.tools.empty()) prompt.call_format = find_call_format(template_source_);
  prompt.begin = append_answer(text, unfinished, prompt.thoughts);
  if (options.parse_special) text.content.clear();
  const bool has_bos = !bos.empty() && text.bytes.starts_with(bos) && !text.has_content(0, bos.size());
  prompt.tokens = tokenizer.encode(text.bytes, text.content, tokenizer.adds_bos() && !has_bos);
  prompt.text = std::move(text.bytes);
  return prompt;
}

BuiltPrompt PromptBuilder::build(const std::vector<Message>& conversation, const AnswerOptions& options) {
  compile(options);
  const std::vector<Message> messages = messages_for_model(conversation);
  const auto is_too_long = [&](const BuiltPrompt& prompt) { return prompt.tokens.size() >= model_.context; };
  BuiltPrompt prompt = options.drop_oldest ? newest_turns(messages, options) : prompt_of(messages, options);
  if (!is_too_long(prompt)) return prompt;
  const bool drop_helps = !options.drop_oldest && !is_too_long(newest_turns(messages, options));
  throw PromptTooLong(static_cast<uint32_t>(prompt.tokens.size()), model_.context, drop_helps);
}

// Keeps as many turns as fit with room for an answer, at least the last one. Prompts get shorter with fewer turns, so a
// binary search finds the first turn to keep.
BuiltPrompt PromptBuilder::newest_turns(const std::vector<Message>& messages, const AnswerOptions& options) {
  const uint32_t share = model_.context / kAnswerShare;
  const uint32_t reserve = options.max_tokens < 0 ? share : std::min(share, static_cast<uint32_t>(options.max_tokens));
  const auto fits = [&](const BuiltPrompt& prompt) { return prompt.tokens.size() + reserve <= model_.context; };
  const std::vector<size_t> turns = turns_of(messages);
  const auto from = [&](size_t turn) {
    BuiltPrompt prompt = prompt_of(std::span(messages).subspan(turns[turn]), options);
    prompt.n_dropped = static_cast<uint32_t>(turn);
    return prompt;
  };
  BuiltPrompt prompt = from(0);
  if (fits(prompt) || turns.size() == 1) return prompt;
  size_t too_early = 0, last = turns.size() - 1;
  prompt = from(last);
  while (last - too_early > 1 && fits(prompt)) {
    const size_t middle = too_early + (last - too_early) / 2;
    BuiltPrompt longer = from(middle);
    if (fits(longer)) {
      prompt = std::move(longer);
      last = middle;
    } else {
      too_early = middle;
    }
  }
  return prompt;
}

}  // namespace warpchat
