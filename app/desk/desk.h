// The one conversation controller: what the user wants goes in as actions, and what a front end shows comes out as a
// state and its updates. It holds the conversations, their way into the store, the model and its settings, and knows
// nothing of terminals and windows. An object belongs to one thread, which calls turn() again and again.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "app/desk/actions.h"
#include "app/desk/updates.h"
#include "app/options.h"
#include "engine/session/model.h"
#include "engine/session/responder.h"

namespace warpchat {

class Desk {
 public:
  // The first turn() or take() opens the store; the model that the options ask for, or the last one, is loaded beside
  // what follows, and what there is to choose from looked for. wake: called from other threads when turn() has
  // something to do.
  explicit Desk(const ChatOptions& options, std::function<void()> wake = nullptr);
  // Whoever this is answers, and no model is loaded until LoadModel.
  Desk(const ChatOptions& options, std::shared_ptr<Responder> responder, std::function<void()> wake = nullptr);
  ~Desk();
  void close();  // stops what runs; what has streamed is in the store before this returns. Nothing more is taken

  void take(Action action);  // now, or once an answer that is in its way has stopped: turn() sees to it
  void post(Action action);  // from any thread: taken in the next turn, which it wakes
  void interrupt();          // from any thread: a turn that waits returns

  // Goes on with everything: events of answers, what other threads have finished, the store. Returns once something
  // has happened, at the latest after the timeout.
  void turn(std::chrono::milliseconds timeout);

  // Lets somebody look into the store for what the state does not have. An Error becomes a notice: false then.
  bool read(const std::function<void(const ConversationStore&)>& look);

  const DeskState& now() const;
  std::vector<Update> take_updates();  // since the last call, to be applied in order

  bool busy() const;  // an answer streams, a model is loaded, or actions wait for either

  Model* model() const;  // that is loaded on this machine; null: none

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace warpchat
