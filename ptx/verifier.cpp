#include "ptx/verifier.h"

#include <algorithm>
#include <set>

#include "ptx/alignment.h"
#include "ptx/bit_set.h"
#include "ptx/instruction_table.h"
#include "ptx/layout.h"
#include "ptx/uniformity.h"

namespace ptx {
namespace {

// Whether an operand of type `slot` may be a register declared as `type`. Sizes must agree; untyped registers fit
// everything, f32 and f64 only themselves. (PTX ISA, "Operand Size Exceeding Instruction-Type Size", is not used.)
bool fits(Type slot, Type type) {
  if (info(slot).family == Family::kBits) return bytes_of(in_register(slot)) == bytes_of(type) && type != Type::kPred;
  return info(slot).declared == info(type).declared;
}

class Verifier {
 public:
  Verifier(const Body& body, const std::vector<std::string>& names, const std::vector<std::string>& labels,
           const Text& text)
      : body_(body), names_(names), labels_(labels), text_(text), graph_(body) {}

  std::vector<Finding> run() {
    check_symbols();
    check_labels();
    for (int i = 0; i < static_cast<int>(body_.code.size()); ++i) {
      if (body_.code[i].kind == Instruction::Kind::kOperation) check_operands(i);
    }
    if (findings_.empty()) {  // the following checks assume well-formed instructions
      check_definitions();
      uniformity_ = find_uniformity(body_, graph_);
      residues_ = find_residues(body_);
      check_barriers();
      check_calls();
      check_alignment();
    }
    check_budgets();
    std::stable_sort(findings_.begin(), findings_.end(),
                     [](const Finding& a, const Finding& b) { return a.instruction < b.instruction; });
    return std::move(findings_);
  }

 private:
  void found(int i, std::string what) { findings_.push_back({i, body_.code[i].at, std::move(what)}); }
  void found_overall(std::string what) { findings_.push_back({-1, {}, std::move(what)}); }
  std::string operand(const Operand& o) const { return spell_operand(body_, names_, labels_, o); }
  std::string line(int i) const {
    return "line " + std::to_string(text_.lines[i]) + " (" + spell(body_.code[i].at) + ")";
  }

  void check_symbols();
  void check_labels();
  void check_operands(int i);
  std::string mismatch(const Instruction& instruction, const Signature& signature) const;
  std::string mismatch(const Slot& slot, const Operand& operand) const;
  std::string mismatch_value(Type type, const Operand& operand) const;
  void check_parameter(int i);
  void check_definitions();
  void check_reads(int i, const BitSet& defined);
  void check_barriers();
  void check_calls();
  void check_call(int i, const Function& function);
  void check_alignment();
  void check_budgets();

