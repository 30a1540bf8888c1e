// The chat controller: actions go in, a state and its updates come out. It holds the conversations and their storage,
// the model and its settings, and does not depend on terminals or windows. It belongs to one thread, which calls turn()
// repeatedly.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "app/chat/state/actions.h"
#include "app/chat/state/updates.h"
#include "app/settings/options.h"
#include "engine/session/model.h"
#include "engine/session/responder.h"

namespace warpchat {

class ChatController {
 public:
  // The first turn() or take() opens the store, and starts to load the model of the options, or the last one, and to
  // look for choices. wake: called from other threads when turn() has something to do.
  explicit ChatController(const ChatOptions& options, std::function<void()> wake = nullptr);
  // Answers with this responder; no model is loaded until LoadModel.
  ChatController(const ChatOptions& options, std::shared_ptr<Responder> responder,
                 std::function<void()> wake = nullptr);
  ~ChatController();
  void close();  // stops everything; streamed text is stored before this returns. Later actions are ignored

  void submit(Action action);  // now, or in a later turn() once a conflicting answer has stopped
  void post(Action action);    // from any thread: handled in the next turn, which it wakes
  void interrupt();            // from any thread: a waiting turn() returns

  // Asked often, on the controller's thread, while a prompt is built: a chat template is a stranger's program. Posting
  // Stop stops it, too.
  void stop_prompt_when(std::function<bool()> is_stopped);

  // Called on the controller's thread while an action takes long, for take_updates().
  void publish_with(std::function<void()> publish);

  // Processes pending work: events of answers, results of other threads, the store. Returns once something has
  // happened, at the latest after the timeout.
  void turn(std::chrono::milliseconds timeout);

  // Reads from the store what the state does not contain. An Error becomes a notice, and the result is false.
  bool read(const std::function<void(const ConversationStore&)>& look);

  const ChatState& now() const;
  std::vector<Update> take_updates();  // since the last call, to be applied in order

  bool busy() const;  // an answer streams, a model is being loaded, or actions wait for either

  Model* model() const;  // the local model; null: none

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace warpchat
