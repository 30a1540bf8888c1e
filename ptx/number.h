// Numbers as immediates: C++ values to the bits of a PTX type and back to text.
#pragma once
#include "ptx/ir.h"

namespace ptx {

// Immediates with the value of `number`; throws Error where an integer does not fit. Floats round to nearest even.
Operand number_operand(Type type, double number);
Operand number_operand(Type type, int64_t number, Where at);
Operand number_operand(Type type, uint64_t number, Where at);

uint16_t half_bits(double number);      // IEEE binary16, rounded once
uint16_t bfloat16_bits(double number);  // the same for bfloat16

// As PTX writes it: 12, -3, 0xff00ff00, 0f3F800000.
std::string spell_immediate(const Operand& immediate);

}  // namespace ptx
