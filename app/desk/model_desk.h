// Who answers: a model on this machine, how it is replaced by another one, or somebody else; and the settings for the
// answers.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/desk/board.h"
#include "app/desk/inbox.h"
#include "app/desk/model_loader.h"

namespace warpchat {

class ModelDesk {
 public:
  struct Surroundings {
    std::function<void(Task)> post;     // to the worker's thread, from any
    std::function<void(Task)> at_rest;  // carried out while no answer is generated, now or later
    std::function<void()> settled;      // nothing is being loaded any more: a model is there, or none
  };
  ModelDesk(Board& board, const ChatOptions& options, Surroundings surroundings);
  ~ModelDesk();

  void use(std::shared_ptr<Responder> responder);  // in place of a model on this machine; at rest
  void load_first();  // what the options name, else the last used one or the only one; else none
  void load(const LoadModel& wish);
  void cancel();
  void unload();       // at rest
  void show_status();  // after an answer, which may have settled how it is launched
  bool is_loading() const { return board_.now().loading.has_value(); }

  void change_settings(AnswerSettings settings);
  void count(const CountTokens& wish);
  size_t count(const std::string& text) const;  // tokens; 0 without a model

  const ChatOptions& flags() const { return wanted_; }  // of the model that is loaded, or being loaded
  Model* model() const { return local_ ? local_->model.get() : nullptr; }         // on this machine
  const Endpoint* endpoint() const { return endpoint_ ? &*endpoint_ : nullptr; }  // of another machine
  std::shared_ptr<Responder> responder() const;                                   // null: nobody answers
  AnswerOptions options_for(const OpenConversation& conversation) const;          // of its next answer
  // The next larger context that holds a prompt of so many tokens and an answer, as far as the model was made for it
  // and its device has room; 0: there is none.
  uint32_t context_for(uint32_t tokens) const;

 private:
  struct Attempt {
    ChatOptions flags;
    std::optional<ChatOptions> fallback;  // the model before, which has been given up for this one
    std::string fault;                    // this is the fallback: why the one after it was not loaded
    std::string key = {};                 // of the endpoint, to be kept for it
  };
  void start(Attempt attempt);
  void launch(bool in_place);
  bool is_loaded(const std::string& path) const;
  void end(LoadOutcome outcome);
  void fail(const LoadOutcome& outcome);
  void install(LoadOutcome outcome);
  void merge_settings(const ChatSettings& defaults);
  bool switch_launch(const LoadModel& wish);
  void settle();
  LoadedModel shown() const;
  uint32_t most_context() const;

  Board& board_;
  Surroundings surroundings_;
  ChatOptions wanted_;  // of the load that runs, else as the model was loaded
  ChatOptions loaded_;
  AnswerOptions base_options_;
  std::shared_ptr<LocalModel> local_;
  std::shared_ptr<Responder> other_;  // null: the local one, if there is one
  std::optional<Endpoint> endpoint_;  // whose `other_` is
  std::optional<Attempt> attempt_;    // that is being loaded
  uint64_t n_attempts_ = 0;
  bool is_launched_ = false;     // the attempt; false: it waits for an answer to end
  std::optional<Attempt> next_;  // once that one has ended, which has been cancelled
  ModelLoader loader_;
};

}  // namespace warpchat
