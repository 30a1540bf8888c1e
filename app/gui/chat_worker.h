// The chat controller on its own thread, so that a window never waits for it. Actions go in, updates come out.
#pragma once
#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "app/chat/chat_controller.h"

namespace warpchat::gui {

class ChatWorker {
 public:
  // wake: called from another thread when updates are available, once until take_updates().
  ChatWorker(const ChatOptions& options, std::function<void()> wake);
  ~ChatWorker();
  void end();  // stops everything; streamed text is stored before this returns

  void post(Action action) { controller_.post(std::move(action)); }
  std::vector<Update> take_updates();  // to be applied in order; rethrows what ended the conversation's thread
  const Model* model() const { return controller_.model(); }  // only after end(); null: no local model

 private:
  void run();
  void publish();
  void fail();

  const std::function<void()> wake_;
  ChatController controller_;  // used by the thread alone, except post()
  std::atomic<bool> ending_ = false;
  std::mutex mutex_;
  std::vector<Update> published_;  // behind mutex_, as the next
  std::exception_ptr failure_;
  std::thread thread_;
};

}  // namespace warpchat::gui
