// How a builder call becomes an instruction: the spelling is looked up in the instruction table, the target's gate
// is passed or refused, and operands that the instruction cannot take directly get an instruction of their own.
#pragma once
#include "ptx/ir.h"

namespace ptx {

// Appends `spelling` with one result of type `result`, whose role (name in the text) is `role` or the instruction's.
Operand emit(Body& body, const std::string& spelling, Type result, std::vector<Operand> sources, Where at,
             std::string role = "");
// Appends `spelling` without a result.
void emit(Body& body, const std::string& spelling, std::vector<Operand> operands, Where at);
// Appends any instruction; `into` is the body's code or its prologue.
void append(Body& body, Instruction instruction, std::vector<Instruction>* into = nullptr);

Operand new_register(Body& body, Type type, std::string role, Where at, bool assignable = false);
int new_label(Body& body, std::string name);
void place_label(Body& body, int label, Where at);
// Jumps to `label`, where `guard` holds if there is one; throws inside predicated().
void emit_branch(Body& body, int label, const Operand& guard, Where at);
void comment(Body& body, std::string text, Where at);

// A copy of `value` (a variable, or a number) that nothing changes later.
Operand snapshot(Body& body, Type type, const Operand& value, Where at, std::string role = "");
// `value` itself, unless it is a variable's register: then a snapshot.
Operand settled(Body& body, Type type, const Operand& value, Where at);
// to = value, where `to` is a variable's register.
void assign(Body& body, Type type, const Operand& to, const Operand& value, Where at);
// A copy of a register about which the author claims something; the claim is written beside it.
Operand claim(Body& body, Type type, const Operand& value, Claim what, Where at);
// A special register or the like, read once before everything else. `spelling` as in "mov.u32".
Operand in_prologue(Body& body, const std::string& spelling, Type type, std::vector<Operand> sources, std::string role,
                    Where at);
// The same bits as another type: no instruction where the registers are interchangeable.
Operand reinterpret(Body& body, Type to, const Operand& value, Type from, Where at);

}  // namespace ptx
