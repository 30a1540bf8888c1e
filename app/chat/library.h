// The stored conversations: lists, search, and access to the store. A store that cannot be opened is replaced by one in
// memory, which works but does not persist; of a store that can only be read, that has a copy. One that fails later is
// tried again at each change; a damaged one is set aside, and a new one begins.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "app/chat/state/state_store.h"
#include "engine/store/conversation_store.h"

namespace warpchat {

class Library {
 public:
  explicit Library(StateStore& state) : state_(state) {}

  // left: called after a new store has replaced a damaged one, which is closed by then.
  void when_store_is_left(std::function<void()> left) { left_ = std::move(left); }

  // keeps: false if the user asked for no history on disk.
  void open(bool keeps);

  // Reads, or changes what is stored. An Error becomes a notice, and the result is false.
  bool try_to(const std::function<void(ConversationStore&)>& action);

  // Stores new text. An Error becomes the state's store_fault, reported once until storing works again, and the result
  // is false. The action is called again if the store had to be replaced.
  bool keep(const std::function<void(ConversationStore&)>& action,
            std::chrono::milliseconds patience = Database::kPatience);

  void refresh();                                         // updates lists and search results if they have changed
  void list(ConversationOrder order, uint32_t limit);     // what refresh() lists from now on
  void search(const std::string& words, uint32_t limit);  // and filters, see app/formats/conversation_query.h

  // Call often: checks every few seconds whether another program has changed the store. If so, refreshes the lists and
  // returns true.
  bool others_have_changed_it();

  ConversationStore& store() { return *store_; }

 private:
  using Clock = std::chrono::steady_clock;
  void begin_anew();
  void use_memory(const std::string& fault);

  StateStore& state_;
  std::unique_ptr<ConversationStore> store_;
  std::function<void()> left_ = [] {};
  bool on_disk_ = false;
  int64_t others_changes_ = 0;
  Clock::time_point looked_at_;
};

}  // namespace warpchat
