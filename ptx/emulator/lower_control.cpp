// Lowering of barriers, branches, calls and warp-wide operations.
#include <algorithm>

#include "ptx/emulator/barrier_kind.h"
#include "ptx/emulator/function_loader.h"

namespace ptx::emulator {

std::string spelling_of(const Statement& s);

void FunctionLoader::lower_barrier(const Statement& s, const Match& m) {
  if (m.has("cluster")) {  // a cluster is one block: its barrier is the block's
    if (m.word("m") == "arrive") return;
    Draft& draft = emit_control(Control::kBarrier);
    draft.code.immediate = static_cast<int64_t>(BarrierKind::kCluster);
    draft.code.a = constant(0, 4);
    return;
  }
  BarrierKind kind = m.has("arrive") ? BarrierKind::kArrive : BarrierKind::kSync;
  const std::string_view op = m.word("op");
  if (op == "popc") kind = BarrierKind::kPopcount;
  if (op == "and") kind = BarrierKind::kAnd;
  if (op == "or") kind = BarrierKind::kOr;
  const bool reduces = !op.empty();
  const size_t at = reduces ? 1 : 0;
  size_t count_operands = s.operands.size() - at - 1;
  ColumnId predicate = kNoColumn;
  bool negated = false;
  if (reduces) {
    const Operand& last = s.operands.back();
    const bool is_predicate = last.kind == OperandKind::kRegister ? type_of(last) == Type::pred && !last.second
                                                                  : last.kind == OperandKind::kInteger;
    if (s.operands.size() < 3 || !is_predicate) {
      refuse(last.at, spelling_of(s) + ": the last operand must be a predicate");
    }
    predicate = predicate_source(last, negated);
    --count_operands;
  }
  const Operand& id = s.operands[at];
  if (id.kind == OperandKind::kInteger && id.bits > 15)
    refuse(id.at, "barrier " + std::to_string(id.bits) + " is outside 0 to 15");
  ColumnId count = kNoColumn;
  if (count_operands > 0) {
    const Operand& n = s.operands[at + 1];
    if (n.kind == OperandKind::kInteger && n.bits % kLanes != 0)
      refuse(n.at, "a barrier's thread count must be a multiple of 32");
    count = source(n, Type::u32);
  }
  const ColumnId a = source(id, Type::u32);
  Draft& draft = emit_control(Control::kBarrier);
  draft.code.immediate = static_cast<int64_t>(kind);
  draft.code.a = a;
  draft.code.b = count;
  draft.code.c = predicate;
  if (reduces) draft.code.d = column_of(s.operands[0].index);
  draft.code.flags = (s.opcode == "bar" || m.has("aligned") ? kBarrierAligned : 0) | (negated ? kBarrierNegated : 0);
}

void FunctionLoader::lower_branch(const Statement& s) {
  const Operand& to = s.operands[0];
  if (to.kind != OperandKind::kLabel) refuse(to.at, "expected a label, found " + describe(to));
  emit_control(Control::kBranch).target_statement = to.target;
}

void FunctionLoader::lower_indexed(const Statement& s) {
  const Operand& table = s.operands[1];
  if (table.kind != OperandKind::kLabelTable)
    refuse(table.at, "expected a table of branch targets, found " + describe(table));
  Draft& draft = emit_control(Control::kBranchIndexed);
  draft.code.a = column_of(s.operands[0].index);
  draft.code.immediate = table.index;
}

const std::string* builtin_named(std::string_view name) {
  static const std::string kBuiltins[] = {"vprintf", "__assertfail", "malloc", "free"};
  const auto* found = std::ranges::find(kBuiltins, name);
  return found == std::end(kBuiltins) ? nullptr : found;
}

// call (results), target, (arguments), prototype; all but the target may be missing.
void FunctionLoader::read_call(const Statement& s, CallSite& site, const Operand*& arguments, const Operand*& results) {
  size_t next = 0;
  if (next < s.operands.size() && s.operands[next].kind == OperandKind::kList) results = &s.operands[next++];
  if (next >= s.operands.size()) refuse(s.at, "call names no function");
  const Operand& target = s.operands[next++];
  if (next < s.operands.size() && s.operands[next].kind == OperandKind::kList) arguments = &s.operands[next++];
  const Signature* signature = nullptr;
  if (target.kind == OperandKind::kFunction) {
    signature = &target.function->signature;
    const auto found = layout_.functions.find(target.function);
    const std::string* builtin = builtin_named(target.function->name);
    if (found != layout_.functions.end())
      site.callee = found->second;
    else if (builtin != nullptr)
      site.builtin = builtin;
    else
      refuse(target.at, "function " + target.name + " is declared but never defined");
    if (target.function->is_entry) refuse(target.at, "an entry function cannot be called");
  } else if (target.kind == OperandKind::kRegister && width_of(target) == 8) {
    if (next >= s.operands.size() || s.operands[next].kind != OperandKind::kPrototype)
      refuse(s.at, "an indirect call needs a prototype");
    signature = &function_.prototypes[s.operands[next++].index];
    site.target = column_of(target.index);
  } else {
    refuse(target.at, "expected a function or a 64-bit register, found " + describe(target));
  }
  if (next != s.operands.size()) refuse(s.operands[next].at, "unexpected operand after the call");
  const size_t n_arguments = arguments ? arguments->elements.size() : 0,
               n_results = results ? results->elements.size() : 0;
  if (n_arguments != signature->parameters.size() || n_results != signature->returns.size()) {
    refuse(s.at, "the call passes " + std::to_string(n_arguments) + " arguments and takes " +
                     std::to_string(n_results) + " results, the function has " +
                     std::to_string(signature->parameters.size()) + " and " +
                     std::to_string(signature->returns.size()));
  }
  const auto formal = [](const std::vector<const Variable*>& variables) {
    std::vector<Parameter> list;
    for (const Variable* v : variables) list.push_back({v->name, 0, static_cast<uint32_t>(v->size), v->align});
    return list;
  };
  site.arguments = formal(signature->parameters);
  site.results = formal(signature->returns);
}

// Locations of a call's operands in the caller's frame; registers and numbers get slots.
std::vector<Parameter> FunctionLoader::pass(const Operand* list, const std::vector<Parameter>& formal, bool results,
                                            std::vector<std::pair<ColumnId, Parameter>>& registers) {
  std::vector<Parameter> slots;
  for (size_t i = 0; i < formal.size(); ++i) {
    const Operand& o = list->elements[i];
    Parameter slot = formal[i];
    if (o.kind == OperandKind::kVariable && o.variable->space == Space::param && frame_.contains(o.variable)) {
      if (o.variable->size != slot.bytes)
        refuse(o.at, "parameter " + o.name + " has " + std::to_string(o.variable->size) +
                         " bytes, the function expects " + std::to_string(slot.bytes));
      slot.offset = static_cast<uint32_t>(frame_.at(o.variable)) + static_cast<uint32_t>(o.offset);
    } else if (o.kind == OperandKind::kRegister || (o.kind == OperandKind::kInteger && !results)) {
      code_.frame_bytes = (code_.frame_bytes + 15) / 16 * 16;
      slot.offset = code_.frame_bytes;
      code_.frame_bytes += slot.bytes;
      const ColumnId column = o.kind == OperandKind::kRegister ? column_of(o.index) : constant(o.bits, slot.bytes);
      if (slot.bytes > 8 || columns_[column].bytes != std::max(2u, slot.bytes))
        refuse(o.at, "a register of another size than the parameter");
      registers.emplace_back(column, slot);
    } else {
      refuse(o.at, "expected a .param variable or a register, found " + describe(o));
    }
    slots.push_back(slot);
  }
  return slots;
}

void FunctionLoader::move_register(ColumnId reg, const Parameter& slot, bool loads) {
  const std::string width = ".u" + std::to_string(8 * slot.bytes) + "." + std::to_string(8 * columns_[reg].bytes);
  const ColumnId frame = special(Special::local_base, 8);
  Draft& draft = emit((loads ? "ld.local" : "st.local") + width);
  draft.code.d = reg;
  draft.writes_d = loads;
  draft.code.e = frame;
  draft.code.immediate = slot.offset;
  draft.code.flags =
      access::kAddressNone | access::kFrameRelative | static_cast<uint32_t>(Space::local) << access::kSpaceShift;
}

void FunctionLoader::lower_call(const Statement& s) {
  CallSite site;
  const Operand *arguments = nullptr, *results = nullptr;
  read_call(s, site, arguments, results);
  std::vector<std::pair<ColumnId, Parameter>> in, out;
  site.arguments = pass(arguments, site.arguments, false, in);
  site.results = pass(results, site.results, true, out);
  for (const auto& [reg, slot] : in) move_register(reg, slot, false);
  const ColumnId target = site.target;
  Draft& draft = emit_control(Control::kCall);
  draft.code.a = target;
  draft.code.immediate = static_cast<int64_t>(code_.calls.size());
  code_.calls.push_back(std::move(site));
  for (const auto& [reg, slot] : out) move_register(reg, slot, true);
}

// d or d|p of a lane exchange: 32 bits, and a predicate.
void FunctionLoader::check_exchange_result(const Statement& s, bool may_discard, Pair pair) const {
  const Operand& to = s.operands[0];
  const std::string what = spelling_of(s) + ": operand 1: ";
  const Type type = s.opcode == "shfl" ? Type::b32 : Type::u32;
  const bool is_register = to.kind == OperandKind::kRegister && to.elements.empty() && to.selector.empty() &&
                           agrees(type_of(to), type) && (type == Type::b32 || type_of(to) != Type::f16x2);
  if (!is_register && !(may_discard && to.kind == OperandKind::kSink))
    refuse(to.at, what + "expected a ." + std::string(name_of(type)) + " register, found " + describe(to));
  const Operand* p = to.second.get();
  const bool is_predicate = p && p->kind == OperandKind::kRegister && type_of(*p) == Type::pred && !p->is_negated;
  const bool is_sink = p && p->kind == OperandKind::kSink && pair != Pair::kMust;
  if (pair == Pair::kNo ? p != nullptr : p ? !is_predicate && !is_sink : pair == Pair::kMust)
    refuse(to.at, what + (pair == Pair::kNo ? "unexpected second destination" : "expected a predicate after |"));
}

void FunctionLoader::lower_shuffle(const Statement& s, const Match& m) {
  const Operand& to = s.operands[0];
  check_exchange_result(s, false, Pair::kMay);
  const ColumnId a = source(s.operands[1], Type::b32), b = source(s.operands[2], Type::u32),
                 c = source(s.operands[3], Type::u32), mask = source(s.operands[4], Type::u32);
  Draft& draft = emit("shfl." + std::string(m.word("m")));
  draft.code.a = a;
  draft.code.b = b;
  draft.code.c = c;
  draft.code.e = mask;
  if (to.kind == OperandKind::kRegister) draft.code.d = column_of(to.index);
  draft.list = {to.second && to.second->kind == OperandKind::kRegister ? column_of(to.second->index) : kNoColumn};
  draft.list_defs = 1;
}

void FunctionLoader::lower_warp(const Statement& s, const Match& m) {
  const Lowering kind = m.form->row->lowering;
  if (kind == Lowering::kActiveMask)
    return static_cast<void>(emit("activemask").code.d = column_of(s.operands[0].index));
  if (kind == Lowering::kWarpBarrier) {
    const ColumnId mask = source(s.operands[0], Type::u32);
    return static_cast<void>(emit("bar.warp").code.e = mask);
  }
  const Operand& to = s.operands[0];
  if (kind == Lowering::kMatch)
    check_exchange_result(s, m.word("m") == "all", m.word("m") == "all" ? Pair::kMay : Pair::kNo);
  if (kind == Lowering::kElect) check_exchange_result(s, true, Pair::kMust);
  const ColumnId mask = source(s.operands.back(), Type::u32);
  ColumnId a = kNoColumn;
  bool negated = false;
  std::string name = s.opcode + "." + std::string(m.word("m"));
  if (kind == Lowering::kVote) a = predicate_source(s.operands[1], negated);
  if (kind == Lowering::kMatch || kind == Lowering::kRedux) a = source(s.operands[1], m.type());
  if (kind == Lowering::kMatch || kind == Lowering::kRedux) name += "." + std::string(m.word("t"));
  if (kind == Lowering::kRedux && m.has("abs")) name += ".abs";
  if (kind == Lowering::kRedux && m.has("NaN")) name += ".NaN";
  if (kind == Lowering::kElect) name = "elect";
  Draft& draft = emit(name);
  draft.code.a = a;
  draft.code.e = mask;
  draft.code.flags = negated ? 1 : 0;
  if (to.kind == OperandKind::kRegister) draft.code.d = column_of(to.index);
  draft.list = {to.second && to.second->kind == OperandKind::kRegister ? column_of(to.second->index) : kNoColumn};
  draft.list_defs = 1;
}

std::vector<ColumnId> FunctionLoader::vector_columns(const Operand& o, Type type, size_t count, const char* what) {
  const std::vector<Operand> alone = {o};
  const std::vector<Operand>& parts = o.elements.empty() ? alone : o.elements;
  if (parts.size() != count)
    refuse(o.at, std::string(what) + ": expected " + std::to_string(count) + " registers, found " +
                     std::to_string(parts.size()));
  std::vector<ColumnId> columns;
  for (const Operand& e : parts) {
    if (e.kind != OperandKind::kRegister || !agrees(type_of(e), type)) {
      refuse(e.at,
             std::string(what) + ": expected a ." + std::string(name_of(type)) + " register, found " + describe(e));
    }
    columns.push_back(column_of(e.index));
  }
  return columns;
}

}  // namespace ptx::emulator
