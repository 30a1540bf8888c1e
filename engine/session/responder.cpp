// Message for a prompt that does not fit.
#include "engine/session/responder.h"

#include "models/text_format.h"

namespace warpchat {

nlohmann::ordered_json as_json(const ToolDeclaration& tool) {
  return {{"type", "function"},
          {"function", {{"name", tool.name}, {"description", tool.description}, {"parameters", tool.schema}}}};
}

// Room for one token of the answer is required.
PromptTooLong::PromptTooLong(uint32_t n_prompt, uint32_t n_context, bool drop_helps)
    : Error("the prompt needs " + counted(n_prompt + 1, "token") + ", the context holds " + grouped(n_context)),
      tokens(n_prompt + 1),
      context(n_context),
      can_drop(drop_helps) {}

}  // namespace warpchat
