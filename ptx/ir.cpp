#include "ptx/ir.h"

namespace ptx {

std::string_view spell(Space space) {
  constexpr std::string_view kNames[] = {"global", "shared", "local", "const", "param"};
  return kNames[static_cast<int>(space)];
}

Operand register_operand(int index, Type type) {
  return {.kind = Operand::Kind::kRegister, .type = type, .index = index};
}

Operand immediate_operand(uint64_t bits, Type type) {
  return {.kind = Operand::Kind::kImmediate, .type = type, .bits = bits};
}

Operand list_operand(std::vector<Operand> parts) { return {.kind = Operand::Kind::kList, .parts = std::move(parts)}; }

Operand pair_operand(Operand value, Operand flag) {
  return {.kind = Operand::Kind::kPair, .parts = {std::move(value), std::move(flag)}};
}

Operand label_operand(int label) { return {.kind = Operand::Kind::kLabel, .index = label}; }

void fail(const Body& body, Where at, const std::string& what) {
  throw Error("ptx: " + body.name + " (" + spell(at) + "): " + what);
}

}  // namespace ptx
