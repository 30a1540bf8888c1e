// Loading a function: columns, operand checks, dispatch by lowering kind.
#include "ptx/emulator/function_loader.h"

#include <algorithm>
#include <bit>

#include "ptx/emulator/number_ranges.h"

namespace ptx::emulator {

std::string spelling_of(const Statement& s) {
  std::string text = s.opcode;
  for (const std::string& m : s.modifiers) text += "." + m;
  return text;
}

const Operand& only_element(const Operand& o) {
  return o.kind == OperandKind::kVector && o.elements.size() == 1 ? o.elements[0] : o;
}

FunctionLoader::FunctionLoader(const SyntaxFunction& function, ModuleLayout& layout, Code& code)
    : function_(function), layout_(layout), code_(code) {
  for (const Register& r : function.registers) {
    ColumnInfo info;
    info.bytes = r.type == Type::pred ? 0 : std::max(2u, size_of(r.type));
    columns_.push_back(info);
  }
}

void FunctionLoader::load(std::vector<ParseProblem>& problems) {
  place_variables();
  enter_function();
  for (const Statement& s : function_.body) {
    first_draft_.push_back(static_cast<uint32_t>(drafts_.size()));
    statement_ = &s;
    try {
      lower(s);
    } catch (const ParseProblem& problem) {
      problems.push_back(problem);
      if (problems.size() >= 20) return;
    }
  }
  if (problems.empty()) finish();
}

ColumnId FunctionLoader::constant(uint64_t value, uint32_t bytes) {
  if (bytes < 8 && bytes) value &= (1ull << 8 * bytes) - 1;
  auto [entry, fresh] = constants_.try_emplace({value, bytes}, static_cast<ColumnId>(columns_.size()));
  if (fresh) columns_.push_back({ColumnInfo::kConstant, bytes, value, Special::zero, 0});
  return entry->second;
}

ColumnId FunctionLoader::special(Special value, uint32_t bytes, uint64_t addend) {
  auto [entry, fresh] = specials_.try_emplace({value, bytes, addend}, static_cast<ColumnId>(columns_.size()));
  if (fresh) columns_.push_back({ColumnInfo::kSpecial, bytes, addend, value, 0});
  return entry->second;
}

ColumnId FunctionLoader::temporary(uint32_t bytes) {
  columns_.push_back({ColumnInfo::kRegister, bytes, 0, Special::zero, 0});
  return static_cast<ColumnId>(columns_.size() - 1);
}

uint32_t FunctionLoader::width_of(const Operand& reg) const { return columns_[reg.index].bytes; }

uint64_t FunctionLoader::immediate_bits(const Operand& operand, Type wanted) const {
  if (operand.kind == OperandKind::kInteger) return operand.bits;
  if (wanted == Type::f64 || (wanted == Type::b64 && !operand.is_single)) return operand.bits;
  if (operand.is_single) return operand.single;
  return std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(operand.bits)));
}

ColumnId FunctionLoader::source(const Operand& operand, Type wanted) {
  if (operand.kind == OperandKind::kRegister) return column_of(operand.index);
  return constant(immediate_bits(operand, wanted), std::max(2u, size_of(wanted)));
}

std::string FunctionLoader::describe(const Operand& o) const {
  switch (o.kind) {
    case OperandKind::kRegister:
      return "." + std::string(name_of(type_of(o))) + " register " + o.name;
    case OperandKind::kInteger:
      return "the integer " + std::to_string(static_cast<int64_t>(o.bits));
    case OperandKind::kFloat:
      return "a floating-point number";
    case OperandKind::kSpecial:
      return "special register " + o.name;
    case OperandKind::kVariable:
      return "variable " + o.name;
    case OperandKind::kFunction:
      return "function " + o.name;
    case OperandKind::kLabel:
      return "label " + o.name;
    case OperandKind::kAddress:
      return "an address";
    case OperandKind::kVector:
      return "a vector of " + std::to_string(o.elements.size());
    case OperandKind::kSink:
      return "_";
    default:
      return "a list";
  }
}

