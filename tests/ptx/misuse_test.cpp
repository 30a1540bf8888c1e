// The builder's types forbid misuse: each misuse does not compile, and its corrected twin does. (must_not_compile/
// compiles ten of them for real.)
#include "ptx/builder.h"

namespace ptx {
namespace {

template <class A, class B>
concept Adds = requires(A a, B b) {
  a + b;
};
template <class A, class B>
concept Divides = requires(A a, B b) {
  a / b;
};
template <class A, class B>
concept Ands = requires(A a, B b) {
  a& b;
};
template <class A, class B>
concept Compares = requires(A a, B b) {
  a < b;
};
template <class A, class B>
concept Equals = requires(A a, B b) {
  a == b;
};
template <class A, class B>
concept Assigns = requires(A& a, B b) {
  a = b;
};
template <class A, class B>
concept Becomes = std::convertible_to<B, A>;
template <class... A>
concept Fuses = requires(Builder& b, A... a) {
  b.fma(a...);
};
template <class... A>
concept Dots = requires(Builder& b, A... a) {
  b.dp4a(a...);
};
template <class P, class I>
concept Loads = requires(P p, I i) {
  p.load(i);
};
template <class P, class V>
concept Stores = requires(P p, V v) {
  p.store(0, v);
};
template <class V>
concept Shuffles = requires(Builder& b, V v) {
  b.shuffle_xor(v, 1);
};
template <class C>
concept Branches = requires(Builder& b, C c) {
  b.if_(c, [] {});
};
template <class T, class V>
concept Casts = requires(V v) {
  v.template as<T>();
};
template <class T>
concept InARegister = requires {
  sizeof(Builder);
}
&&Registrable<T>;

// Arithmetic stays within a type.
static_assert(Adds<Reg<u32>, Reg<u32>> && Adds<Var<u32>, Reg<u32>> && Adds<Reg<u32>, int> && Adds<float, Var<f32>>);
static_assert(!Adds<Reg<u32>, Reg<s32>> && !Adds<Reg<u32>, Reg<f32>> && !Adds<Reg<u32>, Reg<u64>>);
static_assert(!Adds<Reg<f16>, Reg<f32>> && !Adds<Reg<f16x2>, Reg<f16>> && !Adds<Reg<f16x2>, Reg<bf16x2>>);
static_assert(!Adds<Reg<u32>, float> && !Adds<Reg<u32>, double> && Adds<Reg<f32>, int> && Adds<Reg<f32>, double>);
static_assert(!Adds<Reg<u32>, bool> && !Adds<Reg<f32>, bool> && !Adds<Pred, Pred> && !Adds<Reg<b32>, Reg<b32>>);
static_assert(!Divides<Reg<f16>, Reg<f16>> && Divides<Reg<f32>, Reg<f32>> && Divides<Reg<s64>, int>);
static_assert(!Ands<Reg<f32>, Reg<f32>> && Ands<Reg<b32>, uint32_t> && !Ands<Reg<f16x2>, Reg<f16x2>>);
static_assert(Fuses<Reg<f32>, Var<f32>, float> && !Fuses<Reg<f32>, Reg<f32>, Reg<f64>>);
static_assert(!Fuses<Reg<u32>, Reg<u32>, Reg<u32>> && !Fuses<float, float, float>);  // the type is unknown
static_assert(Dots<Reg<s8x4>, Reg<u8x4>, Reg<s32>> && !Dots<Reg<s8x4>, Reg<s8x4>, Reg<u32>>);
static_assert(!Dots<Reg<u32>, Reg<u32>, Reg<u32>> && !Dots<Reg<u8x4>, Reg<u8x4>, Reg<s32>>);

// Comparisons give predicates, and only those branch.
static_assert(Compares<Reg<s32>, int> && !Compares<Reg<s32>, Reg<u32>> && !Compares<Reg<b32>, Reg<b32>>);
static_assert(Equals<Reg<b32>, Reg<b32>> && !Equals<Reg<b32>, Reg<u32>> && !Equals<Pred, Pred>);
static_assert(Branches<Pred> && Branches<Var<pred>> && !Branches<Reg<u32>> && !Branches<bool*>);

// A Reg never changes; a Var has one name.
static_assert(!Assigns<Reg<u32>, Reg<u32>> && !Assigns<Reg<u32>, int> && !Assigns<Pred, Pred>);
static_assert(Assigns<Var<u32>, Reg<u32>> && Assigns<Var<u32>, int> && !Assigns<Var<u32>, Reg<s32>>);
static_assert(!Assigns<Var<u32>, float> && !Assigns<Vec<f32, 2>, Vec<f32, 2>> && !Assigns<Global<u8>, Global<u8>>);
static_assert(!std::copy_constructible<Var<f32>> && std::copy_constructible<Reg<f32>>);
static_assert(Becomes<Reg<f32>, const Var<f32>&> && !Becomes<Reg<f32>, Reg<f64>> && !Becomes<Reg<f32>, float>);
static_assert(!std::default_initializable<Reg<u32>> && !std::default_initializable<Var<u32>>);

// Memory: elements have the pointer's type, indices are integers, spaces do not mix.
static_assert(Loads<Global<f32>, Reg<u32>> && Loads<Global<f32>, Var<s64>> && Loads<Shared<f32>, int>);
static_assert(!Loads<Global<f32>, Reg<f32>> && !Loads<Global<f32>, Reg<u16>> && !Loads<Global<f32>, double>);
static_assert(Stores<Global<f32>, Reg<f32>> && !Stores<Global<f32>, Reg<u32>> && !Stores<Global<u8>, Reg<s32>>);
static_assert(Stores<Global<u8>, Reg<u32>> && Stores<Global<f16x2>, float> && Stores<Global<f32>, Vec<f32, 4>>);
static_assert(!Stores<Global<f32>, Vec<u32, 4>> && !Becomes<Global<f32>, Shared<f32>> &&
              !Becomes<Global<f32>, Global<u32>>);

// Shuffles move 32 bits, registers hold at least 16.
static_assert(Shuffles<Reg<f32>> && Shuffles<Reg<f16x2>> && Shuffles<Var<u32>>);
static_assert(!Shuffles<Reg<u64>> && !Shuffles<Reg<f16>> && !Shuffles<Pred>);
static_assert(InARegister<u32> && !InARegister<u8> && !InARegister<s8>);
static_assert(Casts<f32, Reg<u32>> && Casts<f16x2, Reg<b32>>);

}  // namespace
}  // namespace ptx
