// Registers that a thread may read before writing. The loader finds the instructions that may touch one. With the
// uninitialised check these maintain, per register, a mask of the lanes that have a value. Copies and arithmetic
// propagate undefinedness. It becomes a fault when it affects something: an address, a value stored where others can
// see it, a branch or a guard.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ptx/emulator/instruction.h"

namespace ptx::emulator {

struct TrackedInstruction {
  enum Rule : uint8_t {
    kAll,     // a result needs all sources: arithmetic
    kAny,     // one source may hide undefined parts of another: logic, packing
    kSelect,  // the selected one of two sources
    kDefined  // the result is always defined: loads, lane exchanges
  };
  enum Role : uint8_t {
    kPassed,  // to the results
    kFirst,   // the choices of a selection
    kSecond,
    kNeeded,  // needed for the instruction itself
    kStored,  // like kNeeded, unless the address is local
    kGuard    // needed in every lane that reaches it
  };
  struct Source {
    uint32_t word;     // location of its lane mask in the frame's registers
    std::string name;  // "%r5", or "%r7, computed from %r5"
    Role role;
  };
  Rule rule = kAll;
  bool has_other_source = false;  // another register, which is always defined
  std::vector<Source> sources;
  std::vector<uint32_t> results;  // words
  HandlerPair handler;            // the instruction's original handler
};

// Handlers of tracked instructions, for launches with checks.
void tracked_full(Warp& w, const Instruction& i);
void tracked_masked(Warp& w, const Instruction& i);

}  // namespace ptx::emulator
