// Values of a kernel: Reg<T> is assigned once, Var<T> again and again, Pred is a condition, Vec<T, N> is N registers.
// An operation takes In<T>: any of them, or a C++ number, which becomes an immediate. Types never mix silently:
//   row * 2 + lane     is u32 when row and lane are        row + sum     (u32 + f32) does not compile
//   row = row + 1      does not compile, row is a Reg       x + 70000     (x: u16) throws: 70000 does not fit u16
// A Reg made from a Var is a copy of its present value and keeps it when the Var is assigned again.
#pragma once
#include <array>
#include <concepts>
#include <initializer_list>
#include <utility>

#include "ptx/emit.h"
#include "ptx/number.h"

namespace ptx {

template <class T>
class Reg;
template <class T>
class Var;
using Pred = Reg<pred>;
template <class T>
using Condition = Reg<std::conditional_t<std::same_as<T, void>, void, pred>>;  // Pred, completed when T is known

// Common to every In<T>: the operand, its kernel (null for a number) and the place of the call.
struct AnyIn {
  Operand operand;
  Body* body;
  Where at;
};

// A C++ number usable as a T: integers for integer and bit types, any number for floats.
template <class N>
concept Number = std::is_arithmetic_v<N>;
template <Number N, class T>
constexpr bool stands_for() {
  if (std::same_as<N, bool>) return std::same_as<T, pred>;
  return Float<T> || (std::integral<N> && (Integer<T> || Bits<T>));
}
template <class N, class T>
concept NumberFor = Number<N> && stands_for<N, T>();

template <class T>
class In : public AnyIn {
 public:
  In(const Reg<T>& reg, Where where = Where::current()) : AnyIn{reg.operand(), &reg.body(), where} {}
  In(const Var<T>& var, Where where = Where::current()) : AnyIn{var.operand(), &var.body(), where} {}
  template <NumberFor<T> N>
  In(N number, Where where = Where::current()) : AnyIn{immediate(number, where), nullptr, where} {}

 private:
  template <class N>
  static Operand immediate(N number, Where where) {
    if constexpr (Float<T>)
      return number_operand(T::kType, static_cast<double>(number));
    else if constexpr (std::is_signed_v<N>)
      return number_operand(T::kType, static_cast<int64_t>(number), where);
    else
      return number_operand(T::kType, static_cast<uint64_t>(number), where);
  }
};

// Any 32-bit value, or any 64-bit value, for operations that only look at bits.
template <class T, class B>
concept SizedAs = bytes_of(T::kType)
== bytes_of(B::kType);
template <class B>
class Raw : public AnyIn {
 public:
  template <SizedAs<B> T>
  Raw(const Reg<T>& reg, Where where = Where::current()) : AnyIn(In<T>(reg, where)) {}
  template <SizedAs<B> T>
  Raw(const Var<T>& var, Where where = Where::current()) : AnyIn(In<T>(var, where)) {}
  template <NumberFor<B> N>
  Raw(N number, Where where = Where::current()) : AnyIn(In<B>(number, where)) {}
};
using Raw32 = Raw<b32>;

// A Reg or a Var, for functions of any type; ElementOf gives its T.
template <class V>
using ElementOf = typename V::Element;
template <class V, class T>
concept Of = std::same_as<V, Reg<T>> || std::same_as<V, Var<T>>;
template <class V>
concept Value = Of<V, ElementOf<V>>;

// The kernel of the operands; throws Error for operands of two kernels, or for numbers only.
Body& body_of(std::initializer_list<const AnyIn*> operands);

enum class Binary : uint8_t { kAdd, kSub, kMul, kDiv, kRem, kAnd, kOr, kXor, kShl, kShr };
enum class Compare : uint8_t { kEq, kNe, kLt, kLe, kGt, kGe, kEqu, kNeu, kLtu, kLeu, kGtu, kGeu, kNum, kNan };
Operand binary(Binary op, Type type, const AnyIn& a, const AnyIn& b);
Operand unary(std::string_view op, Type type, const AnyIn& a);  // "neg", "not"
Operand compare(Compare op, Type type, const AnyIn& a, const AnyIn& b);

template <class T>
concept Divisible = Integer<T> || OneOf<T, f32, f64>;
template <class T>
concept Negatable = Signed<T> || Float<T>;
template <class T>
concept Predicate = std::same_as<T, pred>;
template <class T>
concept NoPredicate = !Predicate<T>;

// The operators, found through Reg<T> and Var<T>. Integers wrap; integer / and % truncate; shifts by the width or more
// give 0 (or the sign). Floats round to nearest even and are never contracted into fma.
template <class T>
struct Operators {
  friend Reg<T> operator+(In<T> a, In<T> b) requires Numeric<T> { return apply(Binary::kAdd, a, b); }
  friend Reg<T> operator-(In<T> a, In<T> b) requires Numeric<T> { return apply(Binary::kSub, a, b); }
  friend Reg<T> operator*(In<T> a, In<T> b) requires Numeric<T> { return apply(Binary::kMul, a, b); }
  friend Reg<T> operator/(In<T> a, In<T> b) requires Divisible<T> { return apply(Binary::kDiv, a, b); }
  friend Reg<T> operator%(In<T> a, In<T> b) requires Integer<T> { return apply(Binary::kRem, a, b); }
  friend Reg<T> operator&(In<T> a, In<T> b) requires Bitwise<T> { return apply(Binary::kAnd, a, b); }
  friend Reg<T> operator|(In<T> a, In<T> b) requires Bitwise<T> { return apply(Binary::kOr, a, b); }
  friend Reg<T> operator^(In<T> a, In<T> b) requires Bitwise<T> { return apply(Binary::kXor, a, b); }
  friend Reg<T> operator<<(In<T> a, In<u32> n) requires Bitwise<T> { return apply(Binary::kShl, a, n); }
  friend Reg<T> operator>>(In<T> a, In<u32> n) requires Bitwise<T> { return apply(Binary::kShr, a, n); }
  friend Reg<T> operator-(In<T> a) requires Negatable<T> { return Reg<T>(*a.body, unary("neg", T::kType, a)); }
  friend Reg<T> operator~(In<T> a) requires Bitwise<T> { return Reg<T>(*a.body, unary("not", T::kType, a)); }

