// What the profiler is shown while it is open: a few times a second during an answer, and once after it. Of every
// answer it is kept what it took, as far as it was measured.
#pragma once
#include <chrono>
#include <string>

#include "app/desk/answering.h"
#include "app/desk/board.h"
#include "app/desk/load_watch.h"
#include "engine/session/model.h"

namespace warpchat {

class ProfileWatch {
 public:
  // post: to the desk's thread. keeps_trace: everything is measured from the first answer on, for a file that is
  // written in the end.
  ProfileWatch(Board& board, std::function<void(Task)> post, bool keeps_trace)
      : board_(board), post_(std::move(post)), keeps_trace_(keeps_trace) {}

  bool measures() const { return on_ || keeps_trace_; }

  // Who answers: a model here, another machine, or nobody.
  void set_on(bool on, Model* model, const Endpoint* endpoint);
  void begin(Model* model, const Endpoint* endpoint);  // it is another one now
  void begin_answer(Model& model);                     // the rows begin anew
  void look(Model& model);                             // to be called often while an answer is generated
  void show(Model& model);                             // at once
  void keep(Model* model, const Answering& answering, const ChatMessage& answer);  // it has ended; null: made elsewhere
  void look_at_endpoint();                                                         // to be called often
  void save(Model* model, const std::string& path) const;  // a trace, and a summary as path.md; Error if that fails

 private:
  using Clock = std::chrono::steady_clock;
  Board& board_;
  void measure(Model& model) const;

  std::function<void(Task)> post_;
  const bool keeps_trace_;
  std::shared_ptr<LoadWatch> load_;  // while on, of another machine
  bool on_ = false;
  uint64_t n_answers_ = 0;
  bool had_settled_ = true;  // the launch mode, as the answer began
  Clock::time_point shown_at_;
};

}  // namespace warpchat
