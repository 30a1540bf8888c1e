// Encodes prompts, and starts answers with what holds them.
#include "engine/session/local_responder.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "engine/grammar/answer_constraint.h"
#include "engine/session/local_generation.h"

namespace warpchat {

namespace {

std::vector<CallTool> call_tools(const AnswerOptions& options) {
  std::vector<CallTool> tools;
  for (const ToolDeclaration& tool : options.tools) tools.push_back({tool.name, tool.schema.dump()});
  return tools;
}

}  // namespace

LocalResponder::LocalResponder(Model& model)
    : model_(model),
      stamps_(model.file),
      prompts_(model),
      scheduler_(
          *model.decoder, [&model](Token token) { return model.tokenizer->ends_generation(token); },
          model.tokenizer->end_of_generation()) {}

ResponderFacts LocalResponder::facts() const {
  // Absolute, so that a stored answer names its model from any working directory.
  return {.model = std::filesystem::absolute(model_.file.path()).lexically_normal().string(),
          .endpoint = "",
          .context = model_.context,
          .can_think = model_.chat_template.find(kEnableThinking) != std::string::npos,
          .counts_tokens = true,
          .can_call_tools = find_call_format(model_.chat_template) != CallFormat::kNone,
          .at_once = model_.decoder->max_sequences()};
}

BuiltPrompt LocalResponder::build(const Prompt& prompt, const AnswerOptions& options) {
  if (const auto* messages = std::get_if<std::vector<Message>>(&prompt)) return prompts_.build(*messages, options);
  BuiltPrompt built;
  if (const auto* text = std::get_if<std::string>(&prompt)) {
    built.text = *text;
    built.tokens = model_.tokenizer->encode(*text, /*parse_special=*/true, /*add_bos=*/true);
  } else {
    built.tokens = std::get<std::vector<Token>>(prompt);
  }
  if (built.tokens.size() >= model_.context)
    throw PromptTooLong(static_cast<uint32_t>(built.tokens.size()), model_.context, /*drop_helps=*/false);
  return built;
}

// Null: any token may follow.
std::shared_ptr<TokenConstraint> LocalResponder::constraint_for(const AnswerOptions& options,
                                                                const std::vector<CallTool>& tools,
                                                                const Prompt& prompt, const BuiltPrompt& built) {
  const bool holds_calls = options.holds_arguments && built.call_format != CallFormat::kNone;
  if (options.form.is_free() && !holds_calls) return nullptr;
  if (!vocabulary_) vocabulary_ = std::make_unique<AnswerVocabulary>(*model_.tokenizer);
  std::unique_ptr<grammar::Constraint> form;
  if (!options.form.is_free()) form = grammar::compile(options.form);
  std::unique_ptr<HeldCalls> calls;
  if (holds_calls) calls = std::make_unique<HeldCalls>(built.call_format, tools, vocabulary_->trie);
  HeldAnswer::Begin begin;
  if (std::holds_alternative<std::vector<Message>>(prompt))
    begin = {built.thoughts, built.begin.state, built.begin.has_thought, built.begun};
  return std::make_shared<HeldAnswer>(std::move(form), std::move(calls), *vocabulary_, std::move(begin));
}

std::unique_ptr<Generation> LocalResponder::start(const Prompt& prompt, const AnswerOptions& options,
                                                  const OnReady& ready) {
  stamps_.require_unchanged();
  if (const std::string loss = model_.decoder->steps().loss(); !loss.empty())
    throw ErrorWithRemedy(loss, Remedy::Kind::kUseCpu);
  if (scheduler_.n_answers() >= model_.decoder->max_sequences())
    throw Error(scheduler_.n_answers() == 1 ? "an answer is being generated; stop it first"
                                            : "as many answers as fit are being generated; stop one first");
  BuiltPrompt built = build(prompt, options);
  AnswerRequest request;
  request.sampling = options.sampling;
  if (options.in_front) request.sampling.seed += n_generations_;  // a regenerated answer should differ
  request.max_tokens = options.max_tokens;
  request.in_front = options.in_front;
  request.drafts = options.drafts;
  std::vector<CallTool> tools = call_tools(options);
  request.constraint = constraint_for(options, tools, prompt, built);
  const Usage usage{static_cast<uint32_t>(built.tokens.size()), 0, built.n_dropped};
  request.prompt = std::move(built.tokens);
  scheduler_.prepare();
  if (ready) ready();
  auto answering = scheduler_.start(std::move(request));
  auto generation = std::make_unique<LocalGeneration>(std::move(answering), *model_.tokenizer, usage);
  if (std::holds_alternative<std::vector<Message>>(prompt))
    generation->read_messages(built, {.finds_unopened = options.form.is_free(), .tools = std::move(tools)});
  if (options.in_front) ++n_generations_;  // a title changes no later answer
  return generation;
}

std::optional<uint32_t> LocalResponder::count(const Prompt& prompt, const AnswerOptions& options) {
  return static_cast<uint32_t>(build(prompt, options).tokens.size());
}

}  // namespace warpchat
