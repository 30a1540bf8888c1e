#include "ptx/emulator/types.h"

#include <iterator>

namespace ptx::emulator {
namespace {

struct TypeRow {
  std::string_view name;
  uint32_t size;  // bytes
  Class kind;
  bool is_signed;
};

constexpr TypeRow kTypes[] = {
    {"", 0, Class::none, false},       {"pred", 0, Class::predicate, false}, {"b8", 1, Class::bits, false},
    {"b16", 2, Class::bits, false},    {"b32", 4, Class::bits, false},       {"b64", 8, Class::bits, false},
    {"b128", 16, Class::bits, false},  {"u8", 1, Class::integer, false},     {"u16", 2, Class::integer, false},
    {"u32", 4, Class::integer, false}, {"u64", 8, Class::integer, false},    {"s8", 1, Class::integer, true},
    {"s16", 2, Class::integer, true},  {"s32", 4, Class::integer, true},     {"s64", 8, Class::integer, true},
    {"f16", 2, Class::real, true},     {"bf16", 2, Class::bits, true},       {"f16x2", 4, Class::bits, true},
    {"bf16x2", 4, Class::bits, true},  {"tf32", 4, Class::bits, true},       {"f32", 4, Class::real, true},
    {"f64", 8, Class::real, true},     {"u16x2", 4, Class::bits, false},     {"s16x2", 4, Class::bits, true},
};

const TypeRow& row_of(Type type) { return kTypes[static_cast<size_t>(type)]; }

}  // namespace

Type type_named(std::string_view name) {
  for (size_t i = 1; i < std::size(kTypes); ++i) {
    if (kTypes[i].name == name) return static_cast<Type>(i);
  }
  return Type::none;
}

std::string_view name_of(Type type) { return row_of(type).name; }
uint32_t size_of(Type type) { return row_of(type).size; }
Class class_of(Type type) { return row_of(type).kind; }
bool is_signed(Type type) { return row_of(type).is_signed; }

bool is_untyped(Type type) { return type >= Type::b8 && type <= Type::b128; }
bool can_be_declared(Type type) {
  return type <= Type::f16 || type == Type::f16x2 || type == Type::f32 || type == Type::f64;
}
bool is_half(Type type) { return type >= Type::f16 && type <= Type::bf16x2; }

bool agrees(Type declared, Type wanted) {
  if (class_of(declared) == Class::predicate || class_of(wanted) == Class::predicate) {
    return class_of(declared) == class_of(wanted);
  }
  if (size_of(declared) != size_of(wanted)) return false;
  if (is_untyped(declared) || declared == wanted) return true;
  if (declared == Type::f16x2) return is_untyped(wanted) || class_of(wanted) == Class::integer;
  return is_untyped(wanted) || (class_of(declared) == class_of(wanted) && class_of(wanted) != Class::bits);
}

}  // namespace ptx::emulator