  const Body& body_;
  const std::vector<std::string>&names_, &labels_;
  const Text& text_;
  FlowGraph graph_;
  Uniformity uniformity_;
  std::vector<Residue> residues_;  // per register
  std::vector<Finding> findings_;
};

void Verifier::check_symbols() {
  std::set<std::string> seen = {body_.name};
  for (const Symbol& symbol : body_.symbols) {
    if (!seen.insert(symbol.name).second) found_overall("the name " + symbol.name + " is declared twice");
  }
}

void Verifier::check_labels() {
  std::vector<int> placed(body_.labels.size(), -1);
  for (int i = 0; i < static_cast<int>(body_.code.size()); ++i) {
    if (body_.code[i].kind != Instruction::Kind::kLabel) continue;
    int& first = placed[body_.code[i].operands[0].index];
    if (first >= 0) found(i, "label " + operand(body_.code[i].operands[0]) + " is already in " + line(first));
    first = i;
  }
  for (int i = 0; i < static_cast<int>(body_.code.size()); ++i) {
    const Instruction& instruction = body_.code[i];
    if (!is_jump(instruction) || ends_thread(instruction) || instruction.operands.empty()) continue;
    if (placed[instruction.operands[0].index] < 0) {
      found(i, "bra to " + operand(instruction.operands[0]) + ", an undefined label");
    }
  }
}

std::string Verifier::mismatch_value(Type type, const Operand& o) const {
  const std::string needed(info(type).name);
  switch (o.kind) {
    case Operand::Kind::kRegister: {
      const Type own = body_.registers[o.index].type;
      return fits(type, own) ? "" : "needs " + needed + ", " + operand(o) + " is " + std::string(info(own).name);
    }
    case Operand::Kind::kImmediate: {
      const bool is_float = info(o.type).family == Family::kFloat;
      const bool wants_float = info(type).family == Family::kFloat;
      return is_float == wants_float || info(type).family == Family::kBits
                 ? ""
                 : "needs " + needed + ", found the constant " + operand(o);
    }
    case Operand::Kind::kSpecial:
    case Operand::Kind::kSymbol:
    case Operand::Kind::kSink:
      return "";
    default:
      return "needs " + needed + ", found " + operand(o);
  }
}

std::string Verifier::mismatch(const Slot& slot, const Operand& o) const {
  if (slot.kind == Slot::Kind::kAddress)
    return o.kind == Operand::Kind::kAddress ? "" : "needs an address, found " + operand(o);
  if (slot.kind == Slot::Kind::kLabel)
    return o.kind == Operand::Kind::kLabel ? "" : "needs a label, found " + operand(o);
  if (slot.kind == Slot::Kind::kConstant)
    return o.kind == Operand::Kind::kImmediate ? "" : "needs a constant, found " + operand(o);
  if (slot.paired != (o.kind == Operand::Kind::kPair))
    return "needs a value" + std::string(slot.paired ? " and a predicate" : "") + ", found " + operand(o);
  if (slot.paired) {
    const std::string value = mismatch_value(slot.type, o.parts[0]);
    return value.empty() ? mismatch_value(Type::kPred, o.parts[1]) : value;
  }
  if (!slot.listed) return mismatch_value(slot.type, o);
  if (o.kind != Operand::Kind::kList || static_cast<int>(o.parts.size()) != slot.count) {
    return "needs " + std::to_string(slot.count) + " values, found " + operand(o);
  }
  for (const Operand& part : o.parts) {
    if (std::string what = mismatch_value(slot.type, part); !what.empty()) return what;
  }
  return "";
}

std::string Verifier::mismatch(const Instruction& instruction, const Signature& signature) const {
  const size_t max = signature.slots.size();
  size_t min = 0;
  for (const Slot& slot : signature.slots) min += !slot.optional;
  const size_t n = instruction.operands.size();
  if (n < min || n > max) {
    return instruction.spelling + " takes " + std::to_string(min) + (max > min ? " to " + std::to_string(max) : "") +
           " operands, found " + std::to_string(n);
  }
  for (size_t k = 0; k < n; ++k) {
    const std::string what = mismatch(signature.slots[k], instruction.operands[k]);
    if (!what.empty()) return instruction.spelling + " operand " + std::to_string(k + 1) + " " + what;
  }
  return "";
}

void Verifier::check_operands(int i) {
  const Instruction& instruction = body_.code[i];
  if (!instruction.form) return found(i, "there is no instruction " + instruction.spelling);
  if (is_guarded(instruction)) {
    const std::string what = mismatch_value(Type::kPred, instruction.guard);
    if (!what.empty()) found(i, "the guard of " + instruction.spelling + " " + what);
  }
  std::string first;
  for (const Signature& signature : instruction.form->signatures) {
    const std::string what = mismatch(instruction, signature);
    if (what.empty()) return check_parameter(i);
    if (first.empty()) first = what;
  }
  found(i, first);
}

void Verifier::check_parameter(int i) {
  const Instruction& instruction = body_.code[i];
  if (!instruction.spelling.starts_with("ld.param")) return;
  const Operand& address = instruction.operands[1];
  if (address.symbol < 0 || body_.symbols[address.symbol].space != Space::kParam) {
    return found(i, instruction.spelling + " reads " + operand(address) + ", which is no parameter");
  }
  const Symbol& symbol = body_.symbols[address.symbol];
  const Type declared = symbol.pointer ? Type::kU64 : symbol.element;
  if (accessed_bytes(instruction.spelling) + address.offset > bytes_of(declared)) {
    found(i, instruction.spelling + " reads past the end of parameter " + symbol.name + ", a " +
                 std::string(info(declared).name));
  }
}

// Forward analysis: a register is defined where every path has written it. A guarded write defines it only for readers
// with the same guard.
void Verifier::check_definitions() {
  const size_t n = body_.registers.size();
  const auto& blocks = graph_.blocks();
  std::vector<BitSet> in(blocks.size(), BitSet(n, true));
  in[0] = BitSet(n);
  for (const ArgumentRegister& argument : body_.arguments) in[0].set(argument.index);
  const auto step = [&](const Instruction& instruction, BitSet& defined) {
    if (!is_guarded(instruction)) for_each_write(instruction, [&](int r) { defined.set(r); });
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t b = 0; b < blocks.size(); ++b) {
      BitSet out = in[b];
      for (int i = blocks[b].first; i < blocks[b].end; ++i) step(body_.code[i], out);
      for (int next : blocks[b].successors) changed |= in[next].intersect(out);
    }
  }
  for (size_t b = 0; b < blocks.size(); ++b) {
    if (!blocks[b].reachable) continue;
    for (int i = blocks[b].first; i < blocks[b].end; ++i) {
      check_reads(i, in[b]);
      step(body_.code[i], in[b]);
    }
  }
}

void Verifier::check_reads(int i, const BitSet& defined) {
  const Instruction& reader = body_.code[i];
  for_each_read(reader, [&](int r) {
    if (defined.has(r)) return;
    // The nearest preceding write with the same guard.
    for (int k = i - 1; k >= graph_.blocks()[graph_.block_of(i)].first && is_guarded(reader); --k) {
      const Instruction& writer = body_.code[k];
      const bool same = writer.guard.index == reader.guard.index && writer.guard.negated == reader.guard.negated;
      bool writes = false;
      for_each_write(writer, [&](int w) { writes |= w == r; });
      if (same && writes) return;
    }
    const Register& value = body_.registers[r];
    found(i, names_[r] + " (" + spell(value.at) + ") is read, but not every way here gives it a value; " +
                 (value.assignable ? "assign the variable first" : "read it only where it is made"));
  });
}

struct GatherRow {
  std::string_view prefix;
  Sharing needed;  // which threads must be convergent
  bool has_mask;   // the last operand is a lane mask; only a constant full mask is checked
};
constexpr GatherRow kGathers[] = {
    {"bar.warp.sync", Sharing::kWarp, true}, {"shfl.sync", Sharing::kWarp, true},
    {"vote.sync", Sharing::kWarp, true},     {"match.", Sharing::kWarp, true},
    {"redux.sync", Sharing::kWarp, true},    {"elect.sync", Sharing::kWarp, true},
    {"mma.", Sharing::kWarp, false},         {"wmma.", Sharing::kWarp, false},
    {"ldmatrix", Sharing::kWarp, false},     {"stmatrix", Sharing::kWarp, false},
    {"setmaxnreg", Sharing::kWarp, false},   {"bar.", Sharing::kBlock, false},
};

// Threads that must reach an instruction together. A barrier with a thread count only requires whole warps.
Sharing needed_sharing(const Instruction& instruction) {
  for (const GatherRow& row : kGathers) {
    if (!instruction.spelling.starts_with(row.prefix)) continue;
    const bool counts = row.prefix == "bar." &&
                        static_cast<int>(instruction.operands.size()) - instruction.n_results > 1 &&
                        !instruction.spelling.starts_with("bar.red");
    if (counts) return Sharing::kWarp;
    if (!row.has_mask) return row.needed;
    const Operand& mask = instruction.operands.back();
    const bool full = mask.kind == Operand::Kind::kImmediate && mask.bits == 0xffffffff;
    return full ? row.needed : Sharing::kNone;
  }
  return Sharing::kNone;
}

const Function& called(const Body& body, const Instruction& call) {
  return **std::ranges::find(body.functions, call.spelling, [](const FunctionPointer& f) { return f->name; });
}

// The same for a call, as the function requires.
Sharing needed_sharing(const Body& body, const Instruction& instruction) {
  return instruction.kind == Instruction::Kind::kCall ? called(body, instruction).together
                                                      : needed_sharing(instruction);
}

void Verifier::check_barriers() {
  for (int i = 0; i < static_cast<int>(body_.code.size()); ++i) {
    const Instruction& instruction = body_.code[i];
    const int block = graph_.block_of(i);
    const bool acts = instruction.kind == Instruction::Kind::kOperation || instruction.kind == Instruction::Kind::kCall;
    if (!acts || !graph_.blocks()[block].reachable) continue;
    const Sharing needed = needed_sharing(body_, instruction);
    Sharing together = uniformity_.control[block];
    int parted = uniformity_.control_cause[block], condition = -1;
    if (parted >= 0) condition = body_.code[parted].guard.index;
    if (is_guarded(instruction) && uniformity_.registers[instruction.guard.index] > together) {
      together = uniformity_.registers[instruction.guard.index];
      parted = i, condition = instruction.guard.index;
    }
    if (together <= needed) continue;
    const char* scope = needed == Sharing::kBlock ? "block" : "warp";
    const int cause = uniformity_.register_cause[condition];
    const std::string source =
        cause < 0
            ? ""
            : ", which depends on " + operand(body_.code[cause].operands.size() > 1 &&
                                                      body_.code[cause].operands[1].kind == Operand::Kind::kSpecial
                                                  ? body_.code[cause].operands[1]
                                                  : body_.code[cause].operands[0]);
    found(i, (instruction.kind == Instruction::Kind::kCall ? "the call of " : "") + instruction.spelling +
                 " waits for the whole " + scope + ", which may have diverged in " + line(parted) + " by " +
                 names_[condition] + source + "; move it out, or vouch for the condition with " +
                 (needed == Sharing::kBlock ? "uniform()" : "warp_uniform()"));
  }
}

void Verifier::check_calls() {
  for (int i = 0; i < static_cast<int>(body_.code.size()); ++i) {
    if (body_.code[i].kind == Instruction::Kind::kCall) check_call(i, called(body_, body_.code[i]));
  }
}

void Verifier::check_call(int i, const Function& function) {
  const Instruction& call = body_.code[i];
  if (call.operands.size() != function.arguments.size()) {
    return found(i, function.name + " takes " + std::to_string(function.arguments.size()) + " arguments, found " +
                        std::to_string(call.operands.size()));
  }
  for (size_t k = 0; k < call.operands.size(); ++k) {
    const Operand& passed = call.operands[k];
    const Function::Argument& argument = function.arguments[k];
    const std::string what = mismatch_value(argument.type, passed);
    const std::string which = function.name + " argument " + std::to_string(k + 1) + ", " + argument.name + ", ";
    if (!what.empty()) found(i, which + what);
    if (passed.kind != Operand::Kind::kRegister) continue;
    const Sharing sharing = uniformity_.registers[passed.index];
    if (sharing > argument.sharing) {
      found(i, which + "must be the same in the whole " + (argument.sharing == Sharing::kBlock ? "block" : "warp") +
                   ", which " + operand(passed) + " may not be; vouch for it with " +
                   (argument.sharing == Sharing::kBlock ? "uniform()" : "warp_uniform()"));
    }
    const int alignment = residues_[passed.index].alignment();
    if (alignment < static_cast<int>(argument.alignment)) {
      found(i, which + "needs " + std::to_string(argument.alignment) + "-byte alignment, " + operand(passed) + " has " +
                   std::to_string(alignment));
    }
  }
}

void Verifier::check_alignment() {
  for (int i = 0; i < static_cast<int>(body_.code.size()); ++i) {
    const Instruction& instruction = body_.code[i];
    if (instruction.kind != Instruction::Kind::kOperation) continue;
    for (size_t k = 0; k < instruction.operands.size(); ++k) {
      const Operand& address = instruction.operands[k];
      if (address.kind != Operand::Kind::kAddress || address.index < 0) continue;
      const int needed = needed_alignment(instruction, k);
      Residue residue = residues_[address.index];
      residue.rest = (residue.rest + static_cast<uint64_t>(address.offset)) & ((uint64_t{1} << residue.bits) - 1);
      if (residue.alignment() >= needed) continue;
      found(i, instruction.spelling + " needs " + std::to_string(needed) + "-byte alignment, " + operand(address) +
                   " has " + std::to_string(residue.alignment()) +
                   (residue.rest == 0 ? "; if it is more, vouch for it with aligned()" : ""));
    }
  }
}

void Verifier::check_budgets() {
  const auto [fixed, dynamic] = lay_out_shared(body_);
  uint64_t constants = 0;
  for (const Symbol& symbol : body_.symbols) constants += symbol.space == Space::kConst ? symbol.bytes() : 0;
  const auto over = [&](uint64_t bytes, uint64_t max, const std::string& what) {
    if (bytes <= max) return;
    found_overall(what + " takes " + std::to_string(bytes) + " bytes, " + spell(body_.target) + " has " +
                  std::to_string(max));
  };
  over(fixed, kMaxStaticSharedBytes, "static shared memory");
  over(fixed + dynamic, limits(body_.target).shared_bytes, "shared memory");
  over(constants, kMaxConstantBytes, "constant memory");
  over(lay_out_parameters(body_).bytes, kMaxParameterBytes, "the parameter list");
  if (body_.max_threads > kMaxThreadsPerBlock) {
    found_overall("a block of " + std::to_string(body_.max_threads) + " threads; at most " +
                  std::to_string(kMaxThreadsPerBlock) + " fit");
  }
}

}  // namespace

std::vector<Finding> verify(const Body& body, const std::vector<std::string>& names,
                            const std::vector<std::string>& labels, const Text& text) {
  return Verifier(body, names, labels, text).run();
}

std::vector<Finding> verify(const Body& body) {
  const auto names = name_registers(body), labels = name_labels(body);
  return verify(body, names, labels, spell(body, names, labels, needed_version(body)));
}

Sharing needed_together(const Body& body) {
  Sharing together = Sharing::kNone;
  for (const Instruction& instruction : body.code) {
    if (instruction.kind == Instruction::Kind::kOperation) together = std::min(together, needed_sharing(instruction));
  }
  return together;
}

std::string spell(const Body& body, const std::vector<Finding>& findings, const Text& text) {
  std::string all;
  for (const Finding& finding : findings) {
    all += all.empty() ? "ptx: " : "\n  ";
    all += body.name;
    if (finding.instruction >= 0) {
      all += " line " + std::to_string(text.lines[finding.instruction]) + " (" + spell(finding.at) + ")";
    }
    all += ": " + finding.what;
  }
  return all;
}

}  // namespace ptx
