#include "ptx/copies.h"

#include <algorithm>
#include <unordered_map>

#include "ptx/bit_set.h"
#include "ptx/flow_graph.h"

namespace ptx {
namespace {

void replace(Operand& operand, int from, int to) {
  if (operand.index == from && (operand.kind == Operand::Kind::kRegister || operand.kind == Operand::Kind::kAddress)) {
    operand.index = to;
  }
  for (Operand& part : operand.parts) replace(part, from, to);
}

void replace_reads(Instruction& instruction, int from, int to) {
  replace(instruction.guard, from, to);
  for (size_t i = instruction.n_results; i < instruction.operands.size(); ++i)
    replace(instruction.operands[i], from, to);
}

bool reads(const Instruction& instruction, int reg) {
  bool found = false;
  for_each_read(instruction, [&](int r) { found |= r == reg; });
  return found;
}

bool writes(const Instruction& instruction, int reg) {
  bool found = false;
  for_each_write(instruction, [&](int r) { found |= r == reg; });
  return found;
}

bool same_guard(const Instruction& a, const Instruction& b) {
  return a.guard.kind == b.guard.kind && a.guard.index == b.guard.index && a.guard.negated == b.guard.negated;
}

// Copies of variables ("available expressions"): a copy is available where every path has made it and not reassigned
// its variable since. Reads of an available copy can read the variable instead.
class SnapshotFolder {
 public:
  explicit SnapshotFolder(Body& body) : body_(body), graph_(body), copy_in_(body.registers.size(), -1) {
    for (int i = 0; i < static_cast<int>(body.code.size()); ++i) {
      const Instruction& instruction = body.code[i];
      if (!instruction.snapshot || is_guarded(instruction)) continue;
      const int copy = static_cast<int>(variables_.size());
      variables_.push_back(instruction.operands[1].index);
      copy_in_[instruction.operands[0].index] = copy;
    }
    for (size_t copy = 0; copy < variables_.size(); ++copy) {
      copies_of_.try_emplace(variables_[copy], variables_.size()).first->second.set(static_cast<int>(copy));
    }
  }

  void run() {
    if (variables_.empty()) return;
    find_available();
    foldable_.assign(variables_.size(), true);
    walk([&](Instruction& instruction, const BitSet& available) {
      for_each_read(instruction, [&](int r) {
        if (copy_in_[r] >= 0 && !available.has(copy_in_[r])) foldable_[copy_in_[r]] = false;
      });
    });
    walk([&](Instruction& instruction, const BitSet&) {
      std::vector<int> folded;
      for_each_read(instruction, [&](int r) {
        if (copy_in_[r] >= 0 && foldable_[copy_in_[r]]) folded.push_back(r);
      });
      for (int r : folded) replace_reads(instruction, r, variables_[copy_in_[r]]);
    });
    std::erase_if(body_.code, [&](const Instruction& i) {
      return i.snapshot && !is_guarded(i) && foldable_[copy_in_[i.operands[0].index]];
    });
  }

 private:
  void step(const Instruction& instruction, BitSet& available) const {
    for_each_write(instruction, [&](int r) {
      if (const auto copies = copies_of_.find(r); copies != copies_of_.end()) available.remove(copies->second);
    });
    if (instruction.snapshot && !is_guarded(instruction)) available.set(copy_in_[instruction.operands[0].index]);
  }

  void find_available() {
    const auto& blocks = graph_.blocks();
    in_.assign(blocks.size(), BitSet(variables_.size(), true));
    in_[0] = BitSet(variables_.size());
    // Text order is close to control-flow order, so a few iterations suffice.
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t b = 0; b < blocks.size(); ++b) {
        BitSet out = in_[b];
        for (int i = blocks[b].first; i < blocks[b].end; ++i) step(body_.code[i], out);
        for (int next : blocks[b].successors) changed |= in_[next].intersect(out);
      }
    }
  }

  template <class F>
  void walk(F&& visit) {
    for (size_t b = 0; b < graph_.blocks().size(); ++b) {
      BitSet available = in_[b];
      for (int i = graph_.blocks()[b].first; i < graph_.blocks()[b].end; ++i) {
        visit(body_.code[i], available);
        step(body_.code[i], available);
      }
    }
  }

  Body& body_;
  FlowGraph graph_;
  std::vector<int> variables_;                 // of each copy
  std::unordered_map<int, BitSet> copies_of_;  // of each variable
  std::vector<int> copy_in_;                   // of each register: the copy it holds, or -1
  std::vector<BitSet> in_;
  std::vector<bool> foldable_;
};

// "op %t, ...; mov %v, %t" becomes "op %v, ..." if nothing else reads %t and nothing in between uses %v.
class ResultFolder {
 public:
  explicit ResultFolder(Body& body) : body_(body), n_reads_(body.registers.size()), writer_(body.registers.size(), -1) {
    for (const Instruction& instruction : body.code) for_each_read(instruction, [&](int r) { ++n_reads_[r]; });
  }

  void run() {
    std::vector<bool> folded(body_.code.size());
    int block_start = 0;
    for (int i = 0; i < static_cast<int>(body_.code.size()); ++i) {
      const Instruction& instruction = body_.code[i];
      if (instruction.kind == Instruction::Kind::kLabel) block_start = i;
      folded[i] = fold(i, block_start);
      if (is_jump(instruction)) block_start = i + 1;
      if (!folded[i]) for_each_write(instruction, [&](int r) { writer_[r] = i; });
    }
    size_t i = 0;
    std::erase_if(body_.code, [&](const Instruction&) { return folded[i++]; });
  }

 private:
  bool fold(int i, int block_start) {
    const Instruction& move = body_.code[i];
    if (!move.spelling.starts_with("mov.") || move.claim.kind != Claim::Kind::kNone || move.operands.size() != 2)
      return false;
    const Operand &to = move.operands[0], &from = move.operands[1];
    if (to.kind != Operand::Kind::kRegister || from.kind != Operand::Kind::kRegister || from.negated) return false;
    const Register &variable = body_.registers[to.index], &value = body_.registers[from.index];
    if (!variable.assignable || value.assignable || n_reads_[from.index] != 1) return false;
    if (info(variable.type).declared != info(value.type).declared) return false;
    const int j = writer_[from.index];
    if (j < block_start) return false;
    Instruction& producer = body_.code[j];
    if (producer.claim.kind != Claim::Kind::kNone || !same_guard(producer, move) || writes(producer, to.index))
      return false;
    for (int k = j + 1; k < i; ++k) {
      if (reads(body_.code[k], to.index) || writes(body_.code[k], to.index)) return false;
    }
    const int old = from.index;
    for (int r = 0; r < producer.n_results; ++r) replace(producer.operands[r], old, to.index);
    writer_[to.index] = j;
    return true;
  }

  Body& body_;
  std::vector<int> n_reads_, writer_;
};

}  // namespace

void fold_copies(Body& body) {
  SnapshotFolder(body).run();
  ResultFolder(body).run();
}

}  // namespace ptx
