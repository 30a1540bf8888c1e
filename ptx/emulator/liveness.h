// Liveness of registers, so that registers with disjoint lifetimes can share a column.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/emulator/code.h"

namespace ptx::emulator {

// Registers read and written by an instruction. A guarded write also reads, since other lanes keep the value.
struct Effects {
  std::vector<uint32_t> reads, writes;
};

struct Lives {
  struct Span {
    uint32_t first = UINT32_MAX, last = 0;  // instructions; first > last: never used
  };
  std::vector<Span> spans;            // by register
  std::vector<bool> maybe_undefined;  // read on some path before any write
};

// `successors[b]`: blocks after block b. Spans are exact at block boundaries and cover entire blocks in between.
Lives find_lives(const std::vector<Effects>& effects, const std::vector<BasicBlock>& blocks,
                 const std::vector<std::vector<uint32_t>>& successors, uint32_t n_registers);

}  // namespace ptx::emulator
