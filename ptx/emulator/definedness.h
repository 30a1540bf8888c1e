// Registers that a thread may read before it has written them. The loader finds the instructions that may touch one;
// with the check of uninitialised values these keep, per register, a word with a bit for each lane that has a value.
// Copies and arithmetic hand undefinedness on; it is a fault where it decides something: an address, a value that
// leaves the registers for memory others see, a branch or a guard.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ptx/emulator/instruction.h"

namespace ptx::emulator {

struct TrackedInstruction {
  enum Rule : uint8_t {
    kAll,     // a result needs all sources: arithmetic
    kAny,     // one source may cover the undefined parts of another: logic, packing
    kSelect,  // the chosen one of two sources
    kDefined  // a result is there in any case: loads, exchanges between lanes
  };
  enum Role : uint8_t {
    kPassed,  // to the results
    kFirst,   // of a selection, its choices
    kSecond,
    kNeeded,  // to go on at all
    kStored,  // like kNeeded, unless the address is local
    kGuard    // needed in every lane that gets there
  };
  struct Source {
    uint32_t word;     // where its lanes are kept, in the frame's registers
    std::string name;  // "%r5", or "%r7, computed from %r5"
    Role role;
  };
  Rule rule = kAll;
  bool has_other_source = false;  // a register that always has a value
  std::vector<Source> sources;
  std::vector<uint32_t> results;  // words
  HandlerPair handler;            // what the instruction does
};

// Handlers of tracked instructions, for launches with checks.
void tracked_full(Warp& w, const Instruction& i);
void tracked_masked(Warp& w, const Instruction& i);

}  // namespace ptx::emulator
