// Asks servers for their models, and lists, stores, renames and removes endpoints, on its own thread: servers, disks
// and keyrings can be slow. A newer job cancels the question to a server that has not answered.
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "app/chat/state/actions.h"
#include "engine/remote/endpoint.h"

namespace warpchat {

struct ListEndpoints {};

std::vector<ModelChoice> choices_of(const std::vector<RemoteModel>& models);  // kServed

class EndpointKeeper {
 public:
  using Job = std::variant<ListEndpoints, ConnectServer, RenameEndpoint, SetDefaultModel, RemoveEndpoint>;
  struct Listeners {  // called on the keeper's thread, or here if no thread can be started
    std::function<void(std::vector<ModelChoice>)> listed;
    std::function<void(ServedModels)> served;
    std::function<void(RenameEndpoint)> renamed;
    std::function<void(std::string)> failed;  // of a job other than ConnectServer
  };
  explicit EndpointKeeper(Listeners listeners) : listeners_(std::move(listeners)) {}
  ~EndpointKeeper();

  void post(Job job);

 private:
  void run();
  void work(const Job& job);
  void list();
  ServedModels ask(const ConnectServer& wish);
  std::vector<RemoteModel> models_of(const Endpoint& endpoint, const ConnectServer& wish, ServedModels& served);
  bool is_superseded();  // the question to a server that has not answered

  const Listeners listeners_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Job> jobs_;  // behind mutex_, as the next
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace warpchat
