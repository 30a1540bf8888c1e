// What bytes and instructions do not tell about a kernel's time: how its work is shared out among warps, and which
// latencies its warps wait for one after the other. work_models.h has a function for each kernel;
// speed_model.h turns the numbers into seconds.
#pragma once
#include <cstdint>

namespace warpchat {

// How many answers a warp waits for one after the other, by who gives them. Requests that are under way together count
// once. Only reads count whose result the next instruction needs; stores and prefetches that arrive in time do not.
struct LatencyCounts {
  double host = 0;    // the host's memory
  double memory = 0;  // data that only device memory holds: weights, keys and values
  double common = 0;  // small arrays of the model that all blocks read at about the same time: norms, biases, tables
  double l2 = 0;      // data that other blocks wrote a moment ago, and atomics
  double local = 0;   // shuffles, shared memory, barriers of the block, hits in the L1 cache
};

constexpr LatencyCounts operator+(const LatencyCounts& a, const LatencyCounts& b) {
  return {a.host + b.host, a.memory + b.memory, a.common + b.common, a.l2 + b.l2, a.local + b.local};
}
constexpr LatencyCounts operator*(double n, const LatencyCounts& counts) {
  return {n * counts.host, n * counts.memory, n * counts.common, n * counts.l2, n * counts.local};
}

// A kernel's work is equal pieces. Teams of `warps` warps take a piece each, in turn, as many as run at once.
struct WorkModel {
  uint64_t pieces = 1;
  uint32_t warps = 1;                  // per piece
  uint32_t blocks_per_sm = 1;          // resident at once, when the kernel is a launch of its own
  LatencyCounts launch;                // per block of a launch of its own, before `start`; a phase has read it already
  LatencyCounts start;                 // per block, once, before it asks for anything of a piece
  const char* start_region = nullptr;  // region of the PTX whose instructions belong to `start`; null: none do
  LatencyCounts piece;                 // from the first load of a piece to its results
  LatencyCounts end;                   // once, after the last piece
  uint64_t bytes_in_flight = 0;        // the most that the warps of a piece have asked memory for at once
  uint64_t bytes_ahead = 0;  // prefetched for all pieces before the phase waits for the one before it; 0 for a
                             // launch of its own
};

}  // namespace warpchat
