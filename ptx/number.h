// Numbers as immediates: from C++ values to the bits of a PTX type, and to text.
#pragma once
#include "ptx/ir.h"

namespace ptx {

// Immediate with the value of `number`; throws Error if it does not fit an integer type. Floats round to nearest even.
Operand number_operand(Type type, double number);
Operand number_operand(Type type, int64_t number, Where at);
Operand number_operand(Type type, uint64_t number, Where at);

uint16_t half_bits(double number);      // IEEE binary16, rounded once
uint16_t bfloat16_bits(double number);  // the same for bfloat16

// PTX spelling: 12, -3, 0xff00ff00, 0f3F800000.
std::string spell_immediate(const Operand& immediate);

}  // namespace ptx
