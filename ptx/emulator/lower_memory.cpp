// Lowering of memory operations: address, window and semantics.
#include <algorithm>
#include <bit>

#include "ptx/emulator/copies_in_flight.h"
#include "ptx/emulator/function_loader.h"

namespace ptx::emulator {

std::string spelling_of(const Statement& s);

Space FunctionLoader::space_of(const Statement& s, const Match& m) const {
  const std::string_view word = m.word("space");
  if (word.empty()) return Space::generic;
  if (word == "global") return Space::global;
  if (word == "const") return Space::constant;
  if (word.starts_with("shared")) return Space::shared;
  if (word == "local") return Space::local;
  if (word.starts_with("param")) return Space::param;
  refuse(s.at, "unknown state space ." + std::string(word));
}

uint32_t FunctionLoader::semantics_of(const Match& m) const {
  using namespace access;
  Order order = kWeak;
  Scope scope = kGpu;
  const std::string_view sem = m.word("sem"), where = m.word("scope");
  if (m.has("volatile")) order = kVolatile, scope = kSys;
  if (sem == "relaxed" || m.has("relaxed")) order = kRelaxed;
  if (sem == "acquire") order = kAcquire;
  if (sem == "release") order = kRelease;
  if (sem == "acq_rel") order = kAcqRel;
  if (where == "cta") scope = kCta;
  if (where == "cluster") scope = kCluster;
  if (where == "sys" || m.has("sys")) scope = kSys;
  const bool polls = order == kVolatile || order == kRelaxed || order == kAcquire || m.word("cop") == "cv";
  return static_cast<uint32_t>(order) << kOrderShift | static_cast<uint32_t>(scope) << kScopeShift |
         (polls ? kPolls : 0) | (m.has("nc") ? kReadOnly : 0);
}

FunctionLoader::Place FunctionLoader::place_of(const Operand& address, Space space, Position at) {
  const Operand& base = address.elements[0];
  Place place;
  place.space = space;
  place.offset = address.offset;
  if (base.kind == OperandKind::kInteger) {
    if (space != Space::local) refuse(base.at, "a number is an address in local memory only");
    place.flags = access::kAddressNone;
    return place;
  }
  if (base.kind == OperandKind::kRegister) {
    const uint32_t bytes = width_of(base);
    const bool is_integer = class_of(type_of(base)) == Class::integer || is_untyped(type_of(base));
    if (!is_integer || bytes < 4 || bytes > 8) {
      refuse(base.at, "an address needs a 32- or 64-bit integer register, found " + describe(base));
    }
    const bool windowed =
        space == Space::shared || space == Space::local || space == Space::param || space == Space::constant;
    if (bytes == 4 && !windowed) refuse(base.at, "a global or generic address has 64 bits, found " + describe(base));
    place.base = column_of(base.index);
    if (bytes == 4) place.flags = access::kAddress32;
    return place;
  }
  const Variable& v = *base.variable;
  const bool of_kernel = function_.is_entry && std::ranges::count(function_.signature.parameters, &v);
  const bool fits = v.space == space ||
                    (space == Space::generic && (v.space == Space::global || v.space == Space::constant)) ||
                    (space == Space::global && v.space == Space::constant);
  if (!fits) refuse(at, "variable " + v.name + " does not lie in the state space of this access");
  const bool is_on_stack = v.space == Space::local || (v.space == Space::param && !of_kernel);
  if (base.subscript) {
    place.base = address_of(base, 8);
    if (is_on_stack) place.space = Space::local;
    return place;
  }
  if (v.space == Space::shared && v.is_unsized) {
    place.base = special(Special::extern_shared, 4);
    place.flags = access::kAddress32;
    return place;
  }
  place.flags = access::kAddressNone;
  if (frame_.contains(&v))
    place.offset += static_cast<int64_t>(frame_.at(&v));
  else
    place.offset += static_cast<int64_t>(layout_.addresses.at(&v));
  if (is_on_stack) {
    place.space = Space::local;
    place.frame = special(Special::local_base, 8);
    place.flags |= access::kFrameRelative;
  }
  return place;
}

void FunctionLoader::set_place(Draft& draft, const Place& place) {
  draft.code.a = place.base;
  draft.code.e = place.frame;
  draft.code.immediate = place.offset;
  draft.code.flags |= place.flags | static_cast<uint32_t>(place.space) << access::kSpaceShift;
}

namespace {

const char* space_name(Space space) {
  switch (space) {
    case Space::global:
    case Space::constant:
      return ".global";
    case Space::shared:
      return ".shared";
    case Space::local:
      return ".local";
    case Space::param:
      return ".param";
    default:
      return "";
  }
}

// Memory type as loaded into a register of `bytes`: ".s8.32"; for equal widths the sign does not matter.
std::string width_suffix(Type type, uint32_t bytes, bool loads) {
  const uint32_t size = size_of(type);
  if (size == 16) return ".b128.128";
  const bool sign = loads && is_signed(type) && class_of(type) == Class::integer && size < bytes;
  return std::string(sign ? ".s" : ".u") + std::to_string(8 * size) + "." + std::to_string(8 * bytes);
}

}  // namespace

void FunctionLoader::set_elements(Draft& draft, const Operand& data, Type type, uint32_t bytes, bool loads) {
  draft.writes_d = loads;
  const auto column = [&](const Operand& o) -> ColumnId {
    if (o.kind == OperandKind::kSink) return kNoColumn;
    return o.kind == OperandKind::kRegister ? column_of(o.index) : constant(immediate_bits(o, type), bytes);
  };
  if (data.elements.empty()) {
    draft.code.d = data.kind == OperandKind::kSink ? temporary(bytes) : column(data);
    return;
  }
  draft.code.count = static_cast<uint8_t>(data.elements.size());
  for (const Operand& e : data.elements) draft.list.push_back(column(e));
  if (loads) draft.list_defs = draft.code.count;
}

namespace {
uint32_t register_bytes(const std::vector<Register>& registers, const Operand& data, Type type) {
  const Operand* one = &data;
  for (const Operand& e : data.elements) {
    if (e.kind == OperandKind::kRegister) one = &e;
  }
  if (one->kind != OperandKind::kRegister) return std::max(2u, size_of(type));
  return std::max(2u, size_of(registers[one->index].type));
}
}  // namespace

namespace {
// A 32-byte access may have an L2 eviction priority alone; priorities exclude cache operators.
void check_eviction(const Statement& s, const Match& m, const Operand& data) {
  if (m.has("l1") && m.has("cop"))
    refuse(s.at, spelling_of(s) + ": ." + std::string(m.word("cop")) + " and ." + std::string(m.word("l1")) +
                     " exclude each other");
  if (m.has("l2") && data.elements.size() * size_of(m.type()) != 32)
    refuse(s.at, spelling_of(s) + ": ." + std::string(m.word("l2")) + " needs .v8 of 32 bits or .v4 of 64");
}
}  // namespace

namespace {
struct Piece {
  size_t first, count;  // elements
};

// Naturally aligned pieces that a vector load reads: everything, or only the used elements. Unused ones may be at
// unreadable addresses.
std::vector<Piece> pieces_used(const Operand& data, uint32_t element_bytes, uint32_t used_bytes) {
  const size_t n = std::max<size_t>(1, data.elements.size());
  const auto is_used = [&](size_t e) {
    return (used_bytes >> e * element_bytes & ((uint64_t{1} << element_bytes) - 1)) != 0;
  };
  std::vector<Piece> pieces;
  for (size_t first = 0; first < n;) {
    size_t count = n;
    const auto fits = [&] {
      for (size_t e = first; e < first + count; ++e)
        if (!is_used(e)) return false;
      return first % count == 0 && first + count <= n;
    };
    while (count > 1 && !fits()) count /= 2;
    if (n == 1 || is_used(first)) pieces.push_back({first, count});
    first += count;
  }
  return pieces;
}
}  // namespace

void FunctionLoader::lower_load(const Statement& s, const Match& m) {
  const Type type = m.type();
  check_eviction(s, m, s.operands[0]);
  const Place place = place_of(s.operands[1], space_of(s, m), s.at);
  const Operand& data = only_element(s.operands[0]);
  const uint32_t bytes = register_bytes(function_.registers, data, type);
  for (const Operand& e : data.elements) {
    if (e.kind == OperandKind::kRegister && width_of(e) != bytes)
      refuse(e.at, spelling_of(s) + ": registers of different sizes");
  }
  for (const Piece& piece : pieces_used(data, size_of(type), s.used_bytes)) {
    Operand part = data;
    if (piece.count < data.elements.size()) {
      const auto first = data.elements.begin() + static_cast<std::ptrdiff_t>(piece.first);
      part.elements.assign(first, first + static_cast<std::ptrdiff_t>(piece.count));
    }
    Place where = place;
    where.offset += static_cast<int64_t>(piece.first * size_of(type));
    load_part(m, where, only_element(part), bytes);
  }
}

void FunctionLoader::load_part(const Match& m, const Place& place, const Operand& data, uint32_t bytes) {
  const Type type = m.type();
  Draft& draft = emit(std::string("ld") + space_name(place.space) + width_suffix(type, bytes, true) +
                      (data.elements.size() > 1 ? ".v" : ""));
  draft.code.flags = semantics_of(m);
  draft.loaded_bytes = size_of(type);
  draft.extends_sign = class_of(type) == Class::integer && is_signed(type);
  set_place(draft, place);
  set_elements(draft, data, type, bytes, true);
}

void FunctionLoader::lower_store(const Statement& s, const Match& m) {
  const Type type = m.type();
  check_eviction(s, m, s.operands[1]);
  const Place place = place_of(s.operands[0], space_of(s, m), s.at);
  if (place.space == Space::param) refuse(s.at, "a kernel's parameters cannot be written");
  if (place.space == Space::constant) refuse(s.at, "constant memory cannot be written");
  const Operand& data = only_element(s.operands[1]);
  const uint32_t bytes = register_bytes(function_.registers, data, type);
  for (const Operand& e : data.elements) {
    if (e.kind == OperandKind::kRegister && width_of(e) != bytes)
      refuse(e.at, spelling_of(s) + ": registers of different sizes");
  }
  Draft& draft = emit(std::string("st") + space_name(place.space) + width_suffix(type, bytes, false) +
                      (data.elements.size() > 1 ? ".v" : ""));
  draft.code.flags = semantics_of(m) & ~access::kPolls;
  set_place(draft, place);
  set_elements(draft, data, type, bytes, false);
}

void FunctionLoader::lower_atomic(const Statement& s, const Match& m, bool returns) {
  const Type type = m.type();
  const size_t at = returns ? 1 : 0;
  const Operand& value = s.operands[at + 1];
  const Place place = place_of(s.operands[at], space_of(s, m), s.at);
  if (m.has("vec")) return lower_vector_atomic(s, m, place, returns);
  const bool is_cas = m.word("op") == "cas";
  const ColumnId b = source(value, type), c = is_cas ? source(s.operands[at + 2], type) : kNoColumn;
  const bool used = returns && s.operands[0].kind != OperandKind::kSink;
  Draft& draft = emit("atom." + std::string(m.word("op")) + "." + std::string(m.word("t")));
  draft.code.flags = semantics_of(m) & ~access::kPolls;
  if ((draft.code.flags >> access::kOrderShift & 7) == access::kWeak)
    draft.code.flags |= access::kRelaxed << access::kOrderShift;
  if (used) draft.code.flags |= access::kPolls;
  set_place(draft, place);
  draft.code.d = used ? column_of(s.operands[0].index) : kNoColumn;
  draft.code.b = b;
  draft.code.c = c;
}

// Adds elements one by one; the list's contents are described at its handler.
void FunctionLoader::lower_vector_atomic(const Statement& s, const Match& m, const Place& place, bool returns) {
  const Type type = m.type();
  std::vector<ColumnId> list;
  for (const Operand& o : returns ? s.operands[0].elements : std::vector<Operand>{})
    list.push_back(o.kind == OperandKind::kSink ? kNoColumn : column_of(o.index));
  const uint32_t defs = static_cast<uint32_t>(list.size());
  for (const Operand& o : s.operands[returns ? 2 : 1].elements) list.push_back(source(o, type));
  Draft& draft = emit("atom.add.vector." + std::string(m.word("t")));
  draft.code.flags = (semantics_of(m) & ~access::kPolls) | (returns ? access::kPolls | access::kReturnsOld : 0);
  if ((draft.code.flags >> access::kOrderShift & 7) == access::kWeak)
    draft.code.flags |= access::kRelaxed << access::kOrderShift;
  set_place(draft, place);
  draft.writes_d = false;
  draft.list = std::move(list);
  draft.list_defs = defs;
  draft.code.count = static_cast<uint8_t>(draft.list.size() - defs);
}

void FunctionLoader::lower_cvta(const Statement& s, const Match& m) {
  const Space space = space_of(s, m);
  const uint64_t window = space == Space::shared  ? kSharedWindow
                          : space == Space::local ? kLocalWindow
                          : space == Space::param ? kParamWindow
                                                  : 0;
  const Operand& from = s.operands[1];
  ColumnId a;
  if (from.kind == OperandKind::kRegister) {
    if (width_of(from) != 8 || class_of(type_of(from)) == Class::real)
      refuse(from.at, spelling_of(s) + ": operand 2: expected a .u64 register, found " + describe(from));
    a = column_of(from.index);
  } else if (from.kind == OperandKind::kVariable) {
    if (from.variable->space != space)
      refuse(from.at, spelling_of(s) + ": variable " + from.name + " does not lie in that state space");
    const Place place = place_of(
        [&] {
          Operand address;
          address.elements.push_back(from);
          address.offset = from.offset;
          return address;
        }(),
        space == Space::param ? Space::param : from.variable->space, s.at);
    if (from.subscript)
      a = place.base;
    else if (place.frame != kNoColumn)
      a = special(Special::local_base, 8, static_cast<uint64_t>(place.offset));
    else if (place.base != kNoColumn)
      a = special(Special::extern_shared, 8, static_cast<uint64_t>(place.offset));
    else
      a = constant(static_cast<uint64_t>(place.offset), 8);
  } else {
    refuse(from.at, spelling_of(s) + ": operand 2: expected a register or variable, found " + describe(from));
  }
  const ColumnId b = window ? constant(window, 8) : kNoColumn;
  Draft& draft = emit(window == 0 ? "mov.b64" : m.has("to") ? "sub.u64" : "add.u64");
  draft.code.d = column_of(s.operands[0].index);
  draft.code.a = a;
  draft.code.b = b;
}

// Caches have no priorities here, but the operands are still checked.
void FunctionLoader::lower_policy(const Statement& s, const Match& m) {
  if (m.has("range")) place_of(s.operands[1], m.has("global") ? Space::global : Space::generic, s.at);
  if (m.has("fractional") && s.operands.size() > 1 && s.operands[1].kind == OperandKind::kFloat) {
    const double part = std::bit_cast<double>(s.operands[1].bits);
    if (!(part > 0 && part <= 1))
      refuse(s.operands[1].at, spelling_of(s) + ": operand 2: expected a part of more than 0 and at most 1");
  }
  const ColumnId nothing = constant(0, 8);
  Draft& draft = emit("mov.b64");
  draft.code.d = column_of(s.operands[0].index);
  draft.code.a = nothing;
}

// A cluster is one block: its rank is 0, and mapa is the identity.
void FunctionLoader::lower_cluster(const Statement& s, const Match& m) {
  const Operand& from = s.operands[1];
  const bool is_rank = s.opcode == "getctarank";
  const Type type = m.type(is_rank ? "u" : "t");
  check_plain(s, 1);
  const bool is_variable = from.kind == OperandKind::kVariable && from.variable->space == Space::shared;
  if (!is_variable && (from.kind != OperandKind::kRegister || !agrees(type_of(from), type)))
    refuse(from.at, spelling_of(s) + ": operand 2: expected a ." + std::string(name_of(type)) +
                        " register or a shared variable, found " + describe(from));
  if (!is_rank && is_variable) return lower_address_of(s, type);
  const ColumnId a = is_rank ? constant(0, 4) : column_of(from.index);
  Draft& draft = emit(is_rank || type == Type::u32 ? "mov.b32" : "mov.b64");
  draft.code.d = column_of(s.operands[0].index);
  draft.code.a = a;
}

// Performs the store or reduction at once, then completes its bytes at the barrier, which is valid for every correct
// program.
void FunctionLoader::lower_store_async(const Statement& s, const Match& m) {
  const Space space = space_of(s, m);
  const uint32_t elements = std::max(1u, static_cast<uint32_t>(s.operands[1].elements.size()));
  const ColumnId bytes = constant(elements * size_of(m.type()), 4);
  const Place barrier = place_of(s.operands[2], space, s.at);
  if (s.opcode == "st")
    lower_store(s, m);
  else
    lower_atomic(s, m, false);
  Draft& draft = emit("mbarrier.complete_tx");
  set_place(draft, barrier);
  draft.code.b = bytes;
}

void FunctionLoader::lower_isspacep(const Statement& s, const Match& m) {
  Draft& draft = emit("isspacep");
  draft.code.d = column_of(s.operands[0].index);
  draft.code.a = column_of(s.operands[1].index);
  draft.code.flags = static_cast<uint32_t>(space_of(s, m));
}

void FunctionLoader::lower_fence(const Statement& s, const Match& m) {
  using namespace access;
  if (s.opcode == "membar" && m.has("proxy")) return;
  if (m.word("p") == "async" && m.word("q") != "global") return static_cast<void>(emit("fence.proxy.async"));
  if (m.has("proxy") || m.has("mbarrier_init")) return;
  Order order = kSc;
  Scope scope = kSys;
  const std::string_view level = m.word("level"), where = m.word("scope"), sem = m.word("sem");
  if (level == "cta" || where == "cta") scope = kCta;
  if (where == "cluster") scope = kCluster;
  if (level == "gl" || where == "gpu") scope = kGpu;
  if (sem == "acq_rel") order = kAcqRel;
  if (sem == "acquire") order = kAcquire;
  if (sem == "release") order = kRelease;
  if (s.opcode == "fence" && where.empty()) refuse(s.at, spelling_of(s) + ": a scope is missing");
  emit("fence").code.flags = static_cast<uint32_t>(order) << kOrderShift | static_cast<uint32_t>(scope) << kScopeShift;
}

void FunctionLoader::lower_prefetch(const Statement& s, const Match& m) {
  place_of(s.operands[0], space_of(s, m), s.at);  // checks the address; there is nothing to do
}

void FunctionLoader::lower_mbarrier(const Statement& s, const Match& m) {
  const std::string op(m.word("m"));
  const bool has_state = op.starts_with("arrive");
  if (op == "pending_count") {
    const ColumnId state = source(s.operands[1], Type::b64);
    Draft& draft = emit("mbarrier.pending_count");
    draft.code.d = column_of(s.operands[0].index);
    draft.code.a = state;
    return;
  }
  const bool waits = op == "test_wait" || op == "try_wait";
  const size_t at = has_state || waits ? 1 : 0;
  const bool is_named = s.operands[at].elements[0].kind == OperandKind::kVariable;  // variables must be shared
  const Space space = m.word("space").empty() && !is_named ? Space::generic : Space::shared;
  if (m.word("sem").empty() != m.word("scope").empty())
    refuse(s.at, spelling_of(s) + ": an order and a scope need each other");
  const Place place = place_of(s.operands[at], space, s.at);
  const size_t value_at = at + 1;
  ColumnId b = kNoColumn;
  if (s.operands.size() > value_at) b = source(s.operands[value_at], waits && !m.has("parity") ? Type::b64 : Type::u32);
  if (has_state && b == kNoColumn) b = constant(1, 4);
  if (m.has("expect_tx") && s.operands.size() <= value_at) refuse(s.at, spelling_of(s) + ": the byte count is missing");
  const Operand& to = s.operands[0];
  if (has_state) check_plain(s, 0);
  const bool is_elsewhere = m.word("space") == "shared::cluster";  // has no state in this block
  if (has_state && to.kind != OperandKind::kSink &&
      (is_elsewhere || to.kind != OperandKind::kRegister || !agrees(type_of(to), Type::u64))) {
    refuse(to.at, spelling_of(s) + ": operand 1: expected " + (is_elsewhere ? "_" : "a .u64 register or _") +
                      ", found " + describe(to));
  }
  Draft& draft = emit("mbarrier." + op + (m.has("expect_tx") && has_state ? ".expect_tx" : "") +
                      (m.has("parity") ? ".parity" : ""));
  draft.code.flags = (waits ? access::kPolls : 0) | (waits ? access::kAcquire : access::kRelease)
                                                        << access::kOrderShift;
  set_place(draft, place);
  draft.code.b = b;
  if (at == 1 && to.kind == OperandKind::kRegister) draft.code.d = column_of(to.index);
}

void FunctionLoader::lower_async_copy(const Statement& s, const Match& m) {
  if (m.has("commit_group")) return static_cast<void>(emit("cp.async.commit_group"));
  if (m.has("wait_all")) return static_cast<void>(emit("cp.async.wait_group").code.count = kWaitsForAll);
  if (m.has("wait_group"))
    return static_cast<void>(emit("cp.async.wait_group").code.immediate = static_cast<int64_t>(s.operands[0].bits));
  if (m.has("m")) {
    const Place place = place_of(s.operands[0], m.word("space").empty() ? Space::generic : Space::shared, s.at);
    Draft& draft = emit("cp.async.mbarrier");
    draft.code.count = m.has("noinc") ? 1 : 0;
    return set_place(draft, place);
  }
  const uint64_t bytes = s.operands[2].bits;
  if (bytes != 4 && bytes != 8 && bytes != 16)
    refuse(s.operands[2].at, "cp.async copies 4, 8 or 16 bytes, found " + std::to_string(bytes));
  if (m.word("cop") == "cg" && bytes != 16)
    refuse(s.operands[2].at, "cp.async.cg copies 16 bytes, found " + std::to_string(bytes));
  const Place to = place_of(s.operands[0], Space::shared, s.at), from = place_of(s.operands[1], Space::global, s.at);
  ColumnId size = kNoColumn, ignore = kNoColumn;
  if (s.operands.size() > 3 && !m.has("L2::cache_hint")) {
    const Operand& x = s.operands[3];
    const bool is_predicate = x.kind == OperandKind::kRegister && type_of(x) == Type::pred;
    std::string complaint;
    const bool fits = is_predicate || (is_plain(x, complaint) && fits_value(x, {'s', "u32"}, Type::u32, complaint));
    if (!fits) refuse(x.at, spelling_of(s) + ": operand 4: " + complaint);
    if (x.second) check_plain(s, 3);
    if (x.kind == OperandKind::kInteger && x.bits > bytes)
      refuse(x.at, spelling_of(s) + ": operand 4: expected 0 to " + std::to_string(bytes) + " bytes");
    if (is_predicate)
      ignore = column_of(x.index);
    else
      size = source(x, Type::u32);
  } else if (s.operands.size() > 4) {
    size = source(s.operands[3], Type::u32);
  }
  Draft& draft = emit("cp.async.copy");
  set_place(draft, to);
  draft.list = {from.base, size, ignore, constant(static_cast<uint64_t>(from.offset), 8)};
  draft.code.flags |= from.flags << access::kFreeShift;
  draft.code.count = static_cast<uint8_t>(bytes);
}

void FunctionLoader::lower_bulk_copy(const Statement& s, const Match& m) {
  if (m.has("commit_group")) return static_cast<void>(emit("cp.async.bulk.commit_group"));
  if (m.has("wait_group")) {
    Draft& wait = emit("cp.async.bulk.wait_group");
    wait.code.immediate = static_cast<int64_t>(s.operands[0].bits);
    if (m.has("read")) wait.code.count = kWaitsForReads;
    return;
  }
  const bool into_shared = m.word("dst").starts_with("shared");
  const Place to = place_of(s.operands[0], into_shared ? Space::shared : Space::global, s.at);
  const Place from = place_of(s.operands[1], into_shared ? Space::global : Space::shared, s.at);
  const ColumnId size = source(s.operands[2], Type::u32);
  Place barrier;
  if (into_shared) barrier = place_of(s.operands[3], Space::shared, s.at);
  std::string name = into_shared ? "cp.async.bulk.load" : "cp.async.bulk.store";
  if (m.has("reduce")) name = "cp.reduce.async.bulk." + std::string(m.word("op")) + "." + std::string(m.word("t"));
  Draft& draft = emit(name);
  set_place(draft, to);
  draft.list = {from.base, size, barrier.base, constant(static_cast<uint64_t>(from.offset), 8),
                constant(static_cast<uint64_t>(barrier.offset), 8)};
  draft.code.flags |= from.flags << access::kFreeShift | barrier.flags << (access::kFreeShift + 4);
}

}  // namespace ptx::emulator
