// Searches the hub on its own thread, shortly after the last keystroke, one search at a time. A newer search cancels
// the older one.
#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "app/chat/state/chat_state.h"

namespace warpchat {

class HubClient;

class HubFinder {
 public:
  // tell: called with each partial result on the finder's thread (or here, if no thread can be started).
  explicit HubFinder(std::function<void(HubSearch)> tell) : tell_(std::move(tell)) {}
  ~HubFinder();

  struct Question {
    std::string words;  // empty: no search, but reports whether the hub may be contacted
    bool now = false;   // else after a short pause in typing
    bool offline = false;
    std::string device;        // the model has to fit its memory
    uint64_t spare_bytes = 0;  // as in memory_room()
  };
  void look(Question question);

 private:
  void run();
  void answer(const Question& question);
  void ask(const Question& question, HubSearch& known);
  void announce(HubClient* running);

  const std::function<void(HubSearch)> tell_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::optional<Question> wanted_;  // behind mutex_, as the two below
  HubClient* client_ = nullptr;     // of the running search
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace warpchat
