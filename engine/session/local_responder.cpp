// Encodes prompts, decodes tokens, and splits reasoning from answers.
#include "engine/session/local_responder.h"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <utility>

namespace warpchat {

class LocalResponder::LocalGeneration : public Generation {
 public:
  LocalGeneration(std::shared_ptr<ScheduledAnswer> answering, const Tokenizer& tokenizer, const Usage& usage)
      : answering_(std::move(answering)), detokenizer_(tokenizer), events_{usage} {}
  LocalGeneration(std::shared_ptr<ScheduledAnswer> answering, const Tokenizer& tokenizer, const Usage& usage,
                  const BuiltPrompt& prompt, bool is_held)
      : LocalGeneration(std::move(answering), tokenizer, usage) {
    thoughts_ = prompt.thoughts;
    splitter_.emplace(thoughts_.text_marks(), prompt.begin, /*finds_unopened=*/!is_held);
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
  using Piece = ReasoningSplitter::Piece;

  void push_event(const PromptProgress& progress) { events_.push_back(progress); }
  void push_event(const NextToken& next) {
    held_.push_back(next.token);
    add(read_held(/*is_end=*/false), next.token, next.seconds);
  }
  void push_event(GenerationEnd& end) {
    has_ended_ = true;
    std::vector<Piece> pieces = read_held(/*is_end=*/true);
    // An answer that was cut within a character makes it anew when it is continued.
    if (end.reason == EndReason::kEndOfText) append(pieces, split(detokenizer_.flush()));
    if (splitter_) append(pieces, splitter_->finish());
    end.reasoning_ended = splitter_ && splitter_->has_ended_thought();
    if (!pieces.empty()) add(std::move(pieces), -1, 0);
    events_.push_back(std::move(end));
  }

  static void append(std::vector<Piece>& pieces, std::vector<Piece> more) {
    pieces.insert(pieces.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }

  std::vector<Piece> split(std::string text) {
    if (splitter_) return splitter_->add(text);
    return text.empty() ? std::vector<Piece>() : std::vector<Piece>{{std::move(text), false}};
  }

  // Reads the tokens that wait, except those that may become a mark of several tokens.
  std::vector<Piece> read_held(bool is_end) {
    std::vector<Piece> pieces;
    while (!held_.empty()) {
      const bool opens = held_ == thoughts_.open, closes = held_ == thoughts_.close;
      if (!opens && !closes && !is_end && (begins(thoughts_.open) || begins(thoughts_.close))) break;
      const size_t n = opens || closes ? held_.size() : 1;
      std::string text;
      for (size_t i = 0; i < n; ++i) text += detokenizer_.add(held_[i]);
      held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(n));
      append(pieces, opens ? splitter_->open(text) : closes ? splitter_->close(text) : split(std::move(text)));
    }
    return pieces;
  }
  bool begins(const std::vector<Token>& mark) const {
    return held_.size() < mark.size() && std::equal(held_.begin(), held_.end(), mark.begin());
  }

  // Emits one event per token, even without text. A token that spans reasoning and answer counts for the first.
  void add(std::vector<Piece> pieces, Token token, double seconds) {
    const auto has_text = [](const Piece& piece) { return !piece.was_thought; };
    if (std::ranges::none_of(pieces, has_text)) pieces.push_back({"", splitter_ && splitter_->thinking()});
    for (Piece& piece : pieces) {
      if (piece.was_thought)
        events_.push_back(Reclassified{true});
      else
        events_.push_back(
            TextDelta{std::move(piece.text), std::exchange(token, -1), std::exchange(seconds, 0), piece.thinking});
    }
  }

  std::shared_ptr<ScheduledAnswer> answering_;
  StreamDetokenizer detokenizer_;
  ModelThoughts thoughts_;
  std::optional<ReasoningSplitter> splitter_;  // none: text is passed through
  std::vector<Token> held_;                    // the beginning of a mark
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

std::unique_ptr<TokenConstraint> LocalResponder::constraint_for(const AnswerForm& form, const Prompt& prompt,
                                                                const BuiltPrompt& built) {
  std::unique_ptr<grammar::Constraint> constraint = constraint_of(form);
  if (!vocabulary_) vocabulary_ = std::make_unique<AnswerVocabulary>(*model_.tokenizer);
  HeldAnswer::Begin begin;
  if (std::holds_alternative<std::vector<Message>>(prompt))
    begin = {built.thoughts, built.begin.state, built.begin.has_thought, built.begun};
  return std::make_unique<HeldAnswer>(std::move(constraint), *vocabulary_, std::move(begin));
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
  if (!options.form.is_free()) request.constraint = constraint_for(options.form, prompt, built);
  const Usage usage{static_cast<uint32_t>(built.tokens.size()), 0, built.n_dropped};
  request.prompt = std::move(built.tokens);
  scheduler_.prepare();
  if (ready) ready();
  auto answering = scheduler_.start(std::move(request));
  auto generation = std::holds_alternative<std::vector<Message>>(prompt)
                        ? std::make_unique<LocalGeneration>(std::move(answering), *model_.tokenizer, usage, built,
                                                                /*is_held=*/!options.form.is_free())
                        : std::make_unique<LocalGeneration>(std::move(answering), *model_.tokenizer, usage);
  if (options.in_front) ++n_generations_;  // a title changes no later answer
  return generation;
}

std::optional<uint32_t> LocalResponder::count(const Prompt& prompt, const AnswerOptions& options) {
  return static_cast<uint32_t>(build(prompt, options).tokens.size());
}

}  // namespace warpchat
