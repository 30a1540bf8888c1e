// Turns a builder call into an instruction: looks up the spelling in the instruction table, checks the target, and
// emits extra instructions for operands that cannot be encoded directly.
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

// A copy of `value` (a variable, or a number) that later assignments do not change.
Operand snapshot(Body& body, Type type, const Operand& value, Where at, std::string role = "");
// `value` itself or, if it is a variable's register, a snapshot.
Operand settled(Body& body, Type type, const Operand& value, Where at);
// to = value, where `to` is a variable's register.
void assign(Body& body, Type type, const Operand& to, const Operand& value, Where at);
// A copy of a register with a claim of the author, which is written next to it as a comment.
Operand claim(Body& body, Type type, const Operand& value, Claim what, Where at);
// A special register or similar, read once at the start. spelling: as in "mov.u32".
Operand in_prologue(Body& body, const std::string& spelling, Type type, std::vector<Operand> sources, std::string role,
                    Where at);
// The same bits as another type; no instruction if the registers are interchangeable.
Operand reinterpret(Body& body, Type to, const Operand& value, Type from, Where at);

}  // namespace ptx
