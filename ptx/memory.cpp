#include "ptx/memory.h"

namespace ptx {
namespace {

constexpr std::string_view kOrders[] = {"relaxed", "acquire", "release", "acq_rel"};
constexpr std::string_view kScopes[] = {"cta", "gpu", "sys"};
constexpr std::string_view kAtomics[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor", "exch"};
constexpr std::string_view kPolicies[] = {"", ".ca", ".cg", ".cs", ".lu", ".cv", ".wb", ".wt"};
constexpr std::string_view kL1[] = {"", ".L1::evict_first", ".L1::evict_last", ".L1::no_allocate"};

// base + constant, for offsets too large for an address operand.
Operand add_constant(const Address& from, int64_t bytes, Where at) {
  const bool narrow = from.base.type == Type::kU32;
  const Operand step = number_operand(narrow ? Type::kS32 : Type::kS64, bytes, at);
  return emit(*from.body, narrow ? "add.u32" : "add.u64", from.base.type, {from.base, step}, at,
              from.body->registers[from.base.index].role);
}

// base + index * bytes, in the width of the space's addresses.
Operand add_scaled(const Address& from, const Index& index, int bytes) {
  Body& body = *from.body;
  const std::string& role = body.registers[from.base.index].role;
  const bool long_index = bytes_of(index.operand.type) == 8;
  const Operand size = immediate_operand(static_cast<uint64_t>(bytes), long_index ? Type::kU64 : Type::kU32);
  if (from.base.type == Type::kU32) {
    if (long_index) fail(body, index.at, "a 64-bit index into shared memory; its addresses have 32 bits");
    if (bytes == 1) return emit(body, "add.u32", Type::kU32, {from.base, index.operand}, index.at, role);
    return emit(body, "mad.lo.u32", Type::kU32, {index.operand, size, from.base}, index.at, role);
  }
  if (long_index && bytes == 1) return emit(body, "add.u64", Type::kU64, {from.base, index.operand}, index.at, role);
  if (long_index) return emit(body, "mad.lo.u64", Type::kU64, {index.operand, size, from.base}, index.at, role);
  const bool is_signed = index.operand.type == Type::kS32;
  const Operand step = immediate_operand(size.bits, index.operand.type);
  return emit(body, is_signed ? "mad.wide.s32" : "mad.wide.u32", Type::kU64, {index.operand, step, from.base}, index.at,
              role);
}

int widest_access(const Address& address, Type type, const Access& how) {
  const bool wide = address.space == Space::kGlobal && runs(address.body->target, sm_100) && bytes_of(type) >= 4 &&
                    how.order.empty() && (how.cache.empty() || how.cache == ".nc");
  return wide ? 32 : 16;
}

// Lanes of the next instruction: limited by what remains, by width, and by the vector sizes of PTX.
int next_lanes(int left, Type type, int widest) {
  int lanes = 1;
  const int max = widest == 32 && bytes_of(type) == 4 ? 8 : 4;
  while (lanes * 2 <= left && lanes * 2 <= max && lanes * 2 * bytes_of(type) <= widest) lanes *= 2;
  return lanes;
}

std::string spell_access(const char* name, Space space, const Access& how, int lanes, Type type) {
  return name + how.order + "." + std::string(spell(space)) + how.cache +
         (lanes > 1 ? ".v" + std::to_string(lanes) : "") + "." + std::string(info(type).plain);
}

Operand listed(std::vector<Operand> lanes) { return lanes.size() == 1 ? lanes[0] : list_operand(std::move(lanes)); }

std::string spell_atomic(const char* name, const Address& at, std::string_view op, Type type, Order order,
                         Scope scope) {
  const Family family = info(type).family;
  const bool bitwise = op == "and" || op == "or" || op == "xor" || op == "exch" || op == "cas";
  std::string_view type_name = info(type).name;
  if (bitwise) type_name = bytes_of(type) == 8 ? "b64" : bytes_of(type) == 4 ? "b32" : "b16";
  const bool half = family == Family::kFloat && type != Type::kF32 && type != Type::kF64;
  return std::string(name) + "." + std::string(spell(order)) + "." + std::string(spell(scope)) + "." +
         std::string(spell(at.space)) + "." + std::string(op) + (half && op == "add" ? ".noftz." : ".") +
         std::string(type_name);
}

}  // namespace

std::string_view spell(Order order) { return kOrders[static_cast<int>(order)]; }
std::string_view spell(Scope scope) { return kScopes[static_cast<int>(scope)]; }

Access load_access(Cache cache) {
  return {.cache = std::string(kPolicies[static_cast<int>(cache.policy)]) + (cache.read_only ? ".nc" : "") +
                   std::string(kL1[static_cast<int>(cache.l1)]) + (cache.l2_128 ? ".L2::128B" : "")};
}

Access store_access(Cache cache) {
  return {.cache =
              std::string(kPolicies[static_cast<int>(cache.policy)]) + std::string(kL1[static_cast<int>(cache.l1)])};
}

Access ordered_access(Order order, Scope scope) {
  return {.order = "." + std::string(spell(order)) + "." + std::string(spell(scope))};
}

Access volatile_access() { return {.order = ".volatile"}; }

Operand operand_of(const Address& address) {
  return {.kind = Operand::Kind::kAddress, .index = address.base.index, .offset = address.offset};
}

Operand whole_address(const Address& address, Where at) {
  return address.offset == 0 ? address.base : add_constant(address, address.offset, at);
}
Address advance(const Address& from, const Index& index, int element_bytes) {
  Address to = from;
  if (index.body) {
    to.base = add_scaled(from, index, element_bytes);
    return to;
  }
  to.offset += index.constant * element_bytes;
  if (to.offset != static_cast<int32_t>(to.offset)) {  // an address operand has a 32-bit offset
    to.base = add_constant(from, to.offset, index.at);
    to.offset = 0;
  }
  return to;
}

Address aligned(const Address& address, int bytes, Where at) {
  Address to = address;
  if (address.offset != 0) to.base = add_constant(address, address.offset, at);
  to.base = claim(*address.body, address.base.type, to.base, {Claim::Kind::kAligned, bytes}, at);
  to.offset = 0;
  return to;
}

std::vector<Operand> load(const Address& from, Type type, int lanes, const Access& how, Where at) {
  Body& body = *from.body;
  const Type cell = in_register(type);
  const std::string role = body.registers[from.base.index].role + "_value";
  std::vector<Operand> values;
  Address here = from;
  while (static_cast<int>(values.size()) < lanes) {
    const int n = next_lanes(lanes - static_cast<int>(values.size()), type, widest_access(from, type, how));
    std::vector<Operand> results;
    for (int i = 0; i < n; ++i) results.push_back(new_register(body, cell, role, at));
    values.insert(values.end(), results.begin(), results.end());
    append(body, {.spelling = spell_access("ld", from.space, how, n, type),
                  .operands = {listed(std::move(results)), operand_of(here)},
                  .n_results = 1,
                  .at = at});
    here = advance(here, Index(n, at), bytes_of(type));
  }
  return values;
}

void store(const Address& to, Type type, const std::vector<Operand>& values, const Access& how, Where at) {
  Address here = to;
  for (size_t done = 0; done < values.size();) {
    const int n = next_lanes(static_cast<int>(values.size() - done), type, widest_access(to, type, how));
    emit(*to.body, spell_access("st", to.space, how, n, type),
         {operand_of(here), listed({values.begin() + done, values.begin() + done + n})}, at);
    here = advance(here, Index(n, at), bytes_of(type));
    done += n;
  }
}

Operand atom(const Address& at, Type type, Atomic op, const Operand& value, Order order, Scope scope, Where where) {
  const std::string spelling = spell_atomic("atom", at, kAtomics[static_cast<int>(op)], type, order, scope);
  return emit(*at.body, spelling, type, {operand_of(at), value}, where, "old");
}

void red(const Address& at, Type type, Atomic op, const Operand& value, Order order, Scope scope, Where where) {
  const std::string spelling = spell_atomic("red", at, kAtomics[static_cast<int>(op)], type, order, scope);
  emit(*at.body, spelling, {operand_of(at), value}, where);
}

Operand compare_and_swap(const Address& at, Type type, const Operand& expected, const Operand& desired, Order order,
                         Scope scope, Where where) {
  const std::string spelling = spell_atomic("atom", at, "cas", type, order, scope);
  return emit(*at.body, spelling, type, {operand_of(at), expected, desired}, where, "old");
}

}  // namespace ptx
