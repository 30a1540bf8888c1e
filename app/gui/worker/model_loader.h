// Loads a model on a thread of its own, with progress, until it is there, fails or is cancelled.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "app/chat_settings.h"
#include "engine/session/chat_session.h"

namespace warpchat::gui {

struct LoadOutcome {
  std::unique_ptr<Model> model;          // null: it is not loaded
  std::unique_ptr<ChatSession> session;  // of the model
  ChatSettings settings;                 // of flags and file
  std::string fault;                     // why it is not
  bool lacks_memory = false, was_cancelled = false;
};

class ModelLoader {
 public:
  ModelLoader() = default;
  ~ModelLoader();  // cancels

  // Both functions are called on the loader's thread, done once and last; if the system gives none, done on the
  // caller's. One load at a time. beside_another: a model that could be given up if memory lacks.
  void start(const ChatOptions& flags, bool beside_another, std::function<void(double)> progress,
             std::function<void(LoadOutcome)> done);
  void cancel() { cancelled_ = true; }  // within one step of its progress

 private:
  LoadOutcome load(const ChatOptions& flags, bool beside_another, const std::function<void(double)>& progress);

  std::atomic<bool> cancelled_ = false;
  std::thread thread_;
};

}  // namespace warpchat::gui