Type FunctionLoader::wanted_type(const OperandPattern& p, const Match& m) const {
  if (p.type == "wide") {
    switch (m.type()) {
      case Type::u16:
        return Type::u32;
      case Type::s16:
        return Type::s32;
      case Type::u32:
        return Type::u64;
      default:
        return Type::s64;
    }
  }
  if (p.type == "packed") return Type::bf16;  // two 8-bit reals need an untyped 16-bit register, like bf16
  const std::string_view word = m.word(p.type);
  return type_named(word.empty() ? std::string_view(p.type) : word);
}

bool FunctionLoader::fits_value(const Operand& o, const OperandPattern& p, Type wanted, std::string& complaint) const {
  const Class kind = class_of(wanted);
  bool good = false;
  const bool takes_number = std::string_view("sSWY").find(p.kind) != std::string_view::npos;
  if (o.kind == OperandKind::kRegister) {
    // An f16 pair counts as an integer of the instruction's type, but not as a count, size or mask.
    const bool is_pair_as_count = type_of(o) == Type::f16x2 && kind == Class::integer && type_named(p.type) == wanted;
    good = agrees(type_of(o), wanted) && !is_pair_as_count;
    if (!good && (p.kind == 'D' || p.kind == 'S' || p.kind == 'V' || p.kind == 'W')) {
      // Wider registers accept narrower values: reals only in untyped registers, bfloat16 never.
      const Type own = type_of(o);
      const bool integers = class_of(own) == Class::integer && (kind == Class::integer || is_untyped(wanted));
      const bool wide = size_of(own) >= size_of(wanted) && size_of(own) <= 8;
      good = wide && (integers || (is_untyped(own) && (kind != Class::bits || is_untyped(wanted))));
    }
  } else if (takes_number) {
    if (o.kind == OperandKind::kInteger) good = kind == Class::integer || (kind == Class::bits && !is_half(wanted));
    if (o.kind == OperandKind::kFloat) {
      good = kind == Class::real && wanted != Type::f16;
      if (kind == Class::bits) good = (wanted == Type::b32 && o.is_single) || (wanted == Type::b64 && !o.is_single);
    }
  }
  if (!good) {
    complaint = "expected a ." + std::string(p.type == "packed" ? "b16" : name_of(wanted)) + " register" +
                (takes_number ? " or number" : "") + ", found " + describe(o);
  }
  return good;
}

bool FunctionLoader::fits_vector(const Operand& o, const OperandPattern& p, Type wanted, const Match& m,
                                 std::string& complaint) const {
  const std::string_view vec = m.word("vec");
  if (vec.empty()) return fits_value(only_element(o), p, wanted, complaint);
  const size_t count = static_cast<size_t>(vec[1] - '0');
  if (o.elements.size() != count) {
    complaint = "expected a vector of " + std::to_string(count) + ", found " + describe(o);
    return false;
  }
  if (count * size_of(wanted) > 16 && (layout_.dialect.target < 100 || m.word("space") != "global")) {
    complaint = "32 bytes at once need global memory and sm_100";
    return false;
  }
  return std::ranges::all_of(o.elements, [&](const Operand& e) {
    const bool is_dropped = e.kind == OperandKind::kSink && (p.kind == 'V' || p.kind == 'X');
    return is_dropped || fits_value(e, p, wanted, complaint);
  });
}

// Rejects second destinations, register parts and negation.
bool FunctionLoader::is_plain(const Operand& o, std::string& complaint) const {
  if (o.second)
    complaint = "a second destination does not belong here";
  else if (!o.selector.empty())
    complaint = "a part of a register does not belong here";
  else if (o.is_negated)
    complaint = "only a predicate source can be negated";
  else
    return true;
  return false;
}

void FunctionLoader::check_plain(const Statement& s, size_t index) const {
  std::string complaint;
  if (!is_plain(s.operands[index], complaint))
    refuse(s.operands[index].at, spelling_of(s) + ": operand " + std::to_string(index + 1) + ": " + complaint);
}

