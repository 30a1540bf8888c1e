#include "ptx/uniformity.h"

namespace ptx {
namespace {

struct SpecialRow {
  std::string_view prefix;
  Sharing sharing;
};
constexpr SpecialRow kSpecials[] = {
    {"%ctaid", Sharing::kBlock},
    {"%nctaid", Sharing::kBlock},
    {"%ntid", Sharing::kBlock},
    {"%nsmid", Sharing::kBlock},
    {"%dynamic_smem_size", Sharing::kBlock},
};  // all others, such as %tid and %clock, differ

struct OperationRow {
  std::string_view prefix;
  Sharing at_least, at_most;  // bounds on the result's sharing, whatever the operands
};
constexpr OperationRow kOperations[] = {
    {"ld.param", Sharing::kBlock, Sharing::kNone},     {"ld.const", Sharing::kBlock, Sharing::kNone},
    {"ld.global.nc", Sharing::kBlock, Sharing::kNone},  // the memory is constant during the launch
    {"ld.", Sharing::kNone, Sharing::kNone},           {"atom.", Sharing::kNone, Sharing::kNone},
    {"activemask", Sharing::kNone, Sharing::kNone},    {"elect", Sharing::kNone, Sharing::kNone},
    {"mbarrier.", Sharing::kNone, Sharing::kNone},     {"ldmatrix", Sharing::kNone, Sharing::kNone},
    {"mma.", Sharing::kNone, Sharing::kNone},          {"wmma.", Sharing::kNone, Sharing::kNone},
    {"bar.red", Sharing::kBlock, Sharing::kBlock},     {"vote.", Sharing::kBlock, Sharing::kWarp},
    {"redux.", Sharing::kBlock, Sharing::kWarp},       {"match.all", Sharing::kBlock, Sharing::kWarp},
    {"match.any", Sharing::kBlock, Sharing::kNone},
};

Sharing better(Sharing a, Sharing b) { return a < b ? a : b; }

// Whether a warp instruction's mask, its last operand, names all lanes.
bool of_whole_warp(const Instruction& instruction) {
  const Operand& mask = instruction.operands.back();
  return mask.kind == Operand::Kind::kImmediate && mask.bits == 0xffffffff;
}

class Analysis {
 public:
  Analysis(const Body& body, const FlowGraph& graph) : body_(body), graph_(graph) {
    result_.registers.assign(body.registers.size(), Sharing::kBlock);
    result_.register_cause.assign(body.registers.size(), -1);
    result_.control.assign(graph.blocks().size(), Sharing::kBlock);
    result_.control_cause.assign(graph.blocks().size(), -1);
    for (const ArgumentRegister& argument : body.arguments) result_.registers[argument.index] = argument.sharing;
  }

  Uniformity run() {
    do {
      changed_ = false;
      for (int i = 0; i < static_cast<int>(body_.code.size()); ++i) visit(i);
      for (int b = 0; b < static_cast<int>(graph_.blocks().size()); ++b) spread(b);
    } while (changed_);
    return std::move(result_);
  }

 private:
  // Sharing of an instruction's operands, and the instruction that limited it.
  Sharing of_operands(const Instruction& instruction, int& cause) const {
    Sharing sharing = Sharing::kBlock;
    for_each_read(instruction, [&](int r) {
      if (result_.registers[r] > sharing) sharing = result_.registers[r], cause = result_.register_cause[r];
    });
    return sharing;
  }

  Sharing of_special(const Instruction& instruction) const {
    for (const Operand& operand : instruction.operands) {
      if (operand.kind != Operand::Kind::kSpecial) continue;
      for (const SpecialRow& row : kSpecials) {
        if (operand.text.starts_with(row.prefix)) return row.sharing;
      }
      return Sharing::kNone;
    }
    return Sharing::kBlock;
  }

  // shfl.idx from one lane gives all lanes the same value; other modes do not.
  bool broadcasts(const Instruction& instruction) const {
    if (!instruction.spelling.starts_with("shfl.sync.idx") || !of_whole_warp(instruction)) return false;
    const Operand &lane = instruction.operands[2], &segments = instruction.operands[3];
    const bool whole_warp = segments.kind == Operand::Kind::kImmediate && segments.bits == 0x1f;
    const bool same_lane =
        lane.kind == Operand::Kind::kImmediate || (lane.index >= 0 && result_.registers[lane.index] <= Sharing::kWarp);
    return whole_warp && same_lane;
  }

  Sharing of_result(int i, int& cause) const {
    const Instruction& instruction = body_.code[i];
    if (instruction.claim.kind == Claim::Kind::kBlockUniform) return Sharing::kBlock;
    Sharing sharing = of_operands(instruction, cause);
    const Sharing own = of_special(instruction);
    if (own > sharing) sharing = own, cause = i;
    if (instruction.claim.kind == Claim::Kind::kWarpUniform || broadcasts(instruction)) {
      return better(sharing, Sharing::kWarp);
    }
    for (const OperationRow& row : kOperations) {
      if (!instruction.spelling.starts_with(row.prefix)) continue;
      if (row.at_least > sharing) sharing = row.at_least, cause = i;
      const bool holds = row.at_most != Sharing::kWarp || of_whole_warp(instruction);
      return holds ? better(sharing, row.at_most) : sharing;
    }
    return sharing;
  }

  void visit(int i) {
    const Instruction& instruction = body_.code[i];
    if (instruction.n_results == 0) return;
    int cause = -1;
    const Sharing sharing = of_result(i, cause);
    const int block = graph_.block_of(i);
    for_each_write(instruction, [&](int r) {
      raise(r, sharing, cause);
      if (!body_.registers[r].assignable) return;
      // Threads that did not come here keep the old value.
      raise(r, result_.control[block], cause_of_branch(result_.control_cause[block]));
      if (is_guarded(instruction)) {
        raise(r, result_.registers[instruction.guard.index], result_.register_cause[instruction.guard.index]);
      }
    });
  }

  int cause_of_branch(int branch) const {
    return branch < 0 ? -1 : result_.register_cause[body_.code[branch].guard.index];
  }

  void raise(int r, Sharing sharing, int cause) {
    if (sharing <= result_.registers[r]) return;
    result_.registers[r] = sharing;
    result_.register_cause[r] = cause;
    changed_ = true;
  }

  // Threads that diverge at the end of block b stay so until its post-dominator.
  void spread(int b) {
    if (!graph_.parts(b)) return;
    const int branch = graph_.blocks()[b].end - 1;
    const Sharing sharing = result_.registers[body_.code[branch].guard.index];
    if (sharing == Sharing::kBlock) return;
    const int together = graph_.post_dominator(b);
    std::vector<int> todo = {b};
    std::vector<bool> seen(graph_.blocks().size());
    while (!todo.empty()) {
      const int from = todo.back();
      todo.pop_back();
      for (int next : graph_.blocks()[from].successors) {
        if (next == together || seen[next]) continue;
        seen[next] = true;
        todo.push_back(next);
        if (sharing <= result_.control[next]) continue;
        result_.control[next] = sharing;
        result_.control_cause[next] = branch;
        changed_ = true;
      }
    }
  }

  const Body& body_;
  const FlowGraph& graph_;
  Uniformity result_;
  bool changed_ = false;
};

}  // namespace

Uniformity find_uniformity(const Body& body, const FlowGraph& graph) { return Analysis(body, graph).run(); }

}  // namespace ptx
