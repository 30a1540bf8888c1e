// The scalar types of PTX as the emulator sees them: name, size and class.
#pragma once

#include <cstdint>
#include <string_view>

namespace ptx::emulator {

enum class Type : uint8_t {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  bf16,
  f16x2,
  bf16x2,
  tf32,
  f32,
  f64,
  u16x2,
  s16x2,
  other
};

enum class Class : uint8_t { none, bits, integer, real, predicate };

Type type_named(std::string_view name);  // "u32" -> Type::u32; Type::none if it is not a register type
std::string_view name_of(Type type);
uint32_t size_of(Type type);  // bytes; 0 for a predicate
Class class_of(Type type);
bool is_signed(Type type);
bool is_untyped(Type type);       // .b8 to .b128
bool can_be_declared(Type type);  // as registers and variables; others, like .bf16, occur only in instructions
bool is_half(Type type);          // 16-bit reals and their pairs, which accept no immediates

// Whether a register declared as `declared` fits an operand of type `wanted`: equal sizes, and equal classes unless one
// is untyped. As in ptxas, .bf16, .tf32 and packed integers need untyped registers, and a .f16x2 register counts as an
// integer.
bool agrees(Type declared, Type wanted);

}  // namespace ptx::emulator
