// The loaded model with its session, how it is replaced by another one, and the settings for its answers.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/gui/worker/board.h"
#include "app/gui/worker/inbox.h"
#include "app/gui/worker/model_loader.h"

namespace warpchat::gui {

class ModelDesk {
 public:
  struct Surroundings {
    std::function<void(Task)> post;     // to the worker's thread, from any
    std::function<void(Task)> at_rest;  // carried out while no answer is generated, now or later
    std::function<void()> settled;      // nothing is being loaded any more: a model is there, or none
  };
  ModelDesk(Board& board, const ChatOptions& options, Surroundings surroundings);
  ~ModelDesk();

  void load_first();  // what the options name, else the last used one or the only one; else none
  void load(const LoadModel& wish);
  void cancel();
  void unload();       // at rest
  void show_status();  // after an answer, which may have settled how it is launched
  bool is_loading() const { return board_.now().loading.has_value(); }

  void change_settings(const AnswerSettings& settings);
  void count(const CountTokens& wish);
  size_t count(const std::string& text) const;  // tokens; 0 without a model

  const ChatOptions& flags() const { return wanted_; }  // of the model that is loaded, or being loaded
  Model* model() { return model_.get(); }
  ChatSession* session() { return session_.get(); }                    // null: no model is loaded
  SessionOptions options_for(const std::string& system_prompt) const;  // of the next answer

 private:
  struct Attempt {
    ChatOptions flags;
    std::optional<ChatOptions> fallback;  // the model before, which has been given up for this one
    std::string fault;                    // this is the fallback: why the one after it was not loaded
  };
  void start(Attempt attempt);
  void end(LoadOutcome outcome);
  void fail(const LoadOutcome& outcome);
  void install(LoadOutcome outcome);
  void merge_settings(const ChatSettings& defaults);
  bool switch_launch(const LoadModel& wish);
  void settle();
  LoadedModel shown() const;

  Board& board_;
  Surroundings surroundings_;
  ChatOptions wanted_;  // of the load that runs, else as the model was loaded
  ChatOptions loaded_;
  SessionOptions base_options_;
  AnswerSettings default_settings_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<ChatSession> session_;
  std::optional<Attempt> attempt_;  // that is being loaded
  std::optional<Attempt> next_;     // once that one has ended, which has been cancelled
  ModelLoader loader_;
};

}  // namespace warpchat::gui
