// Lowers a parsed function to decoded instructions: checks operands against the form, resolves names to columns and
// labels to instruction indices. One method per Lowering kind, in lower_*.cpp by subject.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "ptx/emulator/code.h"
#include "ptx/emulator/forms.h"
#include "ptx/emulator/liveness.h"

namespace ptx::emulator {

struct MatrixShape;

// Locations of module-scope names.
struct ModuleLayout {
  const Registry* registry = nullptr;
  Dialect dialect;
  std::unordered_map<const Variable*, uint64_t> addresses;  // .global .const: device address; .shared: window offset
  std::unordered_map<const SyntaxFunction*, Code*> functions;
  std::unordered_map<const SyntaxFunction*, uint32_t> shared_bytes;  // static, per entry
};

const Operand& only_element(const Operand& o);  // the %r1 of { %r1 }; returns other operands unchanged

using ColumnId = uint32_t;  // before columns have offsets; kNoColumn: none

constexpr uint32_t kNoGroup = ~0u;

struct Draft {
  Instruction code{};          // d a b c e hold ColumnIds
  std::vector<ColumnId> list;  // further operands
  uint32_t list_defs = 0;      // the first list_defs are written
  bool writes_d = true, writes_e = false, reads_e = false;
  HandlerPair handler, observed;
  uint32_t loaded_bytes = 0;  // per element of a load
  bool extends_sign = false;  // load: sign-extends to its register's width
  uint32_t group = kNoGroup;  // load: index in Code::load_groups
  bool leads_group = false;   // load: fetches for its group
  Position at;
  std::string spelling, tag;
  ColumnId guard = kNoColumn;
  int64_t target_statement = -1;
};

struct ColumnInfo {
  enum Kind : uint8_t { kRegister, kConstant, kSpecial } kind = kRegister;
  uint32_t bytes = 4;  // per lane; 0 for a predicate
  uint64_t value = 0;  // of a constant; added to a special
  Special special = Special::zero;
  uint32_t offset = 0;
};

class FunctionLoader {
 public:
  FunctionLoader(const SyntaxFunction& function, ModuleLayout& layout, Code& code);
  void load(std::vector<ParseProblem>& problems);

 private:
  // columns
  ColumnId column_of(uint32_t reg) const { return reg; }
  ColumnId constant(uint64_t value, uint32_t bytes);
  ColumnId special(Special value, uint32_t bytes, uint64_t addend = 0);
  ColumnId temporary(uint32_t bytes);
  ColumnId source(const Operand& operand, Type wanted);
  uint64_t immediate_bits(const Operand& operand, Type wanted) const;
  Type type_of(const Operand& reg) const { return function_.registers[reg.index].type; }
  uint32_t width_of(const Operand& reg) const;  // bytes of the register's column

  // checks
  void check_operands(const Statement& s, const Match& m) const;
  bool operands_fit(const Statement& s, const Match& m, std::string& complaint) const;
  bool fits(const Operand& o, const OperandPattern& p, const Match& m, std::string& complaint) const;
  bool fits_value(const Operand& o, const OperandPattern& p, Type wanted, std::string& complaint) const;
  bool fits_vector(const Operand& o, const OperandPattern& p, Type wanted, const Match& m,
                   std::string& complaint) const;
  Type wanted_type(const OperandPattern& p, const Match& m) const;
  std::string describe(const Operand& o) const;

  bool is_plain(const Operand& o, std::string& complaint) const;
  void check_plain(const Statement& s, size_t index) const;
  enum class Pair : uint8_t { kNo, kMay, kMust };  // whether a predicate follows a result: d|p
  void check_exchange_result(const Statement& s, bool may_discard, Pair pair) const;

  // statements
  void lower(const Statement& s);
  void lower_as(const Statement& s, const Match& m);
  Draft& emit(const std::string& handler);
  Draft& emit_control(Control control);
  HandlerPair handler(const std::string& name) const;
  ColumnId predicate_source(const Operand& p, bool& negated);
  void guard_by_branch(const Statement& s);

  void lower_simple(const Statement& s, const Match& m);
  void lower_real_pair(const Statement& s, const Match& m);
  void lower_mixed_real(const Statement& s, const Match& m);
  void lower_carry(const Statement& s, const Match& m);
  void lower_move(const Statement& s, const Match& m);
  void lower_pack(const Statement& s, Type type);
  void lower_unpack(const Statement& s, Type type);
  void lower_address_of(const Statement& s, Type type);
  ColumnId address_of(const Operand& variable, uint32_t bytes);
  ColumnId with_subscript(const Operand& element, ColumnId start, uint32_t bytes);
  void check_predicate_results(const Statement& s) const;
  void lower_setp(const Statement& s, const Match& m);
  void lower_setp_pair(const Statement& s, const Match& m);
  void lower_set(const Statement& s, const Match& m);
  void lower_select(const Statement& s, const Match& m);
  void lower_lop3(const Statement& s, const Match& m);
  void lower_predicate_logic(const Statement& s, const Match& m);
  void lower_convert(const Statement& s, const Match& m);
  void check_convert(const Statement& s, const Match& m) const;
  void lower_convert_integer(const Statement& s, const Match& m, ColumnId from, uint32_t from_bytes);
  void lower_convert_pack(const Statement& s, const Match& m);
  void lower_video(const Statement& s, const Match& m);
  void check_video_operands(const Statement& s, const std::string& what, bool takes_numbers) const;

