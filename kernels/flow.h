// What bytes and instructions do not say of a kernel's time: how its work is dealt out, and what its warps wait for one
// thing after the other. Each family states it beside its generator, by the constants that its text follows from, so
// that who changes the one changes the other; engine/gpu/speed_model.h makes seconds of it.
#pragma once
#include <cstdint>

namespace warpchat {

// Things that are waited for one after the other, by who answers; those asked for together count once. Reads that the
// next instruction waits for; stores and what comes in time not at all.
struct Waits {
  double host = 0;    // memory of the host
  double memory = 0;  // what only device memory has: weights, keys and values
  double common = 0;  // small arrays of the model that all blocks read at about the same time: norms, biases, tables
  double l2 = 0;      // what other blocks wrote a moment ago, and atomics
  double local = 0;   // shuffles, shared memory, barriers of the block, hits of the first-level cache
};

constexpr Waits operator+(const Waits& a, const Waits& b) {
  return {a.host + b.host, a.memory + b.memory, a.common + b.common, a.l2 + b.l2, a.local + b.local};
}
constexpr Waits operator*(double n, const Waits& w) {
  return {n * w.host, n * w.memory, n * w.common, n * w.l2, n * w.local};
}

// The way of a kernel's work: equal pieces, each by some warps together, dealt out in turn to as many teams of warps as
// run at once.
struct Flow {
  uint64_t pieces = 1;
  uint32_t warps = 1;                  // of a piece
  uint32_t blocks_per_sm = 1;          // that a processor holds at once, of a launch of its own
  Waits launch;                        // of a block of a launch of its own, before the start; else it was read in time
  Waits start;                         // of a block, once, before it asks for anything of a piece
  const char* start_region = nullptr;  // the region of the text that does that; its instructions are the start's
  Waits piece;                         // from its first load to its results
  Waits end;                           // once, behind the last piece
  uint64_t bytes_in_flight = 0;        // of memory, that the warps of a piece have asked for at once, at most
  uint64_t bytes_ahead = 0;  // of all pieces, asked for before the phase waits for the one before it, and kept; of a
                             // launch of its own none
};

}  // namespace warpchat
