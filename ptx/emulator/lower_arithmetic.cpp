// Lowering of arithmetic, moves, comparisons and conversions.
#include <algorithm>

#include "ptx/emulator/function_loader.h"

namespace ptx::emulator {

std::string spelling_of(const Statement& s);

// Destination first, then sources, each in its own field.
void FunctionLoader::lower_simple(const Statement& s, const Match& m) {
  ColumnId fields[5] = {kNoColumn, kNoColumn, kNoColumn, kNoColumn, kNoColumn};
  for (size_t i = 0; i < s.operands.size(); ++i) fields[i] = source(s.operands[i], wanted_type(m.form->operands[i], m));
  Draft& draft = emit(m.handler_name());
  draft.code.d = fields[0];
  draft.code.a = fields[1];
  draft.code.b = fields[2];
  draft.code.c = fields[3];
  draft.code.e = fields[4];
}

// add.f32x2 and similar: the scalar operation on each half of 64-bit registers.
void FunctionLoader::lower_real_pair(const Statement& s, const Match& m) {
  for (const Operand& o : s.operands) {
    if (type_of(o) != Type::b64) refuse(o.at, spelling_of(s) + ": a pair needs a .b64 register, found " + describe(o));
  }
  std::string scalar = m.handler_name();
  scalar.resize(scalar.size() - std::string_view("x2").size());
  ColumnId results[2];
  for (uint32_t h = 0; h < 2; ++h) {
    ColumnId sources[3] = {kNoColumn, kNoColumn, kNoColumn};
    for (size_t i = 1; i < s.operands.size(); ++i) {
      sources[i - 1] = temporary(4);
      Draft& unpack = emit("unpack.64.32." + std::to_string(h));
      unpack.code.d = sources[i - 1];
      unpack.code.a = column_of(s.operands[i].index);
    }
    results[h] = temporary(4);
    Draft& draft = emit(scalar);
    draft.code.d = results[h];
    draft.code.a = sources[0];
    draft.code.b = sources[1];
    draft.code.c = sources[2];
  }
  Draft& pack = emit("pack.32.2");
  pack.code.d = column_of(s.operands[0].index);
  pack.code.a = results[0];
  pack.code.b = results[1];
}

// add.f32.f16 and similar: converts f16 operands, which is exact, then operates on f32.
void FunctionLoader::lower_mixed_real(const Statement& s, const Match& m) {
  const std::string half(m.word("u"));
  ColumnId sources[3] = {kNoColumn, kNoColumn, kNoColumn};
  const size_t last = s.operands.size() - 1;
  for (size_t i = 1; i < last; ++i) {
    sources[i - 1] = temporary(4);
    Draft& widen = emit("cvt.f32." + half + ".16");
    widen.code.d = sources[i - 1];
    widen.code.a = column_of(s.operands[i].index);
  }
  sources[last - 1] = source(s.operands[last], Type::f32);
  Draft& draft = emit(m.handler_name());
  draft.code.d = column_of(s.operands[0].index);
  draft.code.a = sources[0];
  draft.code.b = sources[1];
  draft.code.c = sources[2];
}

void FunctionLoader::lower_carry(const Statement& s, const Match& m) {
  if (carry_ == kNoColumn) carry_ = temporary(0);
  ColumnId sources[3];
  for (size_t i = 0; i < 3; ++i) sources[i] = source(s.operands[std::min(i + 1, s.operands.size() - 1)], m.type());
  // Table names: "add.cc" is {"add", "cc"}, "mad.lo.cc" is {"mad", "lo", "cc"}.
  Draft& draft = emit(m.handler_name());
  draft.code.d = column_of(s.operands[0].index);
  draft.code.a = sources[0];
  draft.code.b = sources[1];
  draft.code.c = sources[2];
  draft.code.e = carry_;
  draft.writes_e = true;
  draft.reads_e = s.opcode == "addc" || s.opcode == "subc" || s.opcode == "madc";
}

void FunctionLoader::lower_move(const Statement& s, const Match& m) {
  const Type type = m.type();
  const bool may_be_group = class_of(type) == Class::bits;
  const Operand &to = may_be_group ? only_element(s.operands[0]) : s.operands[0],
                &from = may_be_group ? only_element(s.operands[1]) : s.operands[1];
  if (to.kind == OperandKind::kVector) return lower_unpack(s, type);
  if (to.kind != OperandKind::kRegister || !agrees(type_of(to), type) || !to.elements.empty()) {
    refuse(to.at, spelling_of(s) + ": operand 1: expected a ." + std::string(name_of(type)) + " register, found " +
                      describe(to));
  }
  if (from.kind == OperandKind::kVector) return lower_pack(s, type);
  if (from.kind == OperandKind::kVariable || from.kind == OperandKind::kFunction) return lower_address_of(s, type);
  if (type == Type::pred) {
    bool negated;
    const ColumnId a = predicate_source(from, negated);
    if (from.kind == OperandKind::kRegister ? type_of(from) != Type::pred || negated
                                            : from.kind != OperandKind::kInteger) {
      refuse(from.at, spelling_of(s) + ": operand 2: expected a predicate, found " + describe(from));
    }
    Draft& draft = emit("mov.pred");
    draft.code.d = column_of(to.index);
    draft.code.a = draft.code.b = a;
    return;
  }
  const std::string name = "mov.b" + std::to_string(8 * size_of(type));
  if (from.kind == OperandKind::kSpecial) {
    const SpecialComponent* component = find_special_component(from.name);
    const bool narrow = component->type == Type::u32 && size_of(type) == 2;
    if (!narrow && !agrees(component->type, type)) {
      refuse(from.at, spelling_of(s) + ": operand 2: " + from.name + " is ." + std::string(name_of(component->type)));
    }
    if (component->is_dynamic) {
      Draft& draft = emit("mov.special");
      draft.code.d = column_of(to.index);
      draft.code.immediate = static_cast<int64_t>(component->value);
      return;
    }
    const ColumnId a = special(component->value, size_of(type));
    Draft& draft = emit(name);
    draft.code.d = column_of(to.index);
    draft.code.a = a;
    return;
  }
  std::string complaint;
  if (!fits_value(from, {'s', "t"}, type, complaint)) refuse(from.at, spelling_of(s) + ": operand 2: " + complaint);
  const ColumnId a = source(from, type);
  Draft& draft = emit(name);
  draft.code.d = column_of(to.index);
  draft.code.a = a;
}

void FunctionLoader::lower_pack(const Statement& s, Type type) {
  const auto& parts = s.operands[1].elements;
  if (class_of(type) != Class::bits) refuse(s.at, spelling_of(s) + ": only .b types pack a vector");
  const uint32_t part = parts.empty() ? 0 : size_of(type) / static_cast<uint32_t>(parts.size());
  if (part < 1 || part * parts.size() != size_of(type) || parts.size() > 4)
    refuse(s.at, spelling_of(s) + ": the parts do not fill the register");
  ColumnId columns[4] = {kNoColumn, kNoColumn, kNoColumn, kNoColumn};
  for (size_t i = 0; i < parts.size(); ++i) {
    const bool good = parts[i].kind == OperandKind::kRegister
                          ? size_of(type_of(parts[i])) == part && type_of(parts[i]) != Type::pred
                          : parts[i].kind == OperandKind::kInteger;
    if (!good)
      refuse(parts[i].at, spelling_of(s) + ": expected a register of " + std::to_string(8 * part) + " bits, found " +
                              describe(parts[i]));
    columns[i] = parts[i].kind == OperandKind::kRegister ? column_of(parts[i].index)
                                                         : constant(parts[i].bits, std::max(2u, part));
  }
  Draft& draft = emit("pack." + std::to_string(8 * part) + "." + std::to_string(parts.size()));
  draft.code.d = column_of(s.operands[0].index);
  draft.code.a = columns[0];
  draft.code.b = columns[1];
  draft.code.c = columns[2];
  draft.code.e = columns[3];
}

void FunctionLoader::lower_unpack(const Statement& s, Type type) {
  const auto& parts = s.operands[0].elements;
  const Operand& from = s.operands[1];
  if (class_of(type) != Class::bits) refuse(s.at, spelling_of(s) + ": only .b types unpack to a vector");
  if (from.kind != OperandKind::kRegister || size_of(type_of(from)) != size_of(type)) {
    refuse(from.at, spelling_of(s) + ": operand 2: expected a ." + std::string(name_of(type)) + " register, found " +
                        describe(from));
  }
  const uint32_t part = parts.empty() ? 0 : size_of(type) / static_cast<uint32_t>(parts.size());
  if (part < 1 || part * parts.size() != size_of(type) || parts.size() > 4)
    refuse(s.at, spelling_of(s) + ": the parts do not fill the register");
  if (std::ranges::all_of(parts, [](const Operand& p) { return p.kind == OperandKind::kSink; }))
    refuse(s.at, spelling_of(s) + ": no part is kept");
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].kind == OperandKind::kSink) continue;
    if (parts[i].kind != OperandKind::kRegister || size_of(type_of(parts[i])) != part) {
      refuse(parts[i].at, spelling_of(s) + ": expected a register of " + std::to_string(8 * part) + " bits, found " +
                              describe(parts[i]));
    }
    Draft& draft =
        emit("unpack." + std::to_string(8 * size_of(type)) + "." + std::to_string(8 * part) + "." + std::to_string(i));
    draft.code.d = column_of(parts[i].index);
    draft.code.a = column_of(from.index);
  }
}

