// The responder: a local model and its replacement, or a server; and the settings of answers.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/chat/model_loader.h"
#include "app/chat/state/inbox.h"
#include "app/chat/state/state_store.h"

namespace warpchat {

class ModelController {
 public:
  struct Surroundings {
    std::function<void(Task)> post;     // runs a task on the controller's thread; callable from any
    std::function<void(Task)> at_rest;  // runs a task while no answer is generated, now or later
    std::function<void()> settled;      // loading has ended, with a model or without
    std::function<void(const std::string& endpoint, const std::vector<RemoteModel>&)> has_several;  // none was named
  };
  ModelController(StateStore& state, const ChatOptions& options, Surroundings surroundings);
  ~ModelController();

  void use(std::shared_ptr<Responder> responder);  // replaces a local model; only at rest
  void load_first();  // the model of the options, else the last used or only one; else none
  void load(const LoadModel& wish);
  void cancel();
  void follow_rename(const RenameEndpoint& renamed);            // of the endpoint in use, perhaps
  std::string key_in_flags(const std::string& endpoint) const;  // empty: they name another server, or no key
  void follow_stored(const std::vector<ModelChoice>& stored);   // perhaps it is among them now, with its key
  void unload();                                                // only at rest
  void show_status();  // after an answer, which may have changed the launch mode
  bool is_loading() const { return state_.now().loading.has_value(); }

  void count(const CountTokens& wish);
  size_t count(const std::string& text) const;  // tokens; 0 without a model

  const ChatOptions& flags() const { return wanted_; }  // of the loaded model, or the one being loaded
  Model* model() const { return local_ ? local_->model.get() : nullptr; }         // on this machine
  const Endpoint* endpoint() const { return endpoint_ ? &*endpoint_ : nullptr; }  // of another machine
  std::shared_ptr<Responder> responder() const;                                   // null: none
  void stop_prompt_when(std::function<bool()> is_stopped) { is_stopped_ = std::move(is_stopped); }
  bool holds_answers() const { return !base_options_.form.is_free(); }  // to a form
  AnswerOptions options_for(const OpenConversation& conversation, const AnswerSettings& settings) const;
  // The next larger context, within the limits of model and memory, that holds a prompt of this many tokens and an
  // answer; 0: none.
  uint32_t context_for(uint32_t tokens) const;

 private:
  struct Attempt {
    ChatOptions flags;
    std::optional<ChatOptions> fallback;  // the previous model, which was unloaded for this one
    std::string fault;                    // for a fallback: why the wanted model was not loaded
  };
  void start(Attempt attempt);
  void launch(bool in_place);
  void remember() const;
  bool is_loaded(const std::string& path) const;
  void end(LoadOutcome outcome);
  void fail(const LoadOutcome& outcome);
  void install(LoadOutcome outcome);
  bool switch_launch(const LoadModel& wish);
  void settle();
  LoadedModel shown() const;
  uint32_t max_context() const;

  StateStore& state_;
  Surroundings surroundings_;
  ChatOptions wanted_;  // of the running load, else of the loaded model
  ChatOptions loaded_;
  AnswerOptions base_options_;
  std::function<bool()> is_stopped_;
  std::shared_ptr<LocalModel> local_;
  std::shared_ptr<Responder> other_;  // null: the local one, if there is one
  std::optional<Endpoint> endpoint_;  // the server of `other_`
  std::optional<Attempt> attempt_;    // being loaded
  uint64_t n_attempts_ = 0;
  bool is_launched_ = false;     // false: the attempt waits for an answer to end
  std::optional<Attempt> next_;  // starts once the cancelled attempt has ended
  ModelLoader loader_;
};

}  // namespace warpchat
