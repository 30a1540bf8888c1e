// Turns to a prompt that fits, events to turns.
// What is dropped when the context is full: the oldest user turn with its answer, whole, again and again, never the
// system prompt and never the last user turn.
#include "engine/session/chat_session.h"

#include <algorithm>
#include <utility>

namespace warpchat {

namespace {

constexpr uint32_t kAnswerShare = 4;  // a quarter of the context is kept free for the answer where turns can be dropped

std::string token_text(const Tokenizer& tokenizer, Token token) {
  return token < 0 ? std::string() : tokenizer.piece(token, /*with_control=*/true);
}

// The index of the first user turn after this message.
size_t next_turn(const std::vector<Message>& messages, size_t from) {
  do ++from;
  while (from < messages.size() && messages[from].role != "user");
  return from;
}

std::vector<Message> without_last_answer(std::vector<Message> messages) {
  if (!messages.empty() && messages.back().role == "assistant") messages.pop_back();
  return messages;
}

std::vector<Message> without_last_turn(std::vector<Message> messages) {
  messages = without_last_answer(std::move(messages));
  if (!messages.empty()) messages.pop_back();
  return messages;
}

bool ends_inside_thought(std::string_view prompt) {
  const size_t last = prompt.find_last_not_of(" \t\r\n");
  return last != std::string_view::npos && prompt.substr(0, last + 1).ends_with("<think>");
}

}  // namespace

ChatSession::ChatSession(Model& model, SessionOptions options)
    : model_(model), options_(std::move(options)), generator_(model) {
  compile_template();
}

ChatSession::~ChatSession() = default;

void ChatSession::compile_template() {
  const std::string& source = options_.chat_template.empty() ? model_.chat_template : options_.chat_template;
  if (source.empty())
    throw Error(model_.file.path() +
                ": the file has no chat template and its vocabulary no <|im_start|>; use --raw, or give a template "
                "with --chat-template");
  if (template_ && source == template_source_) return;
  try {
    template_ = std::make_unique<ChatTemplate>(source);
  } catch (const Error& error) {
    if (options_.chat_template.empty()) model_.file.fail(error.what());
    throw;
  }
  template_source_ = source;
}

TracedText ChatSession::render(size_t first_message) const {
  using nlohmann::ordered_json;
  ordered_json list = ordered_json::array();
  if (!options_.system_prompt.empty()) list.push_back({{"role", "system"}, {"content", options_.system_prompt}});
  for (size_t i = first_message; i < messages_.size(); ++i)
    list.push_back({{"role", messages_[i].role}, {"content", messages_[i].content}});
  ordered_json variables = {{"messages", std::move(list)},
                            {"add_generation_prompt", true},
                            {"bos_token", token_text(*model_.tokenizer, model_.tokenizer->bos())},
                            {"eos_token", token_text(*model_.tokenizer, model_.tokenizer->eos())}};
  for (const auto& [key, value] : options_.template_variables.items()) variables[key] = value;
  return template_->render_parts(variables);
}

ChatSession::Prompt ChatSession::prompt_without(size_t first_message) const {
  const Tokenizer& tokenizer = *model_.tokenizer;
  const std::string bos = token_text(tokenizer, tokenizer.bos());
  Prompt prompt;
  TracedText text = render(first_message);
  if (options_.parse_special) text.content.clear();
  const bool has_bos = !bos.empty() && text.bytes.starts_with(bos) && !text.has_content(0, bos.size());
  prompt.tokens = tokenizer.encode(text.bytes, text.content, tokenizer.adds_bos() && !has_bos);
  prompt.text = std::move(text.bytes);
  return prompt;
}

// With fewer turns a prompt is shorter, so the first turn that may stay is found by halving.
ChatSession::Prompt ChatSession::build_prompt() const {
  const uint32_t share = model_.context / kAnswerShare;
  const uint32_t reserve =
      options_.max_tokens < 0 ? share : std::min(share, static_cast<uint32_t>(options_.max_tokens));
  const auto fits = [&](const Prompt& prompt) { return prompt.tokens.size() + reserve <= model_.context; };
  Prompt all = prompt_without(0);
  if (fits(all)) return all;
  std::vector<size_t> turns{0};  // where each begins
  for (size_t turn = next_turn(messages_, 0); turn < messages_.size(); turn = next_turn(messages_, turn))
    turns.push_back(turn);
  size_t too_early = 0, last = turns.size() - 1;
  Prompt prompt = last == 0 ? std::move(all) : prompt_without(turns[last]);
  while (last - too_early > 1 && fits(prompt)) {
    const size_t middle = too_early + (last - too_early) / 2;
    Prompt longer = prompt_without(turns[middle]);
    if (fits(longer)) {
      prompt = std::move(longer);
      last = middle;
    } else {
      too_early = middle;
    }
  }
  if (prompt.tokens.size() >= model_.context)
    throw Error("the prompt needs " + std::to_string(prompt.tokens.size()) + " tokens, the context holds " +
                std::to_string(model_.context) + "; shorten it or raise --ctx-size");
  prompt.n_dropped = static_cast<uint32_t>(last);
  return prompt;
}

void ChatSession::start_generation() {
  compile_template();
  Prompt prompt = build_prompt();
  GenerationRequest request;
  const bool starts_thinking = ends_inside_thought(prompt.text);
  thinking_ = ThinkingTracker(starts_thinking);
  request.prompt = std::move(prompt.tokens);
  request.sampling = options_.sampling;
  request.sampling.seed += n_generations_++;  // an answer asked for again is another answer
  request.max_tokens = options_.max_tokens;
  if (prompt.n_dropped > n_dropped_)
    generator_.events().push(Notice{"the context is full: the model no longer sees the first " +
                                    std::to_string(prompt.n_dropped) + " turn(s) (raise --ctx-size to keep more)"});
  n_dropped_ = prompt.n_dropped;
  // The template opened the thought, so the answer's text would lack the tag that its next rendering looks for.
  messages_.push_back({"assistant", starts_thinking ? "<think>\n" : ""});
  answer_start_ = messages_.back().content.size();
  generator_.start(std::move(request));
}

void ChatSession::require_idle() const {
  if (generator_.busy()) throw Error("an answer is being generated; stop it first");
}

void ChatSession::answer(std::vector<Message> turns) {
  require_idle();
  messages_.swap(turns);
  try {
    start_generation();
  } catch (...) {
    messages_.swap(turns);
    throw;
  }
}

void ChatSession::send(std::string user_text) {
  std::vector<Message> turns = messages_;
  turns.push_back({"user", std::move(user_text)});
  answer(std::move(turns));
}

void ChatSession::regenerate() {
  if (messages_.empty()) throw Error("there is no answer to generate again");
  answer(without_last_answer(messages_));
}

void ChatSession::edit_last(std::string user_text) {
  if (messages_.empty()) throw Error("there is no message to edit");
  std::vector<Message> turns = without_last_turn(messages_);
  turns.push_back({"user", std::move(user_text)});
  answer(std::move(turns));
}

void ChatSession::undo() {
  require_idle();
  messages_ = without_last_turn(std::move(messages_));
}

void ChatSession::clear() {
  require_idle();
  messages_.clear();
  context_used_ = n_dropped_ = 0;
}

void ChatSession::restore(std::vector<Message> messages) {
  require_idle();
  messages_ = std::move(messages);
  context_used_ = n_dropped_ = 0;
}

std::optional<Event> ChatSession::next_event(std::chrono::milliseconds timeout) {
  if (pending_.empty()) {
    std::optional<Event> next = generator_.events().pop(timeout);
    if (!next) return next;
    if (auto* delta = std::get_if<TextDelta>(&*next)) {
      auto [text, inside] = thinking_.add(delta->text);
      pending_.push_back(TextDelta{std::move(text), delta->token, delta->seconds, inside});
    } else {
      if (std::holds_alternative<GenerationEnd>(*next))
        if (auto [text, inside] = thinking_.finish(); !text.empty())
          pending_.push_back(TextDelta{std::move(text), -1, 0, inside});
      pending_.push_back(std::move(*next));
    }
  }
  std::optional<Event> event = std::move(pending_.front());
  pending_.pop_front();
  if (const auto* delta = std::get_if<TextDelta>(&*event)) messages_.back().content += delta->text;
  if (const auto* end = std::get_if<GenerationEnd>(&*event)) {
    context_used_ = end->timings.prompt_tokens + end->timings.generated_tokens;
    if (messages_.back().content.size() == answer_start_) messages_.pop_back();  // stopped or failed before any text
  }
  return event;
}

}  // namespace warpchat
