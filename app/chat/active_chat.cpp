// An action becomes a question; a question becomes a prompt, and then a change of the branch.
#include "app/chat/active_chat.h"

#include <utility>
#include <vector>

namespace warpchat {

namespace {

// An answer that could not begin after its question had been stored.
class FailedGeneration : public Generation {
 public:
  explicit FailedGeneration(const std::exception& error)
      : end_{GenerationEnd{EndReason::kFailed, {}, error.what(), remedy_of(error)}} {}
  std::optional<Event> next_event(std::chrono::milliseconds) override { return std::exchange(end_, std::nullopt); }
  void stop() override {}

 private:
  std::optional<Event> end_;
};

}  // namespace

std::string title_of_message(const Message& message) {
  const std::string title = title_from(message.content);
  return title.empty() && !message.files.empty() ? title_from(message.files.front().name) : title;
}

std::optional<Question> ActiveChat::regenerate(uint64_t message) const {
  const std::optional<size_t> i = branch.index_of(message);
  if (!i) return std::nullopt;
  const size_t n = now().messages[*i].role == "user" ? *i + 1 : *i;
  if (n == 0 || now().messages[n - 1].role != "user") return std::nullopt;
  return Question{.n_kept = n, .message = message};
}

std::optional<Question> ActiveChat::edit(uint64_t message, const std::string& text) const {
  const std::optional<size_t> i = branch.index_of(message);
  if (!i || text.empty()) return std::nullopt;
  Message edited{.role = now().messages[*i].role, .content = text, .files = now().messages[*i].files};
  const std::string title = title_of_message(edited);
  return Question{*i, std::move(edited), title};
}

std::optional<Question> ActiveChat::go_on(uint64_t message) const {
  const std::vector<ChatMessage>& messages = now().messages;
  if (messages.size() < 2 || messages.back().key != message || messages.back().role != "assistant") return std::nullopt;
  if (!is_begun(messages.back())) return std::nullopt;
  return Question{.n_kept = messages.size(), .continues = true, .message = message};
}

void ActiveChat::replace_answer(uint64_t message, const std::string& text) {
  const std::optional<size_t> i = branch.index_of(message);
  if (!i || text.empty()) return;
  branch.cut(*i);
  branch.add({.role = "assistant", .content = text}, title_from(text));
  branch.keep_cut();
}

bool ActiveChat::undo() {
  const std::vector<ChatMessage>& messages = now().messages;
  for (size_t i = messages.size(); i-- > 0;) {
    if (messages[i].role != "user") continue;
    branch.undo(i);
    return true;
  }
  return false;
}

std::vector<Message> ActiveChat::prompt(const Question& question) const {
  std::vector<Message> messages = branch.prompt(question.n_kept);
  if (question.added) messages.push_back(*question.added);
  return messages;
}

void ActiveChat::accept(const Question& question) {
  if (question.n_kept < now().messages.size()) branch.cut(question.n_kept);
  if (question.added) branch.add(*question.added, question.title);
}

void ActiveChat::ask(std::shared_ptr<Responder> responder, const AnswerOptions& options, const Question& question) {
  std::unique_ptr<Generation> generation;
  bool is_accepted = false;
  try {
    generation = responder->start(prompt(question), options, [&] {
      is_accepted = true;
      accept(question);
    });
  } catch (const std::exception& error) {
    if (!is_accepted) throw;
    generation = std::make_unique<FailedGeneration>(error);
  }
  answering.begin(std::move(responder), std::move(generation), question.continues);
}

void ActiveChat::wait(const Question& question) {
  accept(question);
  waiting_ = {.n_kept = now().messages.size(),
              .continues = question.continues,
              .message = now().messages.back().key,
              .settings = question.settings};
  slot.change(updates::SetPhase{AnswerPhase::kWaiting});
}

void ActiveChat::halt() {
  answering.stop();
  if (!waits()) return;
  slot.change(updates::SetPhase{AnswerPhase::kIdle});
  branch.put_back();
}

}  // namespace warpchat
