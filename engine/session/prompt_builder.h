// Messages to the tokens of a prompt that fits: through the model's template, the oldest turns left out where the
// context is too small for all.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/reasoning_splitter.h"
#include "engine/session/model.h"
#include "engine/session/responder.h"
#include "models/chat_template/chat_template.h"

namespace warpchat {

struct BuiltPrompt {
  std::string text;
  std::vector<Token> tokens;
  uint32_t n_dropped = 0;  // turns at the start, a user's message with its answer each, that are left out
  ReasoningSplitter::State answer_begins = ReasoningSplitter::State::kUndecided;
};

class PromptBuilder {
 public:
  explicit PromptBuilder(const Model& model) : model_(model) {}

  // Error if neither options nor model have a template, or if it has a fault.
  void compile(const AnswerOptions& options);

  // Never without the system prompt and the last user's message: PromptTooLong if these alone do not fit. The last
  // message, if it is an answer, is the prompt's end, to be continued.
  BuiltPrompt build(const std::vector<Message>& messages, const AnswerOptions& options);

 private:
  TracedText render(std::span<const Message> messages, const AnswerOptions& options) const;
  BuiltPrompt prompt_of(std::span<const Message> messages, const AnswerOptions& options) const;

  const Model& model_;
  std::unique_ptr<ChatTemplate> template_;
  std::string template_source_;
};

}  // namespace warpchat
