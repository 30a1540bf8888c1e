// Basic blocks of decoded code, and the order in which the machine prefers them.
#include "ptx/emulator/flow.h"

#include <algorithm>

namespace ptx::emulator {
namespace {

constexpr size_t kLongestWay = 4;  // blocks

// Leads straight to its only successor, and contains nothing that waits for other lanes.
bool is_plain(const Code& code, const BasicBlock& block) {
  if (block.has_terminator) {
    const Instruction& last = code.instructions[block.end];
    if (last.control != Control::kBranch || last.guard != kNoGuard) return false;
  }
  const auto waits = [](const std::string& spelling) { return spelling.find(".sync") != std::string::npos; };
  return std::none_of(code.spellings.begin() + block.begin, code.spellings.begin() + block.end, waits);
}

}  // namespace

// A block begins at every jump target, and after every terminator.
void find_blocks(Code& code) {
  const uint32_t n = static_cast<uint32_t>(code.instructions.size());
  std::vector<bool> leads(n + 1, false);
  leads[0] = true;
  for (const Instruction& i : code.instructions) {
    if (i.control == Control::kNone) continue;
    leads[i.index + 1] = true;
    if (i.control == Control::kBranch) leads[static_cast<size_t>(i.immediate)] = true;
  }
  for (const auto& table : code.jump_tables) {
    for (uint32_t target : table) leads[target] = true;
  }
  code.block_of.resize(n);
  for (uint32_t at = 0; at < n; ++at) {
    if (leads[at]) code.blocks.push_back({at, at, 0, false});
    BasicBlock& block = code.blocks.back();
    code.block_of[at] = static_cast<uint32_t>(code.blocks.size() - 1);
    block.has_terminator = code.instructions[at].control != Control::kNone;
    block.end = block.has_terminator ? at : at + 1;
  }
}

std::vector<std::vector<uint32_t>> successors_of(const Code& code) {
  std::vector<std::vector<uint32_t>> result;
  for (const BasicBlock& block : code.blocks) {
    std::vector<uint32_t>& next = result.emplace_back();
    const auto add = [&](uint64_t at) {
      if (at < code.block_of.size()) next.push_back(code.block_of[at]);
    };
    if (!block.has_terminator) {
      add(block.end);
      continue;
    }
    const Instruction& i = code.instructions[block.end];
    const bool falls = i.guard != kNoGuard || i.control == Control::kCall || i.control == Control::kBarrier ||
                       i.control == Control::kTrap;
    if (falls) add(block.end + 1);
    if (i.control == Control::kBranch) add(static_cast<uint64_t>(i.immediate));
    if (i.control == Control::kBranchIndexed) {
      for (uint32_t target : code.jump_tables[static_cast<size_t>(i.immediate)]) add(target);
    }
    std::ranges::sort(next);
  }
  return result;
}

// Reverse post-order: of a warp's fragments, the one that is behind in this order runs first. Visiting the last
// successor in the text first places loop exits after loop bodies.
void order_blocks(Code& code, const std::vector<std::vector<uint32_t>>& successors) {
  struct Visit {
    uint32_t block;
    std::vector<uint32_t> next;
  };
  std::vector<bool> seen(code.blocks.size(), false);
  std::vector<uint32_t> finished;
  std::vector<Visit> stack;
  for (uint32_t root = 0; root < code.blocks.size(); ++root) {
    if (seen[root]) continue;
    seen[root] = true;
    stack.push_back({root, successors[root]});
    while (!stack.empty()) {
      Visit& top = stack.back();
      if (top.next.empty()) {
        finished.push_back(top.block);
        stack.pop_back();
        continue;
      }
      const uint32_t next = top.next.back();
      top.next.pop_back();
      if (seen[next]) continue;
      seen[next] = true;
      stack.push_back({next, successors[next]});
    }
    if (root == 0) std::ranges::reverse(finished);
  }
  for (uint32_t order = 0; order < finished.size(); ++order) code.blocks[finished[order]].order = order;
}

void find_forks(Code& code, const std::vector<std::vector<uint32_t>>& successors) {
  std::vector<uint32_t> n_before(code.blocks.size(), 0);
  ++n_before[0];
  for (const auto& next : successors) {
    for (uint32_t block : next) ++n_before[block];
  }
  const auto follow = [&](uint32_t block, std::vector<uint32_t>& way) {  // returns the block after the path
    while (way.size() < kLongestWay && n_before[block] == 1 && successors[block].size() == 1 &&
           is_plain(code, code.blocks[block])) {
      way.push_back(block);
      block = successors[block][0];
    }
    return block;
  };
  code.fork_of.resize(code.blocks.size(), 0);
  for (uint32_t b = 0; b < code.blocks.size(); ++b) {
    const uint32_t at = code.blocks[b].end;
    if (!code.blocks[b].has_terminator || code.instructions[at].control != Control::kBranch) continue;
    if (code.instructions[at].guard == kNoGuard || at + 1 == code.instructions.size()) continue;
    Fork fork;
    const uint32_t join = follow(code.block_of[at + 1], fork.ways[0]);
    if (follow(code.block_of[static_cast<size_t>(code.instructions[at].immediate)], fork.ways[1]) != join) continue;
    fork.join = code.blocks[join].begin;
    const auto is_behind = [&](uint32_t block) { return code.blocks[block].begin > at; };
    if (!is_behind(join) || !std::ranges::all_of(fork.ways[0], is_behind) ||
        !std::ranges::all_of(fork.ways[1], is_behind)) {
      continue;
    }
    code.forks.push_back(std::move(fork));
    code.fork_of[b] = static_cast<uint32_t>(code.forks.size());
  }
}

}  // namespace ptx::emulator
