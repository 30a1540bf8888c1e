// Types of registers and memory cells, as tags for templates and as values for tables. A tag's name is the PTX type;
// packed tags (f16x2, u8x4) are 32-bit registers with typed lanes.
#pragma once
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace ptx {

enum class Type : uint8_t {
  kPred,
  kU8,
  kU16,
  kU32,
  kU64,
  kS8,
  kS16,
  kS32,
  kS64,
  kB8,
  kB16,
  kB32,
  kB64,
  kF16,
  kBf16,
  kF16x2,
  kBf16x2,
  kU8x4,
  kS8x4,
  kF32,
  kF64,
};

enum class Family : uint8_t { kPredicate, kUnsigned, kSigned, kBits, kFloat };

struct TypeInfo {
  std::string_view name;      // in arithmetic: "f16x2"
  std::string_view plain;     // in memory accesses and mov: "b32"
  std::string_view declared;  // in .reg, where integers, f16 and packed bytes are untyped
  int bytes;                  // 0 for a predicate
  Family family;
};
const TypeInfo& info(Type type);

// The type called `name` in PTX; false if there is none.
bool parse_type(std::string_view name, Type& type);

// Tags: Reg<u32>, Global<f16>.
template <Type t>
struct Tag {
  static constexpr Type kType = t;
};
struct pred : Tag<Type::kPred> {};
struct u8 : Tag<Type::kU8> {};
struct u16 : Tag<Type::kU16> {};
struct u32 : Tag<Type::kU32> {};
struct u64 : Tag<Type::kU64> {};
struct s8 : Tag<Type::kS8> {};
struct s16 : Tag<Type::kS16> {};
struct s32 : Tag<Type::kS32> {};
struct s64 : Tag<Type::kS64> {};
struct b8 : Tag<Type::kB8> {};  // untyped bits, compatible with all registers of that size
struct b16 : Tag<Type::kB16> {};
struct b32 : Tag<Type::kB32> {};
struct b64 : Tag<Type::kB64> {};
struct f16 : Tag<Type::kF16> {};
struct bf16 : Tag<Type::kBf16> {};
struct f16x2 : Tag<Type::kF16x2> {};    // a scalar is copied to both halves
struct bf16x2 : Tag<Type::kBf16x2> {};  // a scalar is copied to both halves
struct u8x4 : Tag<Type::kU8x4> {};      // byte 0 in the low bits
struct s8x4 : Tag<Type::kS8x4> {};      // byte 0 in the low bits
struct f32 : Tag<Type::kF32> {};
struct f64 : Tag<Type::kF64> {};

template <class T, class... List>
concept OneOf = (std::is_same_v<T, List> || ...);

template <class T>
concept Unsigned = OneOf<T, u8, u16, u32, u64>;
template <class T>
concept Signed = OneOf<T, s8, s16, s32, s64>;
template <class T>
concept Integer = Unsigned<T> || Signed<T>;
template <class T>
concept Bits = OneOf<T, b8, b16, b32, b64, u8x4, s8x4>;
template <class T>
concept Float = OneOf<T, f16, bf16, f16x2, bf16x2, f32, f64>;
template <class T>
concept Numeric = Integer<T> || Float<T>;
template <class T>
concept Bitwise = Integer<T> || Bits<T>;

constexpr int bytes_of(Type t) {
  constexpr int kBytes[] = {0, 1, 2, 4, 8, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 4, 4, 4, 4, 8};
  return kBytes[static_cast<int>(t)];
}

// Register types: everything except single bytes, which load into 32 bits (Loaded<u8> is u32).
template <class T>
concept Registrable = !OneOf<T, u8, s8, b8>;
namespace maps {
template <class T>
T loaded(T);
u32 loaded(u8);
s32 loaded(s8);
b32 loaded(b8);
}  // namespace maps
template <class T>
using Loaded = decltype(maps::loaded(T{}));

// The same for values: register type of a memory cell.
constexpr Type in_register(Type t) {
  if (t == Type::kU8) return Type::kU32;
  if (t == Type::kS8) return Type::kS32;
  return t == Type::kB8 ? Type::kB32 : t;
}

}  // namespace ptx
