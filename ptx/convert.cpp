#include "ptx/convert.h"

namespace ptx {
namespace {

constexpr std::string_view kRound[] = {".rn", ".rz", ".rm", ".rp"};
constexpr std::string_view kRoundToInteger[] = {".rni", ".rzi", ".rmi", ".rpi"};

std::string name(Type type) { return "." + std::string(info(type).name); }

bool is_float(Type type) { return info(type).family == Family::kFloat; }

// Rounding mode in the spelling: none between integers, or if `to` holds every value of `from`.
std::string_view rounding(Type to, Type from, std::optional<Round> round) {
  if (is_float(from) && !is_float(to)) return kRoundToInteger[static_cast<int>(round.value_or(Round::kZero))];
  const bool exact = to == from || !is_float(to) || (is_float(from) && info(to).bytes > info(from).bytes);
  return exact ? "" : kRound[static_cast<int>(round.value_or(Round::kNearest))];
}

Reg<b16> narrow_pair(const char* spelling, const AnyIn& low, const AnyIn& high) {
  Body& body = body_of({&low, &high});
  return {body, emit(body, spelling, Type::kB16, {high.operand, low.operand}, low.at)};
}

Operand round_to_integer(const AnyIn& x, Type type, Round to) {
  const std::string spelling = "cvt" + std::string(kRoundToInteger[static_cast<int>(to)]) + name(type) + name(type);
  return emit(body_of({&x}), spelling, type, {x.operand}, x.at, "round");
}

Vec<f32, 2> widen_halves(Type half, const AnyIn& pair) {
  Body& body = body_of({&pair});
  std::vector<Operand> halves = split(body, half, pair.operand, pair.at);
  for (Operand& part : halves) part = convert(body, Type::kF32, half, part, {}, false, pair.at);
  return {body, std::move(halves)};
}

}  // namespace

Operand convert(Body& body, Type to, Type from, const Operand& value, std::optional<Round> round, bool saturate,
                Where at) {
  if (to == from && !saturate) return snapshot(body, to, value, at);
  const std::string spelling =
      "cvt" + std::string(rounding(to, from, round)) + (saturate ? ".sat" : "") + name(to) + name(from);
  return emit(body, spelling, to, {value}, at);
}

Operand join(Body& body, Type to, const Operand& low, const Operand& high, Where at) {
  return emit(body, info(to).bytes == 8 ? "mov.b64" : "mov.b32", to, {list_operand({low, high})}, at, "join");
}

std::vector<Operand> split(Body& body, Type half, const Operand& value, Where at) {
  const Operand low = new_register(body, half, "low", at), high = new_register(body, half, "high", at);
  append(body, {.spelling = info(half).bytes == 4 ? "mov.b64" : "mov.b32",
                .operands = {list_operand({low, high}), value},
                .n_results = 1,
                .at = at});
  return {low, high};
}

Reg<f16> Conversions::round(In<f16> x, Round to) { return {body_of({&x}), round_to_integer(x, Type::kF16, to)}; }
Reg<f32> Conversions::round(In<f32> x, Round to) { return {body_of({&x}), round_to_integer(x, Type::kF32, to)}; }
Reg<f64> Conversions::round(In<f64> x, Round to) { return {body_of({&x}), round_to_integer(x, Type::kF64, to)}; }

template <OneOf<f16x2, bf16x2> To>
Reg<To> Conversions::convert_pair(In<f32> low, In<f32> high, Round round) {
  Body& body = body_of({&low, &high});
  const std::string spelling = "cvt" + std::string(kRound[static_cast<int>(round)]);
  if (std::same_as<To, bf16x2> || runs(body.target, sm_80)) {
    return {body, emit(body, spelling + name(To::kType) + ".f32", To::kType, {high.operand, low.operand}, low.at)};
  }
  const Operand first = emit(body, spelling + ".f16.f32", Type::kF16, {low.operand}, low.at);
  const Operand second = emit(body, spelling + ".f16.f32", Type::kF16, {high.operand}, low.at);
  return {body, ptx::join(body, To::kType, first, second, low.at)};
}
template Reg<f16x2> Conversions::convert_pair<f16x2>(In<f32>, In<f32>, Round);
template Reg<bf16x2> Conversions::convert_pair<bf16x2>(In<f32>, In<f32>, Round);

Reg<b16> Conversions::to_e4m3x2(In<f32> low, In<f32> high) {
  return narrow_pair("cvt.rn.satfinite.e4m3x2.f32", low, high);
}
Reg<b16> Conversions::to_e5m2x2(In<f32> low, In<f32> high) {
  return narrow_pair("cvt.rn.satfinite.e5m2x2.f32", low, high);
}
Reg<f16x2> Conversions::from_e4m3x2(In<b16> pair) {
  return {body_of({&pair}), emit(body_of({&pair}), "cvt.rn.f16x2.e4m3x2", Type::kF16x2, {pair.operand}, pair.at)};
}
Reg<f16x2> Conversions::from_e5m2x2(In<b16> pair) {
  return {body_of({&pair}), emit(body_of({&pair}), "cvt.rn.f16x2.e5m2x2", Type::kF16x2, {pair.operand}, pair.at)};
}
Vec<f32, 2> Conversions::widen(In<f16x2> pair) { return widen_halves(Type::kF16, pair); }
Vec<f32, 2> Conversions::widen(In<bf16x2> pair) { return widen_halves(Type::kBf16, pair); }

Reg<u64> wide(In<u32> x) {
  return {body_of({&x}), emit(body_of({&x}), "cvt.u64.u32", Type::kU64, {x.operand}, x.at, "wide")};
}
Reg<s64> wide(In<s32> x) {
  return {body_of({&x}), emit(body_of({&x}), "cvt.s64.s32", Type::kS64, {x.operand}, x.at, "wide")};
}

}  // namespace ptx
