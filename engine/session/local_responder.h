// The model on this machine as a responder. Prompts that begin as earlier ones did are not computed again as far as
// they are the same and the cache has kept it.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "engine/sequences/scheduler.h"
#include "engine/session/model.h"
#include "engine/session/prompt_builder.h"
#include "engine/session/responder.h"

namespace warpchat {

class LocalResponder : public Responder {
 public:
  explicit LocalResponder(Model& model);

  // Error if messages could not be answered with these: no template, or one with a fault.
  void check(const AnswerOptions& options) { prompts_.compile(options); }

  ResponderFacts facts() const override;
  std::unique_ptr<Generation> start(const Prompt& prompt, const AnswerOptions& options) override;
  std::optional<uint32_t> count(const Prompt& prompt, const AnswerOptions& options) override;

  BuiltPrompt build(const Prompt& prompt, const AnswerOptions& options);  // PromptTooLong

 private:
  class LocalGeneration;

  Model& model_;
  PromptBuilder prompts_;
  Scheduler scheduler_;
  uint64_t n_generations_ = 0;
};

}  // namespace warpchat
