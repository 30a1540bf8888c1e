// Without recursion, since a conversation is as deep as it is long. Texts are moved, never copied: the work is linear.
#include "app/formats/import_tree.h"

#include <string_view>
#include <unordered_map>
#include <utility>

#include "app/formats/import_message.h"

namespace warpchat {

namespace {

bool add_system_prompt(ConversationTree& tree, const Message& message, ImportNotes& notes) {
  if (message.role != "system") return false;
  if (tree.turns.empty())
    append_paragraph(tree.system_prompt, message.content);
  else if (!message.content.empty())
    notes.leave_out(LeftOut::kSystemMessage);
  return true;
}

bool has_text(const Message& message) { return !message.content.empty() || !message.files.empty(); }

class TreeWalk {
 public:
  TreeWalk(ConversationTree& tree, std::vector<ImportNode>& nodes, ImportNotes& notes)
      : tree_(tree), nodes_(nodes), notes_(notes), turn_of_(nodes.size(), kUnseen) {
    for (size_t i = 0; i < nodes_.size(); ++i) index_.emplace(nodes_[i].id, i);
  }

  void run(const std::string& shown) {
    for (size_t i = 0; i < nodes_.size(); ++i)
      if (!index_.contains(nodes_[i].parent)) walk(i);
    for (size_t i = 0; i < nodes_.size(); ++i) walk(i);  // what only a cycle leads to
    const auto end = index_.find(shown);
    const bool is_known = end != index_.end() && turn_of_[end->second] != kUnseen;
    tree_.shown = is_known ? turn_of_[end->second] : static_cast<TurnId>(tree_.turns.size());
  }

 private:
  static constexpr TurnId kUnseen = -1;

  struct Step {
    size_t node;
    TurnId parent = 0;        // that it is below; 0: none
    bool is_alone = true;     // nothing else is below it
    std::string reasoning{};  // on the way here from the parent
  };

  void walk(size_t root) {
    std::vector<Step> steps{{root}};
    while (!steps.empty()) {
      Step step = std::move(steps.back());
      steps.pop_back();
      if (turn_of_[step.node] != kUnseen) continue;  // a cycle
      const std::vector<size_t> children = children_of(step.node);
      add_turn(step, children.empty());
      turn_of_[step.node] = step.parent;
      step.is_alone = step.is_alone && children.size() == 1;
      for (size_t i = children.size(); i-- > 0;) {
        steps.push_back({children[i], step.parent, step.is_alone});
        if (i == 0) steps.back().reasoning = std::move(step.reasoning);
      }
    }
  }

  std::vector<size_t> children_of(size_t node) const {
    std::vector<size_t> known;
    for (const std::string& id : nodes_[node].children)
      if (const auto child = index_.find(id); child != index_.end()) known.push_back(child->second);
    return known;
  }

  void add_turn(Step& step, bool is_last) {
    Message message = std::move(nodes_[step.node].message);
    append_paragraph(step.reasoning, message.reasoning);
    message.reasoning.clear();
    const bool is_cut = is_last && message.role == "assistant" && !step.reasoning.empty();  // within its reasoning
    if (!has_text(message) && !is_cut) return;
    if (add_system_prompt(tree_, message, notes_)) return;
    if (message.role != "user" && message.role != "assistant") return;
    const TurnState state = has_text(message) ? TurnState::kComplete : TurnState::kStopped;
    if (message.role == "assistant") message.reasoning = std::exchange(step.reasoning, "");
    Message* before = step.parent == 0 ? nullptr : &tree_.turns[static_cast<size_t>(step.parent) - 1].message;
    if (before != nullptr && before->role == message.role && step.is_alone) {
      append_paragraph(before->content, message.content);
      append_paragraph(before->reasoning, message.reasoning);
      std::move(message.files.begin(), message.files.end(), std::back_inserter(before->files));
      return;
    }
    const TurnId id = static_cast<TurnId>(tree_.turns.size() + 1);
    const StoreTime created = nodes_[step.node].created != 0 ? nodes_[step.node].created : tree_.created;
    tree_.turns.push_back({id, step.parent, std::move(message), state, created});
    step.parent = id;
    step.is_alone = true;
  }

  ConversationTree& tree_;
  std::vector<ImportNode>& nodes_;
  ImportNotes& notes_;
  std::unordered_map<std::string_view, size_t> index_;  // by id
  std::vector<TurnId> turn_of_;                         // by node: its own, or the one that it is below
};

}  // namespace

void append_message(ConversationTree& tree, Message message, StoreTime created, ImportNotes& notes) {
  if (add_system_prompt(tree, message, notes)) return;
  if (message.role.empty() || (!has_text(message) && message.reasoning.empty())) return;
  const TurnState state = has_text(message) ? TurnState::kComplete : TurnState::kStopped;
  const TurnId id = static_cast<TurnId>(tree.turns.size() + 1);
  tree.turns.push_back({id, tree.shown, std::move(message), state, created});
  tree.shown = id;
}

void grow_tree(ConversationTree& tree, std::vector<ImportNode> nodes, const std::string& shown, ImportNotes& notes) {
  TreeWalk(tree, nodes, notes).run(shown);
}

}  // namespace warpchat
