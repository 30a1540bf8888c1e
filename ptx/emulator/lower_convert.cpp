// Lowering of cvt: the roundings that its types require, and the matching handler.
#include <algorithm>

#include "ptx/emulator/conversion.h"
#include "ptx/emulator/function_loader.h"

namespace ptx::emulator {

std::string spelling_of(const Statement& s);

namespace {

bool is_real(Type t) { return class_of(t) == Class::real || t == Type::bf16 || t == Type::tf32; }
uint32_t natural_bytes(Type t) { return std::max(2u, size_of(t)); }
uint32_t precision(Type t) {  // of the significand, to distinguish narrowing from widening
  switch (t) {
    case Type::f64:
      return 53;
    case Type::f32:
      return 24;
    case Type::tf32:
      return 11;
    case Type::f16:
      return 10;
    default:
      return 8;
  }
}

// Neither type holds all of the other's values; ptxas rounds to nearest by default.
bool is_between_halves(Type to, Type from) {
  return (to == Type::f16 && from == Type::bf16) || (to == Type::bf16 && from == Type::f16);
}

// Whether one integer type holds every value of the other.
bool holds_all_of(Type to, Type from) {
  if (is_signed(to) == is_signed(from)) return size_of(to) >= size_of(from);
  return is_signed(to) && size_of(to) > size_of(from);
}

}  // namespace

void FunctionLoader::check_convert(const Statement& s, const Match& m) const {
  const Type to = m.type("t"), from = m.type("u");
  const std::string_view rnd = m.word("rnd"), irnd = m.word("irnd");
  const bool to_real = is_real(to), from_real = is_real(from);
  if (!rnd.empty() && !irnd.empty()) refuse(s.at, spelling_of(s) + ": two roundings");
  if (!to_real && !from_real && (!rnd.empty() || !irnd.empty()))
    refuse(s.at, spelling_of(s) + ": integers take no rounding");
  if (!to_real && !from_real && m.has("sat") && holds_all_of(to, from))
    refuse(s.at, spelling_of(s) + ": there is nothing to saturate");
  if (!to_real && from_real && irnd.empty())
    refuse(s.at, spelling_of(s) + ": an integer rounding (.rni, .rzi, .rmi, .rpi) is required");
  if (to_real && !from_real && rnd.empty())
    refuse(s.at, spelling_of(s) + ": a rounding (.rn, .rz, .rm, .rp) is required");
  if (to_real && from_real && !is_between_halves(to, from)) {
    const bool narrows = precision(to) < precision(from);
    if (narrows && rnd.empty()) refuse(s.at, spelling_of(s) + ": a rounding (.rn, .rz, .rm, .rp) is required");
    if (!narrows && !rnd.empty()) refuse(s.at, spelling_of(s) + ": the conversion is exact and takes no rounding");
    if (to != from && !irnd.empty()) refuse(s.at, spelling_of(s) + ": an integer rounding needs equal types");
  }
  if (m.has("ftz") && to != Type::f32 && from != Type::f32) refuse(s.at, spelling_of(s) + ": .ftz needs f32");
  if (is_between_halves(to, from) && (!irnd.empty() || m.has("sat")))
    refuse(s.at, spelling_of(s) + ": f16 and bf16 convert with a rounding (.rn, .rz, .rm, .rp) or without");
  if ((m.has("relu") || m.has("satfinite")) && from != Type::f32)
    refuse(s.at, spelling_of(s) + ": .relu and .satfinite need f32");
  if (rnd == "rna" && to != Type::tf32) refuse(s.at, spelling_of(s) + ": .rna needs tf32");
  const bool half = to == Type::bf16 || from == Type::bf16, single = to == Type::f32 || from == Type::f32;
  const uint32_t min = to == Type::tf32 || (half && single)   ? 80
                       : half                                 ? 90
                       : to == Type::f16 || from == Type::f16 ? 53
                                                              : 0;
  if (layout_.dialect.target < min)
    refuse(s.at, spelling_of(s) + " needs sm_" + std::to_string(min) + ", the target is sm_" +
                     std::to_string(layout_.dialect.target));
}

void FunctionLoader::lower_convert(const Statement& s, const Match& m) {
  check_convert(s, m);
  const Type to = m.type("t"), from = m.type("u");
  const Operand &target = s.operands[0], &operand = s.operands[1];
  const uint32_t from_bytes = operand.kind == OperandKind::kRegister ? width_of(operand) : natural_bytes(from);
  const ColumnId a = source(operand, from);
  if (!is_real(to) && !is_real(from)) return lower_convert_integer(s, m, a, from_bytes);
  const bool plain = !m.has("ftz") && !m.has("sat") && !m.has("relu") && !m.has("satfinite");
  std::string rounding = std::string(m.word("rnd")) + std::string(m.word("irnd"));
  if (rounding.empty() && is_between_halves(to, from)) rounding = "rn";
  const std::string special_name = "cvt" + (rounding.empty() ? "" : "." + rounding) + "." + std::string(name_of(to)) +
                                   "." + std::string(name_of(from)) + "." + std::to_string(8 * from_bytes);
  const uint32_t to_bytes = width_of(target);
  const bool special_fits = plain && to_bytes == natural_bytes(to) && layout_.registry->find(special_name);
  Draft& draft = emit(special_fits ? special_name : "cvt.any");
  draft.code.d = column_of(target.index);
  draft.code.a = a;
  if (special_fits) return;
  ConversionRequest request;
  request.to = to;
  request.from = from;
  request.rounding = rounding_named(rounding);
  request.flushes = m.has("ftz");
  request.saturates = m.has("sat");
  request.relu = m.has("relu");
  request.satfinite = m.has("satfinite");
  draft.code.flags = request.pack();
  draft.code.immediate = from_bytes | to_bytes << 8;
}

// Registers wider than the type: reads the source in its own width, and extends the result by a second conversion.
void FunctionLoader::lower_convert_integer(const Statement& s, const Match& m, ColumnId from, uint32_t from_bytes) {
  const std::string to(m.word("t")), source_type(m.word("u"));
  const Operand& target = s.operands[0];
  const uint32_t natural = natural_bytes(m.type("t")), wide = width_of(target);
  const ColumnId d = wide == natural ? column_of(target.index) : temporary(natural);
  Draft& draft = emit("cvt" + std::string(m.has("sat") ? ".sat." : ".") + to + "." + source_type + "." +
                      std::to_string(8 * from_bytes));
  draft.code.d = d;
  draft.code.a = from;
  if (wide == natural) return;
  Draft& extend =
      emit("cvt." + to.substr(0, 1) + std::to_string(8 * wide) + "." + to + "." + std::to_string(8 * natural));
  extend.code.d = column_of(target.index);
  extend.code.a = d;
}

void FunctionLoader::lower_convert_pack(const Statement& s, const Match& m) {
  if (m.word("rnd") == "rs") refuse(s.at, "the emulator has no stochastic rounding: " + spelling_of(s));
  const std::string to(m.word("t")), from(m.word("u"));
  const std::string plain_name = "cvt." + std::string(m.word("rnd")) + "." + to + "." + from;
  const bool plain = !m.has("relu") && !m.has("satfinite") && layout_.registry->find(plain_name);
  ColumnId sources[3] = {kNoColumn, kNoColumn, kNoColumn};
  for (size_t i = 1; i < s.operands.size(); ++i)
    sources[i - 1] = source(s.operands[i], wanted_type(m.form->operands[i], m));
  Draft& draft = emit(plain ? plain_name : m.has("pack") ? "cvt.pack." + to : "cvt.pair." + to + "." + from);
  draft.code.d = column_of(s.operands[0].index);
  draft.code.a = sources[0];
  draft.code.b = sources[1];
  draft.code.c = sources[2];
  if (plain) return;
  ConversionRequest request;
  request.rounding = rounding_named(m.word("rnd"));
  request.relu = m.has("relu");
  request.satfinite = m.has("satfinite");
  draft.code.flags = request.pack();
}

}  // namespace ptx::emulator
