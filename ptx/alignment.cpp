#include "ptx/alignment.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "ptx/flow_graph.h"
#include "ptx/instruction_table.h"

namespace ptx {
namespace {

constexpr int kBits = 8;  // 256 bytes is the strictest alignment required

Residue make(int bits, uint64_t rest) {
  bits = std::min(bits, kBits);
  return {bits, rest & ((uint64_t{1} << bits) - 1)};
}

// log2 of the largest power of two proven to divide the value.
int twos(Residue r) { return r.rest == 0 ? r.bits : std::countr_zero(r.rest); }

Residue add(Residue a, Residue b) { return make(std::min(a.bits, b.bits), a.rest + b.rest); }
Residue subtract(Residue a, Residue b) { return make(std::min(a.bits, b.bits), a.rest - b.rest); }

// (r + 2^k x)(s + 2^l y): the mixed terms are multiples of r 2^l, s 2^k and 2^(k+l).
Residue multiply(Residue a, Residue b) {
  const int known = std::min({a.bits + b.bits, b.bits + twos(a), a.bits + twos(b)});
  return make(known, a.rest * b.rest);
}

Residue meet(Residue a, Residue b) {
  const uint64_t differing = a.rest ^ b.rest;
  const int agreed = differing ? std::countr_zero(differing) : kBits;
  return make(std::min({a.bits, b.bits, agreed}), a.rest);
}

Residue bitwise_and(Residue a, Residue b) {
  if (a.bits && b.bits) {
    const Residue low = make(std::min(a.bits, b.bits), a.rest & b.rest);
    if (low.bits >= std::max(twos(a), twos(b))) return low;
  }
  return make(std::max(twos(a), twos(b)), 0);
}

class Analysis {
 public:
  explicit Analysis(const Body& body) : body_(body), known_(body.registers.size()) {
    for (const ArgumentRegister& argument : body.arguments)
      known_[argument.index] = make(std::countr_zero(argument.alignment), 0);
  }

  std::vector<Residue> run() {
    do {
      changed_ = false;
      for (const Instruction& instruction : body_.code) visit(instruction);
    } while (changed_);
    std::vector<Residue> all;
    for (const auto& residue : known_) all.push_back(residue.value_or(Residue{}));
    return all;
  }

 private:
  // Nothing if the operand's register has no known value yet.
  std::optional<Residue> of(const Operand& operand) const {
    switch (operand.kind) {
      case Operand::Kind::kImmediate:
        return make(kBits, operand.bits);
      case Operand::Kind::kRegister:
        return known_[operand.index];
      case Operand::Kind::kSymbol: {
        const Symbol& symbol = body_.symbols[operand.symbol];
        return make(std::countr_zero(symbol.alignment), static_cast<uint64_t>(operand.offset));
      }
      default:
        return Residue{};
    }
  }

  Residue compute(const Instruction& instruction, const std::vector<Residue>& in) const {
    const std::string& op = instruction.spelling;
    const auto is = [&](std::string_view prefix) { return op.starts_with(prefix); };
    if (is("mov.") || is("cvta.")) return in[0];
    if (is("cvt.u") || is("cvt.s")) return op.starts_with("cvt.sat") ? Residue{} : in[0];
    if (is("add.")) return add(in[0], in[1]);
    if (is("sub.")) return subtract(in[0], in[1]);
    if (is("mul.lo") || is("mul.wide")) return multiply(in[0], in[1]);
    if (is("mad.lo") || is("mad.wide")) return add(multiply(in[0], in[1]), in[2]);
    if (is("and.")) return bitwise_and(in[0], in[1]);
    if (is("min.") || is("max.") || is("selp.")) return meet(in[0], in[1]);
    if (is("shl.") && in[1].bits == kBits)
      return make(in[0].bits + static_cast<int>(in[1].rest), in[0].rest << in[1].rest);
    return {};
  }

  void visit(const Instruction& instruction) {
    if (instruction.n_results == 0) return;
    std::optional<Residue> result;
    const bool single = instruction.n_results == 1 && instruction.operands[0].kind == Operand::Kind::kRegister;
    if (instruction.kind != Instruction::Kind::kOperation || !single) {
      result = Residue{};
    } else if (instruction.spelling.starts_with("ld.param")) {
      const Symbol& symbol = body_.symbols[instruction.operands[1].symbol];
      result = symbol.pointer ? make(std::countr_zero(symbol.alignment), 0) : Residue{};
    } else {
      std::vector<Residue> in;
      for (size_t i = 1; i < instruction.operands.size(); ++i) {
        const auto known = of(instruction.operands[i]);
        if (!known) return;  // known in a later iteration
        in.push_back(*known);
      }
      result = compute(instruction, in);
      if (instruction.claim.kind == Claim::Kind::kAligned) {
        const int bits = std::countr_zero(static_cast<unsigned>(instruction.claim.alignment));
        if (result->bits < bits) result = make(bits, 0);
      }
    }
    for_each_write(instruction, [&](int r) { join(r, *result); });
  }

  void join(int r, Residue value) {
    const Residue old = known_[r].value_or(value);
    const Residue now = meet(old, value);
    if (known_[r] && now.bits == old.bits) return;
    known_[r] = now;
    changed_ = true;
  }

  const Body& body_;
  std::vector<std::optional<Residue>> known_;
  bool changed_ = false;
};

}  // namespace

int Residue::alignment() const { return 1 << twos(*this); }

std::vector<Residue> find_residues(const Body& body) { return Analysis(body).run(); }

int accessed_bytes(std::string_view spelling) {
  Type type;
  if (!parse_type(spelling.substr(spelling.rfind('.') + 1), type)) return 1;
  const size_t vector = spelling.rfind(".v");
  const bool is_vector = vector != spelling.npos && spelling[vector + 3] == '.';  // .v4. but not .volatile.
  return bytes_of(type) * (is_vector ? spelling[vector + 2] - '0' : 1);
}

int needed_alignment(const Instruction& instruction, size_t i) {
  const std::string& op = instruction.spelling;
  const auto is = [&](std::string_view prefix) { return op.starts_with(prefix); };
  if (is("prefetch.") || is("ld.param")) return 1;
  if (is("ldmatrix") || is("stmatrix")) return 16;
  if (is("wmma.")) return 32;
  if (is("mbarrier.") || is("cp.async.mbarrier")) return 8;
  if (is("cp.async.bulk")) return i == 3 ? 8 : 16;  // the fourth is the mbarrier
  if (is("cp.async.c")) return static_cast<int>(instruction.operands[2].bits);
  return accessed_bytes(op);
}

}  // namespace ptx
