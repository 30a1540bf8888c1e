#include "ptx/types.h"

namespace ptx {
namespace {

constexpr TypeInfo kTypes[] = {
    {"pred", "pred", "pred", 0, Family::kPredicate}, {"u8", "u8", "b32", 1, Family::kUnsigned},
    {"u16", "u16", "b16", 2, Family::kUnsigned},     {"u32", "u32", "b32", 4, Family::kUnsigned},
    {"u64", "u64", "b64", 8, Family::kUnsigned},     {"s8", "s8", "b32", 1, Family::kSigned},
    {"s16", "s16", "b16", 2, Family::kSigned},       {"s32", "s32", "b32", 4, Family::kSigned},
    {"s64", "s64", "b64", 8, Family::kSigned},       {"b8", "b8", "b32", 1, Family::kBits},
    {"b16", "b16", "b16", 2, Family::kBits},         {"b32", "b32", "b32", 4, Family::kBits},
    {"b64", "b64", "b64", 8, Family::kBits},         {"f16", "b16", "b16", 2, Family::kFloat},
    {"bf16", "b16", "b16", 2, Family::kFloat},       {"f16x2", "b32", "b32", 4, Family::kFloat},
    {"bf16x2", "b32", "b32", 4, Family::kFloat},     {"u8x4", "b32", "b32", 4, Family::kBits},
    {"s8x4", "b32", "b32", 4, Family::kBits},        {"f32", "f32", "f32", 4, Family::kFloat},
    {"f64", "f64", "f64", 8, Family::kFloat},
};  // in the order of Type

}  // namespace

const TypeInfo& info(Type type) { return kTypes[static_cast<int>(type)]; }

bool parse_type(std::string_view name, Type& type) {
  for (int i = 0; i < static_cast<int>(std::size(kTypes)); ++i) {
    if (kTypes[i].name != name) continue;
    type = static_cast<Type>(i);
    return true;
  }
  return false;
}

}  // namespace ptx
