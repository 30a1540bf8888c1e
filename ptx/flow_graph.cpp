#include "ptx/flow_graph.h"

#include <algorithm>

namespace ptx {

bool ends_thread(const Instruction& i) {
  return i.kind == Instruction::Kind::kOperation &&
         (i.spelling == "ret" || i.spelling == "exit" || i.spelling == "trap");
}

bool is_jump(const Instruction& i) {
  return ends_thread(i) || (i.kind == Instruction::Kind::kOperation && i.spelling == "bra");
}

bool is_guarded(const Instruction& i) { return i.guard.kind == Operand::Kind::kRegister; }

FlowGraph::FlowGraph(const Body& body) {
  find_blocks(body);
  connect(body);
  mark_reachable();
  find_post_dominators();
}

void FlowGraph::find_blocks(const Body& body) {
  const int n = static_cast<int>(body.code.size());
  block_of_.resize(n);
  for (int i = 0; i < n; ++i) {
    const bool starts = i == 0 || body.code[i].kind == Instruction::Kind::kLabel || is_jump(body.code[i - 1]);
    if (starts) blocks_.push_back({i, i, {}, {}});
    blocks_.back().end = i + 1;
    block_of_[i] = static_cast<int>(blocks_.size()) - 1;
  }
  if (blocks_.empty()) blocks_.push_back({0, 0, {}, {}});
}

void FlowGraph::connect(const Body& body) {
  std::vector<int> block_of_label(body.labels.size(), -1);
  for (int b = 0; b < static_cast<int>(blocks_.size()); ++b) {
    if (blocks_[b].first == blocks_[b].end) continue;
    const Instruction& head = body.code[blocks_[b].first];
    if (head.kind == Instruction::Kind::kLabel) block_of_label[head.operands[0].index] = b;
  }
  const int n = static_cast<int>(blocks_.size());
  parts_.resize(n);
  leaves_.resize(n);
  for (int b = 0; b < n; ++b) {
    const Instruction* last = blocks_[b].first < blocks_[b].end ? &body.code[blocks_[b].end - 1] : nullptr;
    const bool jumps = last && is_jump(*last), falls = !jumps || is_guarded(*last);
    const auto add = [&](int to) {
      if (to < 0 || std::count(blocks_[b].successors.begin(), blocks_[b].successors.end(), to)) return;
      blocks_[b].successors.push_back(to);
      blocks_[to].predecessors.push_back(b);
    };
    if (jumps && !ends_thread(*last) && !last->operands.empty()) add(block_of_label[last->operands[0].index]);
    if (falls && b + 1 < n) add(b + 1);
    leaves_[b] = (jumps && ends_thread(*last)) || (falls && b + 1 == n);
    parts_[b] = jumps && is_guarded(*last) && last->spelling != "trap";  // a trap ends the whole launch
  }
}

void FlowGraph::mark_reachable() {
  std::vector<int> todo = {0};
  blocks_[0].reachable = true;
  while (!todo.empty()) {
    const int b = todo.back();
    todo.pop_back();
    for (int next : blocks_[b].successors) {
      if (!blocks_[next].reachable) blocks_[next].reachable = true, todo.push_back(next);
    }
  }
}

// Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm", on the reversed graph, whose entry (index n) is the
// thread's end. Blocks that never reach it (endless loops) keep -1.
void FlowGraph::find_post_dominators() {
  const int n = static_cast<int>(blocks_.size());
  std::vector<int> order, number(n + 1, -1);  // reverse graph's post-order
  std::vector<std::pair<int, size_t>> stack;
  std::vector<bool> seen(n + 1);
  const auto before = [&](int b) {
    std::vector<int> all;
    if (b < n) return blocks_[b].predecessors;
    for (int i = 0; i < n; ++i) {
      if (leaves_[i]) all.push_back(i);
    }
    return all;
  };
  stack.push_back({n, 0});
  seen[n] = true;
  while (!stack.empty()) {
    auto& [b, next] = stack.back();
    const std::vector<int> edges = before(b);
    if (next == edges.size()) {
      number[b] = static_cast<int>(order.size());
      order.push_back(b);
      stack.pop_back();
    } else if (const int to = edges[next++]; !seen[to]) {
      seen[to] = true;
      stack.push_back({to, 0});
    }
  }
  std::vector<int> up(n + 1, -1);
  up[n] = n;
  const auto meet = [&](int a, int b) {
    while (a != b) {
      while (number[a] < number[b]) a = up[a];
      while (number[b] < number[a]) b = up[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (int k = static_cast<int>(order.size()) - 2; k >= 0; --k) {
      const int b = order[k];
      int best = leaves_[b] ? n : -1;
      for (int next : blocks_[b].successors) {
        if (up[next] >= 0) best = best < 0 ? next : meet(best, next);
      }
      if (best != up[b]) up[b] = best, changed = true;
    }
  }
  post_dominators_.assign(n, -1);
  for (int b = 0; b < n; ++b) {
    if (up[b] >= 0 && up[b] < n) post_dominators_[b] = up[b];
  }
}

}  // namespace ptx
