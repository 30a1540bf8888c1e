// The stored conversations as the window lists and searches them, and the way to the store for whoever adds to them.
// A store that cannot be opened is replaced by one in memory, so that everything but keeping works. One that fails
// later is tried again at each change; one that turns out to be damaged is set aside, and a new one begins.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "app/desk/board.h"
#include "engine/store/conversation_store.h"

namespace warpchat {

class Library {
 public:
  explicit Library(Board& board) : board_(board) {}

  // left: called when a new store has taken the place of a damaged one, which is closed by then.
  void when_store_is_left(std::function<void()> left) { left_ = std::move(left); }

  // keeps: false: nothing is written to disk, as the user asked.
  void open(bool keeps);

  // What reads, or changes what is there: an Error becomes a notice. False then.
  bool try_to(const std::function<void(ConversationStore&)>& action);

  // What keeps new text: an Error becomes the state's store_fault, told once, until keeping works again. False then. Is
  // called again where the store had to be left.
  bool keep(const std::function<void(ConversationStore&)>& action);

  void refresh();  // the lists and the search's results, where they have changed
  void search(const std::string& words);

  // To be called often: a few seconds apart, whether others have changed the store. True if so; the lists are fresh.
  bool others_have_changed_it();

  ConversationStore& store() { return *store_; }

 private:
  using Clock = std::chrono::steady_clock;
  void begin_anew();
  void use_memory(const std::string& fault);

  Board& board_;
  std::unique_ptr<ConversationStore> store_;
  std::function<void()> left_ = [] {};
  bool on_disk_ = false;
  int64_t others_changes_ = 0;
  Clock::time_point looked_at_;
};

}  // namespace warpchat
