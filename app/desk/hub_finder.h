// What the hub has under some words, asked for on a thread of its own: a moment after the last word, one search at a
// time. A newer one ends the one before.
#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "app/desk/desk_state.h"

namespace warpchat {

class HubClient;

class HubFinder {
 public:
  // tell: on the finder's thread (or here, if the system gives none), each time more is known.
  explicit HubFinder(std::function<void(HubSearch)> tell) : tell_(std::move(tell)) {}
  ~HubFinder();

  struct Question {
    std::string words;  // empty: nobody is asked; only whether anybody may be is told
    bool now = false;   // else when no newer one comes for a moment
    bool offline = false;
    std::string device;        // whose memory counts
    uint64_t spare_bytes = 0;  // as memory_room's
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
  HubClient* client_ = nullptr;     // of the search that runs
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace warpchat
