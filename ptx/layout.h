// Offsets of parameters in the launch's packed buffer, and the shared memory of a block.
#pragma once
#include <vector>

#include "ptx/ir.h"

namespace ptx {

struct ParameterLayout {
  std::vector<uint32_t> offsets;  // per parameter, in order; aligned to its size
  uint32_t bytes = 0;
};
ParameterLayout lay_out_parameters(const Body& body);

struct SharedLayout {
  uint64_t fixed = 0;    // bytes of the static arrays
  uint64_t dynamic = 0;  // bytes added by the launch
};
SharedLayout lay_out_shared(const Body& body);

constexpr uint64_t round_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

}  // namespace ptx
