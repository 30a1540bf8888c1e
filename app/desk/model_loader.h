// Loads a model, after fetching it where that is wanted, or opens an endpoint, on a thread of its own, with progress,
// until it is there, fails or is cancelled. What was fetched until then is kept.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "app/chat_settings.h"
#include "engine/hub/download.h"
#include "engine/remote/endpoint.h"
#include "engine/session/local_responder.h"

namespace warpchat {

// A model on this machine, and who answers with it.
struct LocalModel {
  explicit LocalModel(std::unique_ptr<Model> loaded) : model(std::move(loaded)), responder(*model) {}
  const std::unique_ptr<Model> model;
  LocalResponder responder;
};

struct LoadOutcome {
  std::shared_ptr<LocalModel> local;  // a model on this machine, or
  std::shared_ptr<Responder> other;   // another machine's; neither: it is not loaded
  std::optional<Endpoint> endpoint;   // that machine
  ChatSettings settings;              // of flags and file
  std::string fault;                  // why it is not
  WayOut way_out;                     // of the fault
  bool lacks_memory = false, was_cancelled = false;
};

class ModelLoader {
 public:
  ModelLoader() = default;
  ~ModelLoader();  // cancels

  struct Steps {  // on the loader's thread
    std::function<void()> first;
    std::function<void(double fraction, const std::string& transfer)> progress;  // transfer: while it is fetched
    std::function<void(LoadOutcome)> done;                                       // once, last
  };
  // Error if the system gives no thread. One load at a time. key: of the endpoint, to be kept for it; empty: none.
  // beside_another: a model that could be given up if memory lacks.
  void start(const ChatOptions& flags, const std::string& key, bool beside_another, Steps steps);
  void cancel();  // within one step of its progress

 private:
  LoadOutcome outcome_of(const std::function<void(LoadOutcome&)>& attempt);
  void open(const ChatOptions& flags, const std::string& key, LoadOutcome& outcome);
  void load(const ChatOptions& flags, bool beside_another, const Steps& steps, LoadOutcome& outcome);
  std::string fetch(const HubModelName& name, bool offline, const Steps& steps);

  std::atomic<bool> cancelled_ = false;
  std::mutex mutex_;
  Download* download_ = nullptr;  // that runs; behind mutex_
  std::thread thread_;
};

}  // namespace warpchat