// mov.u64 %rd1, symbol: a constant, unless it depends on the frame, the launch or a subscript.
void FunctionLoader::lower_address_of(const Statement& s, Type type) {
  const Operand& from = s.operands[1];
  const uint32_t bytes = size_of(type);
  if (bytes < 4 || class_of(type) == Class::real)
    refuse(s.at, spelling_of(s) + ": an address needs a 32- or 64-bit integer register");
  ColumnId a;
  if (from.kind == OperandKind::kFunction) {
    const auto found = layout_.functions.find(from.function);
    if (found == layout_.functions.end())
      refuse(from.at, "function " + from.name + " has no body whose address could be taken");
    a = constant(found->second->address, bytes);
  } else {
    a = address_of(from, bytes);
  }
  Draft& draft = emit("mov.b" + std::to_string(8 * bytes));
  draft.code.d = column_of(s.operands[0].index);
  draft.code.a = a;
}

// The column with a variable's address in its space, `bytes` wide.
ColumnId FunctionLoader::address_of(const Operand& variable, uint32_t bytes) {
  const Variable& v = *variable.variable;
  const uint64_t offset = variable.subscript ? 0 : static_cast<uint64_t>(variable.offset);
  ColumnId start;
  if (v.space == Space::shared && v.is_unsized)
    start = special(Special::extern_shared, bytes, offset);
  else if (frame_.contains(&v) && v.space != Space::shared &&
           !(function_.is_entry && v.space == Space::param && std::ranges::count(function_.signature.parameters, &v)))
    start = special(Special::local_base, bytes, frame_.at(&v) + offset);
  else
    start = constant((frame_.contains(&v) ? frame_.at(&v) : layout_.addresses.at(&v)) + offset, bytes);
  return variable.subscript ? with_subscript(variable, start, bytes) : start;
}

