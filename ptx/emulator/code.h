// A loaded module: functions as decoded instructions in basic blocks, and everything a launch needs.
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
  // The terminator is at end if has_terminator; else end is the next block's first instruction.
  uint32_t begin = 0, end = 0;
  uint32_t order = 0;  // reverse post-order number
  bool has_terminator = false;
};

// A branch whose lanes reconverge soon: two straight-line paths on which no lane waits for others.
struct Fork {
  std::vector<uint32_t> ways[2];  // paths, as blocks: of the lanes that fall through, and of those that branch
  uint32_t join = 0;              // instruction of reconvergence
};

struct Parameter {
  std::string name;
  uint32_t offset = 0, bytes = 0, align = 1;
};

// Columns filled when a frame is entered.
struct SpecialColumn {
  Special value;
  uint32_t offset;  // the column's
  uint32_t bytes;   // 4 or 8 per lane; 0 for a predicate
  uint64_t addend;
};

// A function of the device's built-in library, defined in no text; null if unknown.
const std::string* builtin_named(std::string_view name);

struct CallSite {
  const Code* callee = nullptr;               // null: indirect, through a register
  const std::string* builtin = nullptr;       // vprintf and similar
  std::vector<Parameter> arguments, results;  // in the caller's frame
  uint32_t target = kNoColumn;                // column of the register, for an indirect call
};

// One function in one handler set.
struct Code {
  std::string name;
  bool is_entry = false;
  std::vector<Instruction> instructions;
  std::vector<HandlerPair> inner;                  // what guarded instructions run under their guard
  std::vector<Instruction> observed_instructions;  // as `instructions`, but memory operations report to the checks
  std::vector<HandlerPair> observed_inner;
  std::vector<TrackedInstruction> tracked;         // by tracked_of - 1: may touch undefined registers
  std::vector<uint32_t> tracked_of;                // by instruction, 0 for none; empty if there are none at all
  uint32_t defined_offset = 0, defined_bytes = 0;  // their lane masks in the frame's registers, zero on entry
  std::vector<uint32_t> unread_elements;           // per load: bit mask of elements whose registers are never read
  std::vector<uint32_t> operands;
  std::vector<LoadGroup> load_groups;
  std::vector<GroupedLoad> grouped_loads;
  std::vector<Position> positions;
  std::vector<std::string> spellings;  // "ld.global.u32", for messages
  std::vector<std::string> tags;       // region of each instruction; empty if none
  std::vector<BasicBlock> blocks;
  std::vector<uint32_t> block_of;  // by instruction
  std::vector<Fork> forks;
  std::vector<uint32_t> fork_of;   // by block: 1 + index of the fork at its end, or 0
  std::vector<uint8_t> constants;  // initial columns of every frame
  std::vector<SpecialColumn> specials;
  std::vector<CallSite> calls;
  std::vector<std::vector<uint32_t>> jump_tables;
  uint32_t register_bytes = 0;
  uint32_t frame_bytes = 0;     // local memory: parameters, .local and call arguments
  uint32_t shared_bytes = 0;    // static shared memory
  uint32_t dynamic_align = 16;  // of extern shared arrays, which follow static ones
  std::vector<Parameter> parameters, results;
  uint32_t parameter_bytes = 0;
  uint32_t max_threads = 0, required_threads[3] = {0, 0, 0}, min_blocks = 0;
  uint32_t register_count = 0;  // rough estimate of a real device's count
  uint64_t address = 0;         // its address as a function pointer
};

struct GlobalVariable {
  std::string name;
  uint64_t address = 0, bytes = 0;
  bool is_constant = false;
};

class Module {
 public:
  // Parses and decodes; allocates global variables in `memory` and initialises them. Throws LoadError.
  Module(std::string_view text, const Profile& profile, Memory& memory, InstructionSet set = best_instruction_set());
  // The same for several separately compiled texts: an .extern in one can be defined in another.
  Module(const std::vector<LinkInput>& inputs, const Profile& profile, Memory& memory,
         InstructionSet set = best_instruction_set());
  ~Module();
  Module(const Module&) = delete;

  // Checks a single link input, leaving its .extern names unresolved. Throws LoadError.
  static void check_input(std::string_view text, const Profile& profile, Memory& memory);

  const Code* find_function(std::string_view name) const;  // entries only; null if unknown
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
  uint64_t used_specials_ = 0;  // bit mask of the specials that any function reads
};

}  // namespace ptx::emulator
