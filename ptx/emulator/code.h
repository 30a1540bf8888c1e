// A loaded module: functions as decoded instructions in basic blocks, and what a launch needs to know of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/emulator/definedness.h"
#include "ptx/emulator/instruction.h"
#include "ptx/emulator/link_input.h"
#include "ptx/emulator/profile.h"
#include "ptx/emulator/registry.h"
#include "ptx/emulator/special_registers.h"
#include "ptx/emulator/syntax_tree.h"

namespace ptx::emulator {

class Memory;
struct Code;

struct BasicBlock {
  uint32_t begin = 0, end = 0;  // the terminator is at end if has_terminator, else the next block's first instruction
  uint32_t order = 0;           // reverse post-order number
  bool has_terminator = false;
};

// A branch whose lanes soon meet again: two ways, each straight from block to block, neither waiting for other lanes.
struct Fork {
  std::vector<uint32_t> ways[2];  // blocks: of the lanes that fall through, of those that branch
  uint32_t join = 0;              // instruction where they meet
};

struct Parameter {
  std::string name;
  uint32_t offset = 0, bytes = 0, align = 1;
};

// Columns that a frame fills when it is entered.
struct SpecialColumn {
  Special value;
  uint32_t offset;  // of the column
  uint32_t bytes;   // 4 or 8 per lane; 0 for a predicate
  uint64_t addend;
};

// The function of the device's own library, which no text defines; null if there is none of the name.
const std::string* builtin_named(std::string_view name);

struct CallSite {
  const Code* callee = nullptr;               // null: through a register
  const std::string* builtin = nullptr;       // vprintf and its like
  std::vector<Parameter> arguments, results;  // in the caller's frame
  uint32_t target = kNoColumn;                // the register's column
};

// One function in one handler set.
struct Code {
  std::string name;
  bool is_entry = false;
  std::vector<Instruction> instructions;
  std::vector<HandlerPair> inner;                  // of guarded instructions: what runs under the guard
  std::vector<Instruction> observed_instructions;  // the same, but memory operations report to checks
  std::vector<HandlerPair> observed_inner;
  std::vector<TrackedInstruction> tracked;         // by tracked_of - 1: what may touch registers nobody has written
  std::vector<uint32_t> tracked_of;                // by instruction, 0 for none; empty if all are
  uint32_t defined_offset = 0, defined_bytes = 0;  // of their words in the frame's registers, 0 when it is entered
  std::vector<uint32_t> unread_elements;           // of a load: elements whose register nothing reads, a bit each
  std::vector<uint32_t> operands;
  std::vector<LoadGroup> load_groups;
  std::vector<GroupedLoad> grouped_loads;
  std::vector<Position> positions;
  std::vector<std::string> spellings;  // "ld.global.u32", for messages
  std::vector<std::string> tags;       // region of each instruction, empty where there is none
  std::vector<BasicBlock> blocks;
  std::vector<uint32_t> block_of;  // by instruction
  std::vector<Fork> forks;
  std::vector<uint32_t> fork_of;   // by block: 1 + the index of the fork that it ends in, 0 for none
  std::vector<uint8_t> constants;  // the first columns of every frame
  std::vector<SpecialColumn> specials;
  std::vector<CallSite> calls;
  std::vector<std::vector<uint32_t>> jump_tables;
  uint32_t register_bytes = 0;
  uint32_t frame_bytes = 0;     // local memory: parameters, .local and call arguments
  uint32_t shared_bytes = 0;    // static
  uint32_t dynamic_align = 16;  // of extern shared arrays, which follow the static ones
  std::vector<Parameter> parameters, results;
  uint32_t parameter_bytes = 0;
  uint32_t max_threads = 0, required_threads[3] = {0, 0, 0}, min_blocks = 0;
  uint32_t register_count = 0;  // what a device would report, roughly
  uint64_t address = 0;         // what taking its address gives
};

struct GlobalVariable {
  std::string name;
  uint64_t address = 0, bytes = 0;
  bool is_constant = false;
};

class Module {
 public:
  // Parses and decodes; global variables are allocated in `memory` and initialised. Throws LoadError.
  Module(std::string_view text, const Profile& profile, Memory& memory, InstructionSet set = best_instruction_set());
  // The same of several texts that were compiled apart: what one declares .extern, another defines.
  Module(const std::vector<LinkInput>& inputs, const Profile& profile, Memory& memory,
         InstructionSet set = best_instruction_set());
  ~Module();
  Module(const Module&) = delete;

  // One input of a link by itself, whatever its .extern names will stand for. Throws LoadError.
  static void check_input(std::string_view text, const Profile& profile, Memory& memory);

  const Code* find_function(std::string_view name) const;  // entries only; null if there is none
  const GlobalVariable* find_global(std::string_view name) const;
  const Code* function_at(uint64_t address) const;
  std::vector<const Code*> entries() const;
  const std::vector<GlobalVariable>& globals() const { return globals_; }
  uint32_t ptx_version() const { return version_; }  // 10 * major + minor
  uint32_t ptx_target() const { return target_; }
  bool uses(Special value) const { return used_specials_ >> static_cast<uint32_t>(value) & 1; }

 private:
  friend class Loader;
  explicit Module(Memory& memory) : memory_(memory) {}
  Memory& memory_;
  std::vector<std::unique_ptr<Code>> functions_;
  std::vector<GlobalVariable> globals_;
  std::vector<uint64_t> allocations_;
  uint32_t version_ = 0, target_ = 0;
  uint64_t used_specials_ = 0;  // a bit per Special that some function reads
};

}  // namespace ptx::emulator
