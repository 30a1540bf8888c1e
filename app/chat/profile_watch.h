// Feeds the open profiler a few times a second during an answer, and once after it. Keeps the measured costs of every
// answer.
#pragma once
#include <chrono>
#include <string>

#include "app/chat/answering.h"
#include "app/chat/load_watch.h"
#include "app/chat/state/state_store.h"
#include "engine/session/model.h"

namespace warpchat {

class ProfileWatch {
 public:
  // post: runs a task on the controller's thread. keeps_trace: profiles from the first answer on, for a trace file that
  // is written at the end.
  ProfileWatch(StateStore& state, std::function<void(Task)> post, bool keeps_trace)
      : state_(state), post_(std::move(post)), keeps_trace_(keeps_trace) {}

  bool measures() const { return on_ || keeps_trace_; }

  // The current responder: a local model, a server, or neither.
  void set_on(bool on, Model* model, const Endpoint* endpoint);
  void begin(Model* model, const Endpoint* endpoint);  // the responder has changed
  void begin_answer(Model& model);                     // resets the rows
  void look(Model& model);                             // call often while an answer is generated
  void show(Model& model);                             // at once
  // It has ended. Null model: a server's answer. is_held: to a form.
  void keep(Model* model, const Answering& answering, const ChatMessage& answer, bool is_held);
  void look_at_endpoint();               // call often
  void save(Model* model,
            const std::string& path) const;  // writes a trace, and a summary to path.md; Error if that fails

 private:
  using Clock = std::chrono::steady_clock;
  StateStore& state_;
  void measure(Model& model) const;

  std::function<void(Task)> post_;
  const bool keeps_trace_;
  std::shared_ptr<LoadWatch> load_;  // while on, for a server
  bool on_ = false;
  uint64_t n_answers_ = 0;
  bool had_settled_ = true;  // the launch mode, as the answer began
  Clock::time_point shown_at_;
};

}  // namespace warpchat
