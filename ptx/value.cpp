#include "ptx/value.h"

#include <bit>

namespace ptx {
namespace {

struct OperatorRow {
  Binary op;
  std::string_view integers, floats, bits;  // type prefixes in the spelling; bits includes predicates
};
constexpr OperatorRow kOperators[] = {
    {Binary::kAdd, "add", "add.rn", ""}, {Binary::kSub, "sub", "sub.rn", ""}, {Binary::kMul, "mul.lo", "mul.rn", ""},
    {Binary::kDiv, "div", "div.rn", ""}, {Binary::kRem, "rem", "", ""},       {Binary::kAnd, "", "", "and"},
    {Binary::kOr, "", "", "or"},         {Binary::kXor, "", "", "xor"},       {Binary::kShl, "", "", "shl"},
    {Binary::kShr, "shr", "", "shr"},
};  // in the order of Binary

constexpr std::string_view kCompareNames[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                              "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

// The untyped name that and, or, xor, not and shl use.
std::string_view untyped(Type type) {
  switch (bytes_of(type)) {
    case 0:
      return "pred";
    case 2:
      return "b16";
    case 4:
      return "b32";
    default:
      return "b64";
  }
}

std::string spell_binary(Binary op, Type type) {
  const OperatorRow& row = kOperators[static_cast<int>(op)];
  const Family family = info(type).family;
  const bool integer = family == Family::kUnsigned || family == Family::kSigned;
  if (integer && !row.integers.empty()) return std::string(row.integers) + "." + std::string(info(type).name);
  if (family == Family::kFloat && !row.floats.empty())
    return std::string(row.floats) + "." + std::string(info(type).name);
  return std::string(row.bits) + "." + std::string(untyped(type));
}

bool is_immediate(const Operand& operand, uint64_t bits) {
  return operand.kind == Operand::Kind::kImmediate && operand.bits == bits;
}

// x + 0, x - 0, x << 0, x >> 0, x * 1, x / 1: generators emit them for constant indices.
bool changes_nothing(Binary op, const Operand& b) {
  const bool adds = op == Binary::kAdd || op == Binary::kSub || op == Binary::kShl || op == Binary::kShr;
  const bool scales = op == Binary::kMul || op == Binary::kDiv;
  return (adds && is_immediate(b, 0)) || (scales && is_immediate(b, 1));
}

// Unsigned x / 2^n, x % 2^n: ptxas would emit a full division of about twenty instructions.
bool is_division_by_power(Binary op, Type type, const Operand& b) {
  return (op == Binary::kDiv || op == Binary::kRem) && info(type).family == Family::kUnsigned &&
         b.kind == Operand::Kind::kImmediate && std::has_single_bit(b.bits);
}

}  // namespace

Body& body_of(std::initializer_list<const AnyIn*> operands) {
  Body* body = nullptr;
  for (const AnyIn* operand : operands) {
    if (body && operand->body && operand->body != body) {
      fail(*body, operand->at, "an operand belongs to kernel " + operand->body->name);
    }
    if (operand->body) body = operand->body;
  }
  if (body) return *body;
  throw Error("ptx: (" + spell((*operands.begin())->at) +
              "): numbers alone need no instruction; one operand must be a register");
}

Operand binary(Binary op, Type type, const AnyIn& a, const AnyIn& b) {
  const bool integer = info(type).family == Family::kUnsigned || info(type).family == Family::kSigned;
  const bool commutes = op == Binary::kAdd || op == Binary::kMul;
  if (integer && a.body && changes_nothing(op, b.operand)) return settled(*a.body, type, a.operand, a.at);
  if (integer && b.body && commutes && changes_nothing(op, a.operand)) return settled(*b.body, type, b.operand, b.at);
  if (is_division_by_power(op, type, b.operand)) {
    const uint64_t power = b.operand.bits, exponent = static_cast<uint64_t>(std::countr_zero(power));
    if (op == Binary::kDiv)
      return binary(Binary::kShr, type, a, {number_operand(Type::kU32, exponent, b.at), nullptr, b.at});
    return binary(Binary::kAnd, type, a, {number_operand(type, power - 1, b.at), nullptr, b.at});
  }
  return emit(body_of({&a, &b}), spell_binary(op, type), type, {a.operand, b.operand}, a.at);
}

Operand unary(std::string_view op, Type type, const AnyIn& a) {
  const std::string_view type_name = op == "not" ? untyped(type) : info(type).name;
  return emit(*a.body, std::string(op) + "." + std::string(type_name), type, {a.operand}, a.at);
}

Operand compare(Compare op, Type type, const AnyIn& a, const AnyIn& b) {
  const std::string name(info(type).family == Family::kBits ? untyped(type) : info(type).name);
  const std::string spelling = "setp." + std::string(kCompareNames[static_cast<int>(op)]) + "." + name;
  return emit(body_of({&a, &b}), spelling, Type::kPred, {a.operand, b.operand}, a.at);
}

}  // namespace ptx
