// Answers that call tools: an answer with calls is a round; the calls are decided about and carried out, and their
// results go back to the model, which goes on.
#pragma once
#include <memory>

#include "app/tools/approval.h"
#include "app/tools/tools.h"
#include "engine/session/responder.h"

namespace warpchat {

void add_tools(AnswerOptions& options, const Tools& tools);

class ToolResponder : public Responder {
 public:
  struct Limits {
    uint32_t max_rounds = 16;
    bool holds_arguments = true;  // AnswerOptions'
  };
  // approval is used on the thread that asks for events.
  ToolResponder(std::shared_ptr<Responder> model, std::shared_ptr<Tools> tools, std::shared_ptr<Approval> approval,
                Limits limits)
      : model_(std::move(model)), tools_(std::move(tools)), approval_(std::move(approval)), limits_(limits) {}

  ResponderFacts facts() const override { return model_->facts(); }
  // Prompts of text or tokens are completed without tools.
  std::unique_ptr<Generation> start(const Prompt& prompt, const AnswerOptions& options,
                                    const OnReady& ready = {}) override;
  std::optional<uint32_t> count(const Prompt& prompt, const AnswerOptions& options) override;

 private:
  class ToolGeneration;
  AnswerOptions with_tools(AnswerOptions options) const;

  std::shared_ptr<Responder> model_;
  std::shared_ptr<Tools> tools_;
  std::shared_ptr<Approval> approval_;
  Limits limits_;
};

}  // namespace warpchat
