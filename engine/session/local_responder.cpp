// Encodes prompts, decodes tokens, and splits reasoning from answers.
#include "engine/session/local_responder.h"

#include <deque>
#include <filesystem>
#include <utility>

namespace warpchat {

class LocalResponder::LocalGeneration : public Generation {
 public:
  LocalGeneration(std::shared_ptr<ScheduledAnswer> answering, const Tokenizer& tokenizer, const Usage& usage,
                  std::optional<ReasoningSplitter::State> answer_begins)
      : answering_(std::move(answering)), detokenizer_(tokenizer), events_{usage} {
    if (answer_begins) splitter_.emplace(*answer_begins);
  }
  ~LocalGeneration() override {
    answering_->stop();
    while (!has_ended_) next_event(std::chrono::hours(1));
  }

  void stop() override { answering_->stop(); }

  std::optional<Event> next_event(std::chrono::milliseconds timeout) override {
    if (events_.empty()) {
      if (has_ended_) return std::nullopt;
      std::optional<AnswerStep> step = answering_->next(timeout);
      if (!step) return std::nullopt;
      std::visit([this](auto& one) { push_event(one); }, *step);
    }
    Event event = std::move(events_.front());
    events_.pop_front();
    return event;
  }

 private:
  void push_event(const PromptProgress& progress) { events_.push_back(progress); }
  void push_event(const NextToken& next) {
    add({detokenizer_.add(next.token), next.token, next.seconds, /*thinking=*/false});
  }
  void push_event(GenerationEnd& end) {
    has_ended_ = true;
    // An answer that was cut within a character makes it anew when it is continued.
    std::string rest = end.reason == EndReason::kEndOfText ? detokenizer_.flush() : "";
    if (!rest.empty()) add({std::move(rest), -1, 0, /*thinking=*/false});
    end.reasoning_ended = splitter_ && splitter_->has_ended_thought();
    if (splitter_)
      for (auto& [text, thinking] : splitter_->finish()) events_.push_back(TextDelta{std::move(text), -1, 0, thinking});
    events_.push_back(std::move(end));
  }

  // Emits one event per token, even without text. A token that spans reasoning and answer counts for the first.
  void add(TextDelta delta) {
    if (!splitter_) return events_.push_back(std::move(delta));
    std::vector<ReasoningSplitter::Piece> pieces = splitter_->add(delta.text);
    if (pieces.empty()) pieces.push_back({"", splitter_->thinking()});
    for (size_t i = 0; i < pieces.size(); ++i)
      events_.push_back(TextDelta{std::move(pieces[i].text), i == 0 ? delta.token : -1, i == 0 ? delta.seconds : 0,
                                  pieces[i].thinking});
  }

  std::shared_ptr<ScheduledAnswer> answering_;
  StreamDetokenizer detokenizer_;
  std::optional<ReasoningSplitter> splitter_;  // none: text is passed through
  std::deque<Event> events_;
  bool has_ended_ = false;
};

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

std::unique_ptr<Generation> LocalResponder::start(const Prompt& prompt, const AnswerOptions& options,
                                                  const OnReady& ready) {
  stamps_.require_unchanged();
  if (const std::string loss = model_.decoder->steps().loss(); !loss.empty())
    throw ErrorWithRemedy(loss, Remedy::Kind::kUseCpu);
  if (scheduler_.n_answers() >= model_.decoder->max_sequences())
    throw Error(scheduler_.n_answers() == 1 ? "an answer is being generated; stop it first"
                                            : "as many answers as fit are being generated; stop one first");
  BuiltPrompt built = build(prompt, options);
  const bool parts = std::holds_alternative<std::vector<Message>>(prompt);
  AnswerRequest request;
  request.sampling = options.sampling;
  if (options.in_front) request.sampling.seed += n_generations_;  // a regenerated answer should differ
  request.max_tokens = options.max_tokens;
  request.in_front = options.in_front;
  request.drafts = options.drafts;
  const Usage usage{static_cast<uint32_t>(built.tokens.size()), 0, built.n_dropped};
  request.prompt = std::move(built.tokens);
  scheduler_.prepare();
  if (ready) ready();
  auto generation = std::make_unique<LocalGeneration>(scheduler_.start(std::move(request)), *model_.tokenizer, usage,
                                                      parts ? std::optional(built.answer_begins) : std::nullopt);
  if (options.in_front) ++n_generations_;  // a title changes no later answer
  return generation;
}

std::optional<uint32_t> LocalResponder::count(const Prompt& prompt, const AnswerOptions& options) {
  return static_cast<uint32_t>(build(prompt, options).tokens.size());
}

}  // namespace warpchat