  friend Condition<T> operator==(In<T> a, In<T> b) requires NoPredicate<T> { return ask(Compare::kEq, a, b); }
  friend Condition<T> operator!=(In<T> a, In<T> b) requires NoPredicate<T> {
    return ask(Float<T> ? Compare::kNeu : Compare::kNe, a, b);
  }
  friend Condition<T> operator<(In<T> a, In<T> b) requires Numeric<T> { return ask(Compare::kLt, a, b); }
  friend Condition<T> operator<=(In<T> a, In<T> b) requires Numeric<T> { return ask(Compare::kLe, a, b); }
  friend Condition<T> operator>(In<T> a, In<T> b) requires Numeric<T> { return ask(Compare::kGt, a, b); }
  friend Condition<T> operator>=(In<T> a, In<T> b) requires Numeric<T> { return ask(Compare::kGe, a, b); }

  // Both sides are always evaluated.
  friend Condition<T> operator&&(In<T> a, In<T> b) requires Predicate<T> { return apply(Binary::kAnd, a, b); }
  friend Condition<T> operator||(In<T> a, In<T> b) requires Predicate<T> { return apply(Binary::kOr, a, b); }
  friend Condition<T> operator^(In<T> a, In<T> b) requires Predicate<T> { return apply(Binary::kXor, a, b); }

 private:
  static Reg<T> apply(Binary op, const AnyIn& a, const AnyIn& b) {
    return Reg<T>(body_of({&a, &b}), binary(op, T::kType, a, b));
  }
  static Condition<T> ask(Compare op, const AnyIn& a, const AnyIn& b) {
    return Condition<T>(body_of({&a, &b}), compare(op, T::kType, a, b));
  }
};

// A value, written once by the operation that returned it.
template <class T>
class Reg : public Operators<T> {
  static_assert(Registrable<T>, "single bytes live in 32-bit registers: Reg<u32> or Reg<s32>");

 public:
  using Element = T;
  Reg(Body& body, const Operand& operand) : body_(&body), operand_(operand) {}
  Reg(const Reg&) = default;
  Reg& operator=(const Reg&) = delete;  // a Reg is assigned once; use b.var<T>(...) for changing values
  // The variable's current value.
  Reg(const Var<T>& var, Where at = Where::current())
      : Reg(var.body(), snapshot(var.body(), T::kType, var.operand(), at)) {}

  // The same bits as another type of the same size: f32 as b32, b32 as f16x2.
  template <class U>
  Reg<U> as(Where at = Where::current()) const {
    static_assert(bytes_of(T::kType) == bytes_of(U::kType), "as() keeps the bits: both types need the same size");
    return Reg<U>(*body_, reinterpret(*body_, U::kType, operand_, T::kType, at));
  }
  // Sets the register's name in the text.
  const Reg& named(std::string role) const {
    body_->registers[operand_.index].role = std::move(role);
    return *this;
  }
  friend Pred operator!(const Reg& p) requires Predicate<T> {
    Operand flipped = p.operand_;
    flipped.negated = !flipped.negated;
    return Pred(*p.body_, flipped);
  }
  const Operand& operand() const { return operand_; }
  Body& body() const { return *body_; }

 private:
  Body* body_;
  Operand operand_;
};

// A variable: the only value that can be reassigned. Operations read it at their position in the program.
template <class T>
class Var : public Operators<T> {
 public:
  using Element = T;
  Var(Body& body, const Operand& operand) : body_(&body), operand_(operand) {}
  Var(const Var&) = delete;  // aliases of a variable would hide where it changes
  Var(Var&&) = default;

