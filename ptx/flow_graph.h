// Basic blocks of a kernel and the control flow between them, for the copy folder, the uniformity analysis and the
// verifier.
#pragma once
#include <vector>

#include "ptx/ir.h"

namespace ptx {

struct Block {
  int first, end;  // instructions [first, end)
  std::vector<int> successors, predecessors;
  bool reachable = false;
};

class FlowGraph {
 public:
  explicit FlowGraph(const Body& body);

  const std::vector<Block>& blocks() const { return blocks_; }
  int block_of(int instruction) const { return block_of_[instruction]; }
  // The nearest block on every path from `block` to the thread's end; -1 if there is none.
  int post_dominator(int block) const { return post_dominators_[block]; }
  // Whether threads may diverge after the block's last instruction: a guarded branch or return.
  bool parts(int block) const { return parts_[block]; }

 private:
  void find_blocks(const Body& body);
  void connect(const Body& body);
  void mark_reachable();
  void find_post_dominators();

  std::vector<Block> blocks_;
  std::vector<int> block_of_, post_dominators_;
  std::vector<bool> parts_, leaves_;  // leaves: some thread may end here
};

bool is_jump(const Instruction& instruction);  // bra, ret, exit, trap
bool ends_thread(const Instruction& instruction);
bool is_guarded(const Instruction& instruction);

// Visits the registers that an instruction reads and writes; a guard is read.
template <class F>
void for_each_register(const Operand& operand, F&& visit) {
  if (operand.index >= 0 && (operand.kind == Operand::Kind::kRegister || operand.kind == Operand::Kind::kAddress)) {
    visit(operand.index);
  }
  for (const Operand& part : operand.parts) for_each_register(part, visit);
}
template <class F>
void for_each_read(const Instruction& instruction, F&& visit) {
  if (is_guarded(instruction)) visit(instruction.guard.index);
  for (size_t i = instruction.n_results; i < instruction.operands.size(); ++i) {
    if (instruction.operands[i].kind != Operand::Kind::kLabel) for_each_register(instruction.operands[i], visit);
  }
}
template <class F>
void for_each_write(const Instruction& instruction, F&& visit) {
  for (int i = 0; i < instruction.n_results; ++i) for_each_register(instruction.operands[i], visit);
}

}  // namespace ptx
