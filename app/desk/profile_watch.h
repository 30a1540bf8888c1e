// What the profiler is shown while it is open: a few times a second during an answer, and once after it.
#pragma once
#include <chrono>
#include <string>

#include "app/desk/board.h"
#include "engine/session/model.h"

namespace warpchat {

class ProfileWatch {
 public:
  explicit ProfileWatch(Board& board) : board_(board) {}

  void set_on(bool on, Model* model);                      // model: null while none is loaded
  void begin_model(Model& model);                          // a model has been loaded
  void begin_answer(Model& model);                         // the rows begin anew
  void look(Model& model);                                 // to be called often while an answer is generated
  void show(Model& model);                                 // at once
  void save(Model* model, const std::string& path) const;  // a trace, and a summary as path.md; Error if that fails

 private:
  using Clock = std::chrono::steady_clock;
  Board& board_;
  bool on_ = false;
  Clock::time_point shown_at_;
};

}  // namespace warpchat
