// Messages to the tokens of a prompt that fits: through the model's template, and where that is wished for without the
// oldest turns of a conversation that is longer than the context.
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

  // PromptTooLong if it does not fit; with drop_oldest, if not even the system prompt and the last user's message do.
  // The last message, if it is an answer, is the prompt's end, to be continued.
  BuiltPrompt build(const std::vector<Message>& messages, const AnswerOptions& options);

 private:
  BuiltPrompt newest_turns(const std::vector<Message>& messages, const AnswerOptions& options) const;
  TracedText render(std::span<const Message> messages, const AnswerOptions& options) const;
  BuiltPrompt prompt_of(std::span<const Message> messages, const AnswerOptions& options) const;

  const Model& model_;
  std::unique_ptr<ChatTemplate> template_;
  std::string template_source_;
};

}  // namespace warpchat
