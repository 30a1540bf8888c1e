// For handlers compiled once, for any machine: lanes, predicates, addresses.
#pragma once

#define EMULATOR_ISA common
#include "ptx/emulator/handlers/lanes.h"
#include "ptx/emulator/handlers/pointers.h"

namespace ptx::emulator::common {

inline void set_predicate(Warp& w, uint32_t where, uint32_t bits, uint32_t lanes) {
  uint32_t& d = predicate(w, where);
  d = (d & ~lanes) | (bits & lanes);
}

template <class T>
void write(Warp& w, uint32_t where, const T* values, uint32_t lanes) {
  T* d = column<T>(w, where);
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (lanes >> l & 1) d[l] = values[l];
  }
}

// Registers one function of (warp, instruction, lanes) for both handlers.
template <class F>
void add(Registry& r, const char* name, const char* suffix, F, uint32_t flags = 0) {
  static const auto full = [](Warp& w, const Instruction& i) { F{}(w, i, kAllLanes); };
  static const auto masked = [](Warp& w, const Instruction& i) { F{}(w, i, w.active); };
  add_handler(r, name, suffix, full, masked, flags);
}

// Resolves pointers of an access whose space is only known at run time (the loader's Place, in the flags).
void resolve(Warp& w, const Instruction& i, uint32_t space, uint32_t lanes, uint32_t bytes, const uint64_t* addresses,
             uint8_t** pointers);

}  // namespace ptx::emulator::common
