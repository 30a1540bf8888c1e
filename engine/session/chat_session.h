// A conversation with a model: turns in, prompt through the model's template, answer as events.
#pragma once
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/session/generator.h"
#include "engine/session/responder.h"
#include "engine/session/thinking.h"
#include "models/chat_template/chat_template.h"

namespace warpchat {

using SessionOptions = AnswerOptions;

class ChatSession {
 public:
  // Error if neither options nor model have a template: suggests --raw or --chat-template.
  ChatSession(Model& model, SessionOptions options);
  ~ChatSession();

  // Each starts a generation. Error if one runs, if the last turn alone does not fit the context, or if the system
  // gives no thread: the messages are then as they were.
  void send(std::string user_text);
  void regenerate();                      // the last answer again; Error if there is none
  void edit_last(std::string user_text);  // replaces the last user turn, and answers it

  void stop() { generator_.stop(); }
  bool busy() const { return generator_.busy(); }

  // The next event within the timeout. Text deltas have been added to the last message when they are returned; events
  // must be drained to the GenerationEnd before the next generation starts.
  std::optional<Event> next_event(std::chrono::milliseconds timeout);

  const std::vector<Message>& messages() const { return messages_; }
  void undo();                                  // removes the last user turn and its answer
  void clear();                                 // removes all turns
  void restore(std::vector<Message> messages);  // replaces the conversation

  SessionOptions& options() { return options_; }           // changes hold from the next generation on
  uint32_t context_used() const { return context_used_; }  // tokens of the conversation at the last generation's end
  uint32_t context_size() const { return model_.context; }
  Model& model() { return model_; }

  // The prompt's text and tokens for the conversation as it stands, with the oldest turns dropped until
  // prompt + reserve fits the context; n_dropped counts the dropped turns.
  struct Prompt {
    std::string text;
    std::vector<Token> tokens;
    uint32_t n_dropped = 0;
  };
  Prompt build_prompt() const;

 private:
  TracedText render(size_t first_message) const;
  Prompt prompt_without(size_t first_message) const;  // the messages before this one
  void compile_template();
  void answer(std::vector<Message> turns);  // these are the conversation from now on
  void start_generation();                  // to the messages
  void require_idle() const;

  Model& model_;
  SessionOptions options_;
  std::unique_ptr<ChatTemplate> template_;
  std::string template_source_;
  std::vector<Message> messages_;
  Generator generator_;
  ThinkingTracker thinking_{false};
  std::deque<Event> pending_;
  size_t answer_start_ = 0;  // bytes of the last answer that did not come from the model
  uint32_t context_used_ = 0;
  uint32_t n_dropped_ = 0;  // turns the last prompt left out
  uint64_t n_generations_ = 0;
};

}  // namespace warpchat