  Var& operator=(In<T> value) { return set(value); }
  Var& operator=(const Var& other) { return set(In<T>(other)); }  // assigns the value
  Var& operator+=(In<T> value) requires Numeric<T> { return set(Binary::kAdd, value); }
  Var& operator-=(In<T> value) requires Numeric<T> { return set(Binary::kSub, value); }
  Var& operator*=(In<T> value) requires Numeric<T> { return set(Binary::kMul, value); }
  Var& operator&=(In<T> value) requires Bitwise<T> { return set(Binary::kAnd, value); }
  Var& operator|=(In<T> value) requires Bitwise<T> { return set(Binary::kOr, value); }
  Var& operator^=(In<T> value) requires Bitwise<T> { return set(Binary::kXor, value); }
  friend Pred operator!(const Var& p) requires Predicate<T> { return !Pred(p); }

  const Operand& operand() const { return operand_; }
  Body& body() const { return *body_; }

 private:
  Var& set(const AnyIn& value) {
    assign(*body_, T::kType, operand_, value.operand, value.at);
    return *this;
  }
  Var& set(Binary op, const AnyIn& value) {
    const Operand result = binary(op, T::kType, AnyIn{operand_, body_, value.at}, value);
    return set(AnyIn{result, body_, value.at});
  }
  Body* body_;
  Operand operand_;
};

// N values of one type, such as a wide load or a matrix fragment.
template <class T, int N>
class Vec {
 public:
  Vec(Body& body, std::vector<Operand> lanes) : body_(&body), lanes_(std::move(lanes)) {}
  template <std::same_as<Reg<T>>... Rest>
  Vec(const Reg<T>& first, const Rest&... rest) : Vec(first.body(), {first.operand(), rest.operand()...}) {
    static_assert(sizeof...(Rest) + 1 == N, "a Vec<T, N> is made of N values");
  }
  Vec(const Vec&) = default;
  Vec& operator=(const Vec&) = delete;

  Reg<T> operator[](int i) const { return Reg<T>(*body_, lanes_.at(i)); }
  static constexpr int size() { return N; }
  template <class U>
  Vec<U, N> as(Where at = Where::current()) const {
    static_assert(bytes_of(T::kType) == bytes_of(U::kType), "as() keeps the bits: both types need the same size");
    std::vector<Operand> lanes;
    for (const Operand& lane : lanes_) lanes.push_back(reinterpret(*body_, U::kType, lane, T::kType, at));
    return Vec<U, N>(*body_, std::move(lanes));
  }
  // `Count` values from `first` on, such as half of a fragment.
  template <int Count>
  Vec<T, Count> slice(int first) const {
    return Vec<T, Count>(*body_, {lanes_.begin() + first, lanes_.begin() + first + Count});
  }
  const std::vector<Operand>& operands() const { return lanes_; }
  Body& body() const { return *body_; }

 private:
  Body* body_;
  std::vector<Operand> lanes_;
};

// N variables of one type, such as a tile's accumulators.
template <class T, int N>
class VarVec {
 public:
  VarVec(Body& body, std::vector<Operand> lanes) : body_(&body) {
    for (Operand& lane : lanes) vars_.emplace_back(body, lane);
  }
  VarVec(const VarVec&) = delete;
  VarVec(VarVec&&) = default;
  Var<T>& operator[](int i) { return vars_.at(i); }
  const Var<T>& operator[](int i) const { return vars_.at(i); }
  static constexpr int size() { return N; }
  VarVec& operator=(const Vec<T, N>& values) {
    for (int i = 0; i < N; ++i) vars_[i] = values[i];
    return *this;
  }
  std::vector<Operand> operands() const {
    std::vector<Operand> all;
    for (const Var<T>& var : vars_) all.push_back(var.operand());
    return all;
  }
  Body& body() const { return *body_; }

 private:
  Body* body_;
  std::vector<Var<T>> vars_;
};

// N operands: a Vec, a VarVec, or N scalars {a, b, 0.0f, d}.
template <class T, int N>
class InVec {
 public:
  InVec(const Vec<T, N>& vec, Where where = Where::current()) : operands(vec.operands()), at(where) {}
  InVec(const VarVec<T, N>& vec, Where where = Where::current()) : operands(vec.operands()), at(where) {}
  InVec(std::initializer_list<In<T>> values) : at(values.begin()->at) {
    for (const In<T>& value : values) operands.push_back(value.operand);
    if (operands.size() == N) return;
    throw Error("ptx: (" + spell(at) + "): " + std::to_string(operands.size()) + " values given for a vector of " +
                std::to_string(N));
  }
  std::vector<Operand> operands;
  Where at;
};

}  // namespace ptx
