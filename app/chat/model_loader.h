// Loads a model, downloading it first if requested, or opens an endpoint, on its own thread with progress. A cancelled
// download is kept for later.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/settings/chat_settings.h"
#include "engine/hub/download.h"
#include "engine/remote/endpoint.h"
#include "engine/session/local_responder.h"

namespace warpchat {

// A local model and its responder.
struct LocalModel {
  explicit LocalModel(std::unique_ptr<Model> loaded) : model(std::move(loaded)), responder(*model) {}
  const std::unique_ptr<Model> model;
  LocalResponder responder;
};

struct LoadOutcome {
  std::shared_ptr<LocalModel> local;  // a local model, or
  std::shared_ptr<Responder> other;   // a server's responder; neither: loading failed
  std::optional<Endpoint> endpoint;   // that machine
  ChatSettings settings;              // from flags and file
  std::string fault;                  // why loading failed
  Remedy remedy;                      // of the fault
  std::vector<RemoteModel> served;    // if the server has several and none was named
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
  // Error if no thread can be started. One load at a time.
  // another_model_loaded: another model is loaded that could be unloaded if memory is short.
  void start(const ChatOptions& flags, bool another_model_loaded, Steps steps);
  void cancel();  // takes effect at the next progress step

 private:
  LoadOutcome outcome_of(const std::function<void(LoadOutcome&)>& attempt);
  void open(const ChatOptions& flags, LoadOutcome& outcome);
  void load(const ChatOptions& flags, bool another_model_loaded, const Steps& steps, LoadOutcome& outcome);
  std::string fetch(const HubModelName& name, bool offline, const Steps& steps);

  std::atomic<bool> cancelled_ = false;
  std::mutex mutex_;
  Download* download_ = nullptr;  // the running one; guarded by mutex_
  std::thread thread_;
};

}  // namespace warpchat
