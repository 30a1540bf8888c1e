#include "engine/store/known_conversations.h"

#include <algorithm>
#include <functional>
#include <string_view>

namespace warpchat {

namespace {

void mix(size_t& hash, std::string_view text) {
  hash = hash * 0x9E3779B97F4A7C15u + std::hash<std::string_view>()(text);
}

size_t hash_of_end(size_t n_messages, std::string_view content) {
  size_t hash = n_messages;
  mix(hash, content);
  return hash;
}

size_t hash_of(const std::vector<Turn>& branch) {
  size_t hash = branch.size();
  for (const Turn& turn : branch) {
    mix(hash, turn.message.role);
    mix(hash, turn.message.content);
  }
  return hash;
}

bool is_same(const Turn& a, const Turn& b) {
  const auto same_file = [](const AttachedFile& x, const AttachedFile& y) {
    return x.name == y.name && x.text == y.text;
  };
  return a.message.role == b.message.role && a.message.content == b.message.content &&
         std::ranges::equal(a.message.files, b.message.files, same_file);
}

}  // namespace

KnownConversations::KnownConversations(const ConversationStore& store) : store_(store) {
  store_.for_each_last_message([&](const ConversationStore::LastMessage& last) {
    unread_[hash_of_end(last.n_messages, last.content)].push_back(last.conversation);
  });
}

void KnownConversations::read_those_that_end_so(const std::vector<Turn>& branch) {
  const auto same_end = unread_.find(hash_of_end(branch.size(), branch.back().message.content));
  if (same_end == unread_.end()) return;
  for (const ConversationId id : same_end->second) read_.emplace(hash_of(store_.load(id).turns), id);
  unread_.erase(same_end);
}

ConversationId KnownConversations::find(const ConversationTree& tree) {
  const std::vector<Turn> branch = shown_branch(tree);
  if (branch.empty()) return 0;
  read_those_that_end_so(branch);
  const auto [first, last] = read_.equal_range(hash_of(branch));
  const auto found = std::find_if(first, last, [&](const auto& entry) {
    return store_.n_turns(entry.second) >= tree.turns.size() &&
           std::ranges::equal(store_.load(entry.second).turns, branch, is_same);
  });
  return found == last ? 0 : found->second;
}

}  // namespace warpchat
