// Counts per instruction of one executor, later summed into classes and tags.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/emulator/code.h"
#include "ptx/emulator/counters.h"
#include "ptx/emulator/instruction.h"

namespace ptx::emulator {

class ExecutionCounts {
 public:
  void ran(const Code& code, uint32_t first, uint32_t count, uint32_t n_lanes);  // consecutive instructions of one warp
  void diverged(const Code& code, uint32_t at) { of(code)[at].divergent++; }
  void access(const Code& code, const Instruction& i, AccessKind kind, uint32_t space, uint32_t lanes, uint32_t bytes,
              const uint64_t* addresses);
  void add_to(Counters& counters) const;

 private:
  struct PerInstruction {
    uint64_t runs = 0, lanes = 0, divergent = 0;
    uint64_t requests = 0, sectors = 0, bytes = 0;
    uint64_t shared_requests = 0, replays = 0;
    AccessKind kind = AccessKind::kLoad;
  };
  struct PerCode {
    const Code* code;
    std::vector<PerInstruction> counts;
  };
  std::vector<PerInstruction>& of(const Code& code);
  static Counts counts_of(const Code& code, uint32_t k, const PerInstruction& p);

  std::vector<PerCode> codes_;  // in order of their first instruction
  size_t recent_ = 0;
};

}  // namespace ptx::emulator