// As in ptxas, up to 32 bits the product and offset wrap at 32 bits before zero extension.
ColumnId FunctionLoader::with_subscript(const Operand& element, ColumnId start, uint32_t bytes) {
  const Operand& number = *element.subscript;
  const Class kind = class_of(type_of(number));
  if (kind != Class::integer && !is_untyped(type_of(number)))
    refuse(number.at, "an element's number is an integer register, found " + describe(number));
  const auto with = [&](const std::string& name, uint32_t width, ColumnId a, ColumnId b, ColumnId c) {
    const ColumnId d = temporary(width);
    Draft& draft = emit(name);
    draft.code.d = d;
    draft.code.a = a;
    draft.code.b = b;
    draft.code.c = c;
    return d;
  };
  ColumnId at = column_of(number.index);
  uint32_t width = width_of(number);
  if (width < 4) at = with("cvt.u32.u16.16", width = 4, at, kNoColumn, kNoColumn);
  const ColumnId size = constant(size_of(element.variable->type), width),
                 offset = constant(static_cast<uint64_t>(element.offset), width);
  at = with(width == 4 ? "mad.lo.u32" : "mad.lo.u64", width, at, size, offset);
  if (width < bytes) at = with("cvt.u64.u32.32", bytes, at, kNoColumn, kNoColumn);
  if (width > bytes) at = with("cvt.u32.u64.64", bytes, at, kNoColumn, kNoColumn);
  return with(bytes == 4 ? "add.u32" : "add.u64", bytes, start, at, kNoColumn);
}

