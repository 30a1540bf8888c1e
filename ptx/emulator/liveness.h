// Which registers are live where, so that registers whose lives do not overlap can share a column.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/emulator/code.h"

namespace ptx::emulator {

// What one instruction reads and writes, as register numbers. A guarded write also reads: other lanes keep the value.
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

// `successors[b]` are the blocks after block b. Spans are exact at block borders and cover whole blocks between.
Lives find_lives(const std::vector<Effects>& effects, const std::vector<BasicBlock>& blocks,
                 const std::vector<std::vector<uint32_t>>& successors, uint32_t n_registers);

}  // namespace ptx::emulator
