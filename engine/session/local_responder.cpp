// Prompts to tokens, and the generator's tokens to events with the thought parted from the answer.
#include "engine/session/local_responder.h"

#include <deque>
#include <filesystem>
#include <utility>

namespace warpchat {

class LocalResponder::LocalGeneration : public Generation {
 public:
  LocalGeneration(Generator& generator, std::optional<ReasoningSplitter::State> answer_begins) : generator_(generator) {
    if (answer_begins) splitter_.emplace(*answer_begins);
  }
  ~LocalGeneration() override {
    generator_.stop();
    generator_.wait();
    while (generator_.events().try_pop()) {
    }
  }

  void stop() override { generator_.stop(); }

  std::optional<Event> next_event(std::chrono::milliseconds timeout) override {
    if (split_.empty()) {
      std::optional<Event> event = has_ended_ ? std::nullopt : generator_.events().pop(timeout);
      if (!event) return event;
      take(std::move(*event));
    }
    Event event = std::move(split_.front());
    split_.pop_front();
    return event;
  }

 private:
  void take(Event event) {
    if (auto* delta = std::get_if<TextDelta>(&event); delta && splitter_) return split(*delta);
    if (std::holds_alternative<GenerationEnd>(event)) {
      has_ended_ = true;
      if (splitter_)
        for (auto& [text, thinking] : splitter_->finish())
          split_.push_back(TextDelta{std::move(text), -1, 0, thinking});
    }
    split_.push_back(std::move(event));
  }

  // Each token is one event, whether it has text or not; a token of both thought and answer is the first's.
  void split(TextDelta& delta) {
    std::vector<ReasoningSplitter::Piece> pieces = splitter_->add(delta.text);
    if (pieces.empty()) pieces.push_back({"", splitter_->thinking()});
    for (size_t i = 0; i < pieces.size(); ++i)
      split_.push_back(TextDelta{std::move(pieces[i].text), i == 0 ? delta.token : -1, i == 0 ? delta.seconds : 0,
                                 pieces[i].thinking});
  }

  Generator& generator_;
  std::optional<ReasoningSplitter> splitter_;  // none: the text as it is
  std::deque<Event> split_;
  bool has_ended_ = false;
};

ResponderFacts LocalResponder::facts() const {
  // Absolute: a stored answer names its model wherever the program is started next.
  return {.model = std::filesystem::absolute(model_.file.path()).lexically_normal().string(),
          .endpoint = "",
          .context = model_.context,
          .can_think = model_.chat_template.find(kEnableThinking) != std::string::npos,
          .counts_tokens = true,
          .at_once = 1};
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

std::unique_ptr<Generation> LocalResponder::start(const Prompt& prompt, const AnswerOptions& options) {
  if (generator_.busy()) throw Error("an answer is being generated; stop it first");
  BuiltPrompt built = build(prompt, options);
  const bool parts = std::holds_alternative<std::vector<Message>>(prompt);
  GenerationRequest request;
  request.sampling = options.sampling;
  request.sampling.seed += n_generations_;  // an answer asked for again is another answer
  request.max_tokens = options.max_tokens;
  auto generation =
      std::make_unique<LocalGeneration>(generator_, parts ? std::optional(built.answer_begins) : std::nullopt);
  generator_.events().push(Usage{static_cast<uint32_t>(built.tokens.size()), 0, built.n_dropped});
  request.prompt = std::move(built.tokens);
  generator_.start(std::move(request));
  ++n_generations_;
  return generation;
}

std::optional<uint32_t> LocalResponder::count(const Prompt& prompt, const AnswerOptions& options) {
  return static_cast<uint32_t>(build(prompt, options).tokens.size());
}

}  // namespace warpchat