bool FunctionLoader::fits(const Operand& o, const OperandPattern& p, const Match& m, std::string& complaint) const {
  const bool is_predicate = o.kind == OperandKind::kRegister && type_of(o) == Type::pred;
  const bool is_negated_predicate = p.kind == 'P' && o.is_negated && !o.second && o.selector.empty();
  if (p.kind != 'x' && !is_negated_predicate && !is_plain(o, complaint)) return false;
  switch (p.kind) {
    case 'x':
      return true;
    case 'p':
      complaint = "expected a predicate register, found " + describe(o);
      return is_predicate;
    case 'P':
      complaint = "expected a predicate, found " + describe(o);
      return is_predicate || o.kind == OperandKind::kInteger;
    case 'i':
      complaint = "expected an integer, found " + describe(o);
      return o.kind == OperandKind::kInteger;
    case 'a':
      complaint = "expected an address, found " + describe(o);
      return o.kind == OperandKind::kAddress;
    case 'v':
      complaint = "expected a vector, found " + describe(o);
      return o.kind == OperandKind::kVector;
    case 'V':
    case 'W':
    case 'X':
    case 'Y':
      return fits_vector(o, p, wanted_type(p, m), m, complaint);
    default:
      break;
  }
  if (o.kind == OperandKind::kSink && p.kind == 'd' && m.form->row->lowering == Lowering::kAtomic) return true;
  if (!o.elements.empty()) {
    complaint = "expected one register, found " + describe(o);
    return false;
  }
  return fits_value(o, p, wanted_type(p, m), complaint);
}

namespace {
bool takes_cache_hint(const Match& m) {
  const auto& patterns = m.form->operands;
  return std::ranges::count(m.form->groups, "L2::cache_hint", &Group::name) > 0 && patterns.back().is_optional &&
         patterns.back().type == "u64";
}
}  // namespace

bool FunctionLoader::operands_fit(const Statement& s, const Match& m, std::string& complaint) const {
  const auto& patterns = m.form->operands;
  const size_t min = static_cast<size_t>(std::ranges::count_if(patterns, [](const auto& p) { return !p.is_optional; }));
  if (s.operands.size() < min || s.operands.size() > patterns.size()) {
    complaint = "expected " + std::to_string(min) + (patterns.size() > min ? " or more" : "") + " operands, found " +
                std::to_string(s.operands.size());
    return false;
  }
  if (takes_cache_hint(m) && (s.operands.size() == patterns.size()) != m.has("L2::cache_hint")) {
    complaint = "the last operand and .L2::cache_hint need each other";
    return false;
  }
  if (!s.operands.empty() && (s.operands[0].is_negated || (s.operands[0].second && s.operands[0].second->is_negated))) {
    complaint = "operand 1: only a predicate source can be negated";
    return false;
  }
  for (size_t i = 0; i < s.operands.size(); ++i) {
    if (fits(s.operands[i], patterns[i], m, complaint)) continue;
    complaint = "operand " + std::to_string(i + 1) + ": " + complaint;
    return false;
  }
  return true;
}

void FunctionLoader::lower(const Statement& s) {
  std::string complaint;
  for (size_t skip = 0;; ++skip) {
    const auto match = match_form(s, layout_.dialect, skip);
    if (!match) refuse(s.at, spelling_of(s) + ": " + complaint);
    std::string found;
    if (operands_fit(s, *match, found)) {
      check_numbers(s);
      return lower_as(s, *match);
    }
    if (complaint.empty()) complaint = found;
  }
}

HandlerPair FunctionLoader::handler(const std::string& name) const {
  const HandlerPair* found = layout_.registry->find(name);
  if (!found) refuse(statement_->at, "the emulator does not run " + spelling_of(*statement_) + " (" + name + ")");
  return *found;
}

Draft& FunctionLoader::emit(const std::string& name) {
  Draft& draft = emit_control(Control::kNone);
  draft.handler = handler(name);
  draft.code.flags = draft.handler.flags;
  if (const HandlerPair* observed = layout_.registry->find("!" + name)) draft.observed = *observed;
  return draft;
}

Draft& FunctionLoader::emit_control(Control control) {
  Draft draft;
  draft.code.control = control;
  draft.code.d = draft.code.a = draft.code.b = draft.code.c = draft.code.e = kNoColumn;
  draft.code.count = 1;
  draft.at = statement_->at;
  draft.spelling = spelling_of(*statement_);
  draft.tag = statement_->tag;
  if (statement_->has_guard) {
    draft.guard = column_of(statement_->guard);
    draft.code.guard_negated = statement_->guard_negated;
  }
  drafts_.push_back(std::move(draft));
  return drafts_.back();
}

