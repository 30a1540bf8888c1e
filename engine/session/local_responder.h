// The local model as a responder. A prompt reuses cached computation of the longest common prefix with earlier prompts.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "engine/sequences/scheduler.h"
#include "engine/session/file_stamps.h"
#include "engine/session/held_answer.h"
#include "engine/session/model.h"
#include "engine/session/prompt_builder.h"
#include "engine/session/responder.h"

namespace warpchat {

class LocalResponder : public Responder {
 public:
  explicit LocalResponder(Model& model);

  // Error if messages cannot be rendered with these options: no template, or a faulty one.
  void check(const AnswerOptions& options) { prompts_.compile(options); }

  ResponderFacts facts() const override;
  std::unique_ptr<Generation> start(const Prompt& prompt, const AnswerOptions& options,
                                    const OnReady& ready = {}) override;
  std::optional<uint32_t> count(const Prompt& prompt, const AnswerOptions& options) override;

  BuiltPrompt build(const Prompt& prompt, const AnswerOptions& options);  // may throw PromptTooLong

 private:
  std::shared_ptr<TokenConstraint> constraint_for(const AnswerOptions& options, const std::vector<CallTool>& tools,
                                                  const Prompt& prompt, const BuiltPrompt& built);

  Model& model_;
  FileStamps stamps_;
  PromptBuilder prompts_;
  std::unique_ptr<AnswerVocabulary> vocabulary_;  // from the first answer that is held on
  Scheduler scheduler_;
  uint64_t n_generations_ = 0;
};

}  // namespace warpchat
