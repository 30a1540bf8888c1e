// Builds prompt tokens from messages with the model's template. On request it drops the oldest turns of a conversation
// that exceeds the context.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/calls/call_format.h"
#include "engine/reasoning_splitter.h"
#include "engine/session/model.h"
#include "engine/session/model_thoughts.h"
#include "engine/session/responder.h"
#include "engine/session/template_content.h"
#include "models/chat_template/chat_template.h"

namespace warpchat {

struct BuiltPrompt {
  std::string text;
  std::vector<Token> tokens;
  uint32_t n_dropped = 0;  // turns dropped at the start: a user's message with its answer each
  ModelThoughts thoughts = {};
  ReasoningSplitter::Begin begin = {};         // of the text that answers it
  CallFormat call_format = CallFormat::kNone;  // of the answer, if there are tools
  std::string begun = {};                      // an unfinished answer's text, which it ends with and which is continued
};

class PromptBuilder {
 public:
  explicit PromptBuilder(const Model& model) : model_(model) {}

  // Error if neither options nor model have a template, or if it is faulty.
  void compile(const AnswerOptions& options);

  // PromptTooLong if it does not fit; with drop_oldest only if the system prompt and the last user's message do not
  // fit. A last message that is an answer ends the prompt, to be continued.
  BuiltPrompt build(const std::vector<Message>& conversation, const AnswerOptions& options);

 private:
  BuiltPrompt newest_turns(const std::vector<Message>& messages, const AnswerOptions& options);
  TracedText render(std::span<const Message> messages, const AnswerOptions& options);
  BuiltPrompt prompt_of(std::span<const Message> messages, const AnswerOptions& options);

  const Model& model_;
  std::unique_ptr<ChatTemplate> template_;
  std::string template_source_;
  std::optional<ContentForm> content_form_;  // of template_; found with its first prompt
};

}  // namespace warpchat
