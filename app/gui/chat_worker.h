// Everything of the window that may take time, on a thread of its own: the store, the model and its session. Actions go
// in, updates come out; loading a model runs beside it, so that conversations can be read meanwhile.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "app/gui/actions.h"
#include "app/gui/updates.h"
#include "app/options.h"

namespace warpchat::gui {

class ChatWorker {
 public:
  // Starts at once: opens the store, finds the models, loads the one that options ask for (or the last one).
  // wake: called from another thread when there are updates to take, once until they are taken.
  ChatWorker(const ChatOptions& options, std::function<void()> wake);
  ~ChatWorker();  // stops what runs; what has streamed is in the store before this returns

  void post(Action action);
  std::vector<Update> take_updates();  // to be applied in order

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace warpchat::gui