namespace {
constexpr uint32_t kAnd = 1, kOr = 2, kXor = 3, kNegated = 4, kHasSecond = 8, kHasCombine = 16;  // handlers/compare.cpp

uint32_t combine_flags(const Match& m) {
  const std::string_view b = m.word("b");
  if (b.empty()) return 0;
  return kHasCombine | (b == "and" ? kAnd : b == "or" ? kOr : kXor);
}

uint32_t checked_combine_flags(const Statement& s, const Match& m) {
  const uint32_t flags = combine_flags(m);
  if ((flags != 0) != (s.operands.size() == 4))
    refuse(s.at, spelling_of(s) + ": a combined comparison needs a third source, a plain one must not have one");
  return flags;
}

std::string test_name(const Match& m) {
  return "setp." + std::string(m.word("c")) + (m.has("ftz") ? ".ftz." : ".") + std::string(m.word("t"));
}
}  // namespace

// p or p|q, either of which may be _.
void FunctionLoader::check_predicate_results(const Statement& s) const {
  const Operand& to = s.operands[0];
  for (const Operand* p : {&to, static_cast<const Operand*>(to.second.get())}) {
    if (p == nullptr || p->kind == OperandKind::kSink) continue;
    if (p->kind != OperandKind::kRegister || type_of(*p) != Type::pred || !p->selector.empty())
      refuse(p->at, spelling_of(s) + ": operand 1: expected a predicate register, found " + describe(*p));
  }
}

void FunctionLoader::lower_setp(const Statement& s, const Match& m) {
  const Operand& to = s.operands[0];
  check_predicate_results(s);
  if (to.second && size_of(m.type()) == 2 && class_of(m.type()) != Class::integer && !is_untyped(m.type()))
    refuse(to.at, spelling_of(s) + ": operand 1: a second destination does not belong here");
  uint32_t flags = checked_combine_flags(s, m);
  const ColumnId a = source(s.operands[1], m.type()), b = source(s.operands[2], m.type());
  ColumnId c = kNoColumn;
  if (flags) {
    bool negated;
    c = predicate_source(s.operands[3], negated);
    if (negated) flags |= kNegated;
  }
  if (to.second && to.second->kind != OperandKind::kSink) flags |= kHasSecond;
  Draft& draft = emit(test_name(m));
  draft.code.d = to.kind == OperandKind::kSink ? kNoColumn : column_of(to.index);
  if (flags & kHasSecond) draft.code.e = column_of(to.second->index);
  if (to.kind == OperandKind::kSink && !(flags & kHasSecond)) draft.code.d = temporary(0);
  drafts_.back().code.a = a;
  drafts_.back().code.b = b;
  drafts_.back().code.c = c;
  drafts_.back().code.flags = flags;
  drafts_.back().writes_e = true;
}

namespace {
// What `set` stores for true: 1.0 for reals, all ones for integers; a pair has it in each true half.
uint64_t truth_of(Type to, bool of_pair) {
  switch (to) {
    case Type::f32:
      return 0x3f800000;
    case Type::f16:
    case Type::f16x2:
      return 0x3c00;
    case Type::bf16:
    case Type::bf16x2:
      return 0x3f80;
    default:
      return of_pair ? 0xffff : ~0ull;
  }
}
}  // namespace

// Comparisons of pairs: the scalar test on each unpacked half.
void FunctionLoader::lower_setp_pair(const Statement& s, const Match& m) {
  const bool is_set = s.opcode == "set";
  const uint32_t combine = checked_combine_flags(s, m);
  if (!is_set) check_predicate_results(s);
  const std::string half = m.type() == Type::f16x2 ? "f16" : "bf16";
  const std::string name = "setp." + std::string(m.word("c")) + (m.has("ftz") ? ".ftz." : ".") + half;
  ColumnId results[2], halves[2] = {temporary(2), temporary(2)};
  for (uint32_t h = 0; h < 2; ++h) {
    ColumnId sources[2];
    for (uint32_t i = 0; i < 2; ++i) {
      sources[i] = temporary(2);
      Draft& unpack = emit("unpack.32.16." + std::to_string(h));
      unpack.code.d = sources[i];
      unpack.code.a = column_of(s.operands[1 + i].index);
    }
    const Operand& to = s.operands[0];
    const Operand* p = h == 0 ? &to : to.second.get();
    results[h] = !is_set && p && p->kind == OperandKind::kRegister ? column_of(p->index) : temporary(0);
    uint32_t flags = combine;
    ColumnId c = kNoColumn;
    if (flags) {
      bool negated;
      c = predicate_source(s.operands[3], negated);
      if (negated) flags |= kNegated;
    }
    Draft& test = emit(name);
    test.code.d = results[h];
    test.code.a = sources[0];
    test.code.b = sources[1];
    test.code.c = c;
    test.code.flags = flags;
    if (!is_set) continue;
    const ColumnId yes = constant(truth_of(m.type("u"), true), 2), no = constant(0, 2);
    Draft& select = emit("selp.b16");
    select.code.d = halves[h];
    select.code.a = yes;
    select.code.b = no;
    select.code.c = results[h];
  }
  if (!is_set) return;
  Draft& pack = emit("pack.16.2");
  pack.code.d = column_of(s.operands[0].index);
  pack.code.a = halves[0];
  pack.code.b = halves[1];
}