  void lower_load(const Statement& s, const Match& m);
  void lower_store(const Statement& s, const Match& m);
  void lower_atomic(const Statement& s, const Match& m, bool returns);
  void lower_cvta(const Statement& s, const Match& m);
  void lower_policy(const Statement& s, const Match& m);
  void lower_cluster(const Statement& s, const Match& m);
  void lower_store_async(const Statement& s, const Match& m);
  void lower_isspacep(const Statement& s, const Match& m);
  void lower_fence(const Statement& s, const Match& m);
  void lower_mbarrier(const Statement& s, const Match& m);
  void lower_async_copy(const Statement& s, const Match& m);
  void lower_bulk_copy(const Statement& s, const Match& m);
  void lower_prefetch(const Statement& s, const Match& m);
  struct Place {
    Space space;
    ColumnId base = kNoColumn, frame = kNoColumn;
    int64_t offset = 0;
    uint32_t flags = 0;
  };
  Place place_of(const Operand& address, Space space, Position at);
  void lower_vector_atomic(const Statement& s, const Match& m, const Place& place, bool returns);
  void set_place(Draft& draft, const Place& place);
  void load_part(const Match& m, const Place& place, const Operand& data, uint32_t bytes);
  Space space_of(const Statement& s, const Match& m) const;
  uint32_t semantics_of(const Match& m) const;
  void set_elements(Draft& draft, const Operand& data, Type type, uint32_t bytes, bool loads);

  void lower_barrier(const Statement& s, const Match& m);
  void lower_branch(const Statement& s);
  void lower_indexed(const Statement& s);
  void lower_call(const Statement& s);
  void read_call(const Statement& s, CallSite& site, const Operand*& arguments, const Operand*& results);
  std::vector<Parameter> pass(const Operand* list, const std::vector<Parameter>& formal, bool results,
                              std::vector<std::pair<ColumnId, Parameter>>& registers);
  void move_register(ColumnId reg, const Parameter& slot, bool loads);
  void enter_function();
  void store_register_results();
  void lower_stack(const Statement& s, const Match& m);
  void lower_shuffle(const Statement& s, const Match& m);
  void lower_warp(const Statement& s, const Match& m);
  void lower_quad_pair_product(const Statement& s, const Match& m);
  void emit_product(const char* name, const Statement& s, const MatrixShape& shape, const uint32_t (&counts)[4]);
  void check_one_type(const Statement& s, const Operand& fragment) const;
  void lower_matrix(const Statement& s, const Match& m);
  void lower_matrix_load(const Statement& s, const Match& m);
  void lower_wmma_memory(const Statement& s, const Match& m);
  std::vector<ColumnId> vector_columns(const Operand& o, Type type, size_t count, const char* what);

  // layout
  void place_variables();
  void finish();
  void place_columns(const std::vector<std::vector<uint32_t>>& successors);
  uint32_t estimated_registers() const;
  uint32_t place_registers(uint32_t offset, const std::vector<std::vector<uint32_t>>& successors);
  bool may_group(const Draft& draft) const;
  void group_loads();
  bool add_group(const std::vector<uint32_t>& loads, int64_t begin, int64_t end, uint32_t slot);
  void add_group_effects(std::vector<Effects>& effects) const;
  void finish_groups();
  Effects effects_of(const Draft& draft, bool guarded_writes_read) const;
  void make_observed();
  void track_definedness();
  std::vector<std::pair<ColumnId, TrackedInstruction::Role>> roles_of(const Draft& draft,
                                                                      const std::string& spelling) const;
  void fill_instruction(Instruction& i, const Draft& draft);
  void declare_parameters();

  const SyntaxFunction& function_;
  ModuleLayout& layout_;
  Code& code_;
  const Statement* statement_ = nullptr;
  Statement unguarded_;  // copy of the current statement if a branch implements its guard
  std::vector<ColumnInfo> columns_;
  std::map<std::pair<uint64_t, uint32_t>, ColumnId> constants_;
  std::map<std::tuple<Special, uint32_t, uint64_t>, ColumnId> specials_;
  std::unordered_map<const Variable*, uint64_t> frame_;  // offsets of .local and .param
  std::vector<Draft> drafts_;
  std::vector<bool> maybe_undefined_;  // by column: some path reads it before any write
  std::vector<uint32_t> first_draft_;  // by statement
  ColumnId carry_ = kNoColumn;
  ColumnId stack_top_ = kNoColumn;  // bytes allocated by alloca, u32; in functions that use it
  uint32_t stack_offset_ = 0;       // of alloca's memory in the frame
};

// Flags of memory instructions, shared with handlers/pointers.h and the checks.
namespace access {
constexpr uint32_t kAddress32 = 1, kAddressNone = 2, kPolls = 4, kFrameRelative = 8;
constexpr uint32_t kOrderShift = 4;                 // 3 bits: Order
constexpr uint32_t kScopeShift = 7;                 // 2 bits: Scope
constexpr uint32_t kReadOnly = 1u << 9;             // ld.global.nc
constexpr uint32_t kSpaceShift = 10;                // 3 bits: Space as written
constexpr uint32_t kFreeShift = 16;                 // specific to the instruction
constexpr uint32_t kReturnsOld = 1u << kFreeShift;  // vector atomic: the list starts with destinations
enum Order : uint32_t { kWeak, kVolatile, kRelaxed, kAcquire, kRelease, kAcqRel, kSc };
enum Scope : uint32_t { kCta, kCluster, kGpu, kSys };
}  // namespace access

}  // namespace ptx::emulator
