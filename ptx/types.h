// The types of registers and memory cells, as tags for templates and as values for tables. A tag's name is the PTX
// type; packed tags (f16x2, u8x4) are 32-bit registers whose lanes the type system keeps apart.
#pragma once
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace ptx {

enum class Type : uint8_t {
  kPred,
  kU8, kU16, kU32, kU64,
  kS8, kS16, kS32, kS64,
  kB8, kB16, kB32, kB64,
  kF16, kBf16, kF16x2, kBf16x2,
  kU8x4, kS8x4,
  kF32, kF64,
};  // clang-format: one row a family

enum class Family : uint8_t { kPredicate, kUnsigned, kSigned, kBits, kFloat };

struct TypeInfo {
  std::string_view name;   // in arithmetic: "f16x2"
  std::string_view plain;  // in memory accesses, mov and .reg: "b32"
  int bytes;               // 0 for a predicate
  Family family;
};
const TypeInfo& info(Type type);

// The type called `name` in PTX; false if there is none.
bool parse_type(std::string_view name, Type& type);

struct pred { static constexpr Type kType = Type::kPred; using Number = bool; };
struct u8 { static constexpr Type kType = Type::kU8; using Number = uint8_t; };
struct u16 { static constexpr Type kType = Type::kU16; using Number = uint16_t; };
struct u32 { static constexpr Type kType = Type::kU32; using Number = uint32_t; };
struct u64 { static constexpr Type kType = Type::kU64; using Number = uint64_t; };
struct s8 { static constexpr Type kType = Type::kS8; using Number = int8_t; };
struct s16 { static constexpr Type kType = Type::kS16; using Number = int16_t; };
struct s32 { static constexpr Type kType = Type::kS32; using Number = int32_t; };
struct s64 { static constexpr Type kType = Type::kS64; using Number = int64_t; };
struct b8 { static constexpr Type kType = Type::kB8; using Number = uint8_t; };
struct b16 { static constexpr Type kType = Type::kB16; using Number = uint16_t; };
struct b32 { static constexpr Type kType = Type::kB32; using Number = uint32_t; };
struct b64 { static constexpr Type kType = Type::kB64; using Number = uint64_t; };
struct f16 { static constexpr Type kType = Type::kF16; using Number = float; };
struct bf16 { static constexpr Type kType = Type::kBf16; using Number = float; };
struct f16x2 { static constexpr Type kType = Type::kF16x2; using Number = float; };    // a number fills both halves
struct bf16x2 { static constexpr Type kType = Type::kBf16x2; using Number = float; };  // likewise
struct u8x4 { static constexpr Type kType = Type::kU8x4; using Number = uint32_t; };   // byte 0 in the low bits
struct s8x4 { static constexpr Type kType = Type::kS8x4; using Number = uint32_t; };
struct f32 { static constexpr Type kType = Type::kF32; using Number = float; };
struct f64 { static constexpr Type kType = Type::kF64; using Number = double; };

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

constexpr int bytes_of(Type t) {
  constexpr int kBytes[] = {0, 1, 2, 4, 8, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 4, 4, 4, 4, 8};
  return kBytes[static_cast<int>(t)];
}

// A register holds T: everything but single bytes, which load into 32 bits (Loaded<u8> is u32).
template <class T>
concept Registrable = !OneOf<T, u8, s8, b8>;
template <class T> struct LoadedType { using type = T; };
template <> struct LoadedType<u8> { using type = u32; };
template <> struct LoadedType<s8> { using type = s32; };
template <> struct LoadedType<b8> { using type = b32; };
template <class T> using Loaded = typename LoadedType<T>::type;

// An operand of type To may be a register of type From: the same type, or raw bits of the same size.
template <class To, class From>
concept Fits = std::is_same_v<To, From> ||
               (OneOf<To, b16, b32, b64> && bytes_of(To::kType) == bytes_of(From::kType) && Registrable<From>);

}  // namespace ptx