// Operations that wait for other lanes run unguarded after a branch: lanes that skip them are elsewhere.
void FunctionLoader::guard_by_branch(const Statement& s) {
  Draft& skip = emit_control(Control::kBranch);
  skip.code.guard_negated = !s.guard_negated;
  skip.target_statement = &s - function_.body.data() + 1;
}

ColumnId FunctionLoader::predicate_source(const Operand& p, bool& negated) {
  negated = p.is_negated;
  if (p.kind == OperandKind::kRegister) return column_of(p.index);
  return constant(p.bits ? 0xffffffffu : 0, 0);
}

void FunctionLoader::lower_as(const Statement& s, const Match& m) {
  using enum Lowering;
  const Lowering kind = m.form->row->lowering;
  const Statement* use = &s;
  const bool waits = kind == kBarrier || kind == kCall || kind == kShuffle || kind == kVote || kind == kMatch ||
                     kind == kRedux || kind == kElect || kind == kWarpBarrier || kind == kMatrix ||
                     kind == kMatrixLoad || kind == kWmmaMemory;
  if (waits && s.has_guard) {
    guard_by_branch(s);
    unguarded_ = s;
    unguarded_.has_guard = false;
    use = statement_ = &unguarded_;
  }
  switch (kind) {
    case kSimple:
      return lower_simple(*use, m);
    case kCarry:
      return lower_carry(*use, m);
    case kMove:
      return lower_move(*use, m);
    case kSetp:
      return lower_setp(*use, m);
    case kSetpPair:
      return lower_setp_pair(*use, m);
    case kRealPair:
      return lower_real_pair(*use, m);
    case kMixedReal:
      return lower_mixed_real(*use, m);
    case kSet:
      return lower_set(*use, m);
    case kSelect:
      return lower_select(*use, m);
    case kLop3:
      return lower_lop3(*use, m);
    case kPredicateLogic:
      return lower_predicate_logic(*use, m);
    case kConvert:
      return lower_convert(*use, m);
    case kConvertPack:
      return lower_convert_pack(*use, m);
    case kVideo:
      return lower_video(*use, m);
    case kLoad:
      return lower_load(*use, m);
    case kStore:
      return lower_store(*use, m);
    case kAtomic:
      return lower_atomic(*use, m, true);
    case kReduction:
      return lower_atomic(*use, m, false);
    case kStoreAsync:
      return lower_store_async(*use, m);
    case kAddress:
      return lower_cvta(*use, m);
    case kCluster:
      return lower_cluster(*use, m);
    case kIsSpace:
      return lower_isspacep(*use, m);
    case kBarrier:
      return lower_barrier(*use, m);
    case kBranch:
      return lower_branch(*use);
    case kBranchIndexed:
      return lower_indexed(*use);
    case kCall:
      return lower_call(*use);
    case kReturn:
      store_register_results();
      emit_control(function_.is_entry ? Control::kExit : Control::kReturn);
      return;
    case kExit:
      emit_control(Control::kExit);
      return;
    case kTrap:
      emit_control(Control::kTrap);
      return;
    case kNothing:
      return;
    case kFence:
      return lower_fence(*use, m);
    case kSleep:
      emit("nanosleep").code.a = source(use->operands[0], Type::u32);
      return;
    case kShuffle:
      return lower_shuffle(*use, m);
    case kVote:
    case kMatch:
    case kRedux:
    case kActiveMask:
    case kElect:
    case kWarpBarrier:
      return lower_warp(*use, m);
    case kMatrix:
      return lower_matrix(*use, m);
    case kMatrixLoad:
      return lower_matrix_load(*use, m);
    case kWmmaMemory:
      return lower_wmma_memory(*use, m);
    case kMbarrier:
      return lower_mbarrier(*use, m);
    case kAsyncCopy:
      return lower_async_copy(*use, m);
    case kBulkCopy:
      return lower_bulk_copy(*use, m);
    case kPrefetch:
      return lower_prefetch(*use, m);
    case kPolicy:
      return lower_policy(*use, m);
    case kStack:
      return lower_stack(*use, m);
  }
}

}  // namespace ptx::emulator
