// Finds conversations that a store had when this was made, by their messages. Reads each stored one at most once, and
// only if its last message is that of a conversation that is looked for.
#pragma once
#include <cstddef>
#include <unordered_map>
#include <vector>

#include "engine/store/conversation_store.h"

namespace warpchat {

class KnownConversations {
 public:
  explicit KnownConversations(const ConversationStore& store);  // which must outlive it

  // One outside the trash with the same messages and files on its shown branch, and at least as many turns. 0: none.
  ConversationId find(const ConversationTree& tree);

 private:
  void read_those_that_end_so(const std::vector<Turn>& branch);

  const ConversationStore& store_;
  std::unordered_map<size_t, std::vector<ConversationId>> unread_;  // by hash of number and text of the last message
  std::unordered_multimap<size_t, ConversationId> read_;            // by hash of all messages
};

}  // namespace warpchat
