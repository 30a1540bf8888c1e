// What bytes and instructions do not tell about a kernel's time: how its work is divided among warps, and which
// latencies its warps wait for in sequence. work_models.h has a function for each kernel; speed_model.h turns the
// numbers into seconds.
#pragma once
#include <cstdint>

namespace warpchat {

// How many latencies a warp waits for in sequence, by source. Requests in flight together count once. A read counts
// only if the next instruction needs its result; stores and timely prefetches do not count.
struct LatencyCounts {
  double host = 0;    // the host's memory
  double memory = 0;  // data that only device memory holds: weights, keys and values
  double common = 0;  // small arrays that all blocks read at about the same time: norms, biases, tables
  double l2 = 0;      // data that other blocks wrote a moment ago, and atomics
  double local = 0;   // shuffles, shared memory, barriers of the block, hits in the L1 cache
};

constexpr LatencyCounts operator+(const LatencyCounts& a, const LatencyCounts& b) {
  return {a.host + b.host, a.memory + b.memory, a.common + b.common, a.l2 + b.l2, a.local + b.local};
}
constexpr LatencyCounts operator*(double n, const LatencyCounts& counts) {
  return {n * counts.host, n * counts.memory, n * counts.common, n * counts.l2, n * counts.local};
}

// A kernel's work consists of equal pieces. Teams of `warps` warps take one piece each, in turn, as many as run at
// once.
struct WorkModel {
  uint64_t pieces = 1;
  uint32_t warps = 1;                  // per piece
  uint32_t blocks_per_sm = 1;          // resident at once, if launched by itself
  LatencyCounts launch;                // per block if launched by itself, before `start`; a phase has read it already
  LatencyCounts start;                 // per block, once, before any request of a piece
  const char* start_region = nullptr;  // region of the PTX that counts as `start`; null: none
  LatencyCounts piece;                 // from the first load of a piece to its results
  LatencyCounts end;                   // once, after the last piece
  uint64_t bytes_in_flight = 0;        // maximum that the warps of a piece have in flight
  uint64_t bytes_ahead = 0;  // prefetched for all pieces before the phase waits for the one before it; 0 for a
                             // launch of its own
};

}  // namespace warpchat