// set: the test writes a hidden predicate, which selects all ones or 1.0.
void FunctionLoader::lower_set(const Statement& s, const Match& m) {
  uint32_t flags = checked_combine_flags(s, m);
  const ColumnId a = source(s.operands[1], m.type()), b = source(s.operands[2], m.type());
  ColumnId c = kNoColumn;
  if (flags) {
    bool negated;
    c = predicate_source(s.operands[3], negated);
    if (negated) flags |= kNegated;
  }
  const ColumnId p = temporary(0);
  Draft& test = emit(test_name(m));
  test.code.d = p;
  test.code.a = a;
  test.code.b = b;
  test.code.c = c;
  test.code.flags = flags;
  const Type to = m.type("u");
  const uint32_t bytes = size_of(to);
  const ColumnId yes = constant(truth_of(to, false), bytes), no = constant(0, bytes);
  Draft& select = emit("selp.b" + std::to_string(8 * bytes));
  select.code.d = column_of(s.operands[0].index);
  select.code.a = yes;
  select.code.b = no;
  select.code.c = p;
}

void FunctionLoader::lower_select(const Statement& s, const Match& m) {
  bool negated;
  const ColumnId p = predicate_source(s.operands[3], negated);
  const ColumnId a = source(s.operands[1], m.type()), b = source(s.operands[2], m.type());
  Draft& draft = emit(m.handler_name());
  draft.code.d = column_of(s.operands[0].index);
  draft.code.a = a;
  draft.code.b = b;
  draft.code.c = p;
  draft.code.flags = negated ? 0xffffffffu : 0;
}

void FunctionLoader::lower_lop3(const Statement& s, const Match& m) {
  const Operand& to = s.operands[0];
  const bool combined = m.has("b");
  ColumnId d = to.kind == OperandKind::kRegister ? column_of(to.index) : temporary(4);
  if (to.kind == OperandKind::kRegister && !agrees(type_of(to), Type::b32))
    refuse(to.at, "lop3: operand 1: expected a .b32 register, found " + describe(to));
  ColumnId sources[3];
  for (int i = 0; i < 3; ++i) sources[i] = source(s.operands[static_cast<size_t>(i) + 1], Type::b32);
  Draft& draft = emit("lop3.b32");
  draft.code.d = d;
  draft.code.a = sources[0];
  draft.code.b = sources[1];
  draft.code.c = sources[2];
  draft.code.immediate = static_cast<int64_t>(s.operands[4].bits & 0xff);
  if (!combined) return;
  if (!to.second || to.second->kind != OperandKind::kRegister || type_of(*to.second) != Type::pred)
    refuse(to.at, spelling_of(s) + ": expected d|p");
  bool negated;
  const ColumnId q = predicate_source(s.operands[5], negated), zero = constant(0, 4);
  Draft& test = emit("setp.ne.u32");
  test.code.d = column_of(to.second->index);
  test.code.a = d;
  test.code.b = zero;
  test.code.c = q;
  test.code.flags = kHasCombine | (m.word("b") == "and" ? kAnd : kOr) | (negated ? kNegated : 0);
}

void FunctionLoader::lower_predicate_logic(const Statement& s, const Match& m) {
  bool negate_a = false, negate_b = false;
  const ColumnId a = predicate_source(s.operands[1], negate_a);
  const ColumnId b = s.operands.size() > 2 ? predicate_source(s.operands[2], negate_b) : a;
  Draft& draft = emit(m.handler_name());
  draft.code.d = column_of(s.operands[0].index);
  draft.code.a = a;
  draft.code.b = b;
  draft.code.flags = (negate_a ? 1u : 0u) | (negate_b ? 2u : 0u);
}

}  // namespace ptx::emulator
