#include "ptx/emit.h"

#include <algorithm>

#include "ptx/instruction_table.h"

namespace ptx {
namespace {

bool is_half(Type type) {
  return type == Type::kF16 || type == Type::kBf16 || type == Type::kF16x2 || type == Type::kBf16x2;
}

// "fma.rn.f32" -> "fma", "setp.lt.s32" -> "lt"
std::string role_of(const std::string& spelling) {
  const size_t dot = spelling.find('.');
  if (spelling.starts_with("setp.")) return spelling.substr(dot + 1, spelling.find('.', dot + 1) - dot - 1);
  return spelling.substr(0, dot);
}

// Only mov accepts f16 constants and negated predicates.
Operand register_for(Body& body, const std::string& spelling, const Operand& source, Where at) {
  if (source.kind == Operand::Kind::kRegister && source.negated) {
    Operand plain = source;
    plain.negated = false;
    return emit(body, "not.pred", Type::kPred, {plain}, at);
  }
  if (source.kind == Operand::Kind::kImmediate && is_half(source.type) && !spelling.starts_with("mov.")) {
    return emit(body, "mov." + std::string(info(source.type).plain), source.type, {source}, at, "constant");
  }
  if (source.kind == Operand::Kind::kImmediate && source.type == Type::kPred && !spelling.starts_with("mov.")) {
    return emit(body, "mov.pred", Type::kPred, {source}, at, "constant");
  }
  // Only stores accept constants in a list, and no f16 ones.
  if (source.kind == Operand::Kind::kList && spelling.starts_with("st.")) {
    Operand list = source;
    for (Operand& part : list.parts) part = register_for(body, spelling, part, at);
    return list;
  }
  if (source.kind == Operand::Kind::kList) {
    Operand list = source;
    for (Operand& part : list.parts) {
      if (part.kind == Operand::Kind::kImmediate) part = snapshot(body, part.type, part, at);
    }
    return list;
  }
  return source;
}

std::string mov(Type type) { return "mov." + std::string(info(type).plain); }

}  // namespace

Operand new_register(Body& body, Type type, std::string role, Where at, bool assignable) {
  body.registers.push_back({type, std::move(role), assignable, at});
  return register_operand(static_cast<int>(body.registers.size()) - 1, type);
}

void append(Body& body, Instruction instruction, std::vector<Instruction>* into) {
  if (instruction.kind == Instruction::Kind::kOperation) {
    instruction.form = find_form(instruction.spelling);
    if (!instruction.form) fail(body, instruction.at, "there is no instruction " + instruction.spelling);
    const Row& row = *instruction.form->row;
    if (!runs(body.target, row.minimum)) {
      fail(body, instruction.at,
           instruction.spelling + " needs " + spell(row.minimum) + ", the target is " + spell(body.target));
    }
  }
  if (!into) {
    into = &body.code;
    if (instruction.guard.kind == Operand::Kind::kNone) instruction.guard = body.guard;
  }
  into->push_back(std::move(instruction));
}

Operand emit(Body& body, const std::string& spelling, Type result, std::vector<Operand> sources, Where at,
             std::string role) {
  for (Operand& source : sources) source = register_for(body, spelling, source, at);
  if (role.empty()) role = role_of(spelling);
  Operand destination = new_register(body, in_register(result), std::move(role), at);
  sources.insert(sources.begin(), destination);
  append(body, {.spelling = spelling, .operands = std::move(sources), .n_results = 1, .at = at});
  return destination;
}

void emit(Body& body, const std::string& spelling, std::vector<Operand> operands, Where at) {
  for (Operand& operand : operands) operand = register_for(body, spelling, operand, at);
  append(body, {.spelling = spelling, .operands = std::move(operands), .at = at});
}

int new_label(Body& body, std::string name) {
  body.labels.push_back(std::move(name));
  return static_cast<int>(body.labels.size()) - 1;
}

void place_label(Body& body, int label, Where at) {
  Instruction instruction{.kind = Instruction::Kind::kLabel, .operands = {label_operand(label)}, .at = at};
  body.code.push_back(std::move(instruction));  // a label is never guarded
}

void emit_branch(Body& body, int label, const Operand& guard, Where at) {
  if (body.guard.kind != Operand::Kind::kNone) {
    fail(body, at, "control flow inside predicated(); use if_ around it");
  }
  append(body, {.spelling = "bra", .operands = {label_operand(label)}, .guard = guard, .at = at});
}

void comment(Body& body, std::string text, Where at) {
  body.code.push_back({.kind = Instruction::Kind::kComment, .spelling = std::move(text), .at = at});
}

Operand snapshot(Body& body, Type type, const Operand& value, Where at, std::string role) {
  if (role.empty()) {
    role = value.kind == Operand::Kind::kRegister ? body.registers[value.index].role : "constant";
  }
  Operand copy = emit(body, mov(type), type, {value}, at, std::move(role));
  body.code.back().snapshot = value.kind == Operand::Kind::kRegister;
  return copy;
}

Operand settled(Body& body, Type type, const Operand& value, Where at) {
  const bool variable = value.kind == Operand::Kind::kRegister && body.registers[value.index].assignable;
  return variable ? snapshot(body, type, value, at) : value;
}

void assign(Body& body, Type type, const Operand& to, const Operand& value, Where at) {
  const Operand source = register_for(body, mov(type), value, at);
  append(body, {.spelling = mov(type), .operands = {to, source}, .n_results = 1, .at = at});
}

Operand claim(Body& body, Type type, const Operand& value, Claim what, Where at) {
  Operand copy = snapshot(body, type, value, at);
  body.code.back().snapshot = false;
  body.code.back().claim = what;
  return copy;
}

Operand in_prologue(Body& body, const std::string& spelling, Type type, std::vector<Operand> sources, std::string role,
                    Where at) {
  const auto same = [&](const Instruction& i) {
    return i.spelling == spelling && body.registers[i.operands[0].index].role == role;
  };
  const auto found = std::find_if(body.prologue.begin(), body.prologue.end(), same);
  if (found != body.prologue.end()) return found->operands[0];
  Operand result = new_register(body, type, std::move(role), at);
  sources.insert(sources.begin(), result);
  append(body, {.spelling = spelling, .operands = std::move(sources), .n_results = 1, .at = at}, &body.prologue);
  return result;
}

Operand reinterpret(Body& body, Type to, const Operand& value, Type from, Where at) {
  const auto is_wide_float = [](Type t) { return t == Type::kF32 || t == Type::kF64; };
  if (is_wide_float(to) != is_wide_float(from)) {
    return emit(body, to == Type::kF64 || from == Type::kF64 ? "mov.b64" : "mov.b32", to, {value}, at,
                body.registers[value.index].role);
  }
  Operand same = value;
  same.type = to;
  return same;
}

}  // namespace ptx
