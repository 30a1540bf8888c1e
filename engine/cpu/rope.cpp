// The first of a pair uses -sin times its partner, the second +sin times the first.
#include "engine/cpu/rope.h"

#include <algorithm>
#include <cmath>

#include "engine/cpu/thread_pool.h"

namespace warpchat {

RopeTable::RopeTable(const Rope& rope, RopePairing pairing)
    : frequencies_(rope.frequencies), magnitude_(rope.magnitude), neox_(pairing == RopePairing::kNeox) {}

void RopeTable::prepare(ThreadPool& pool, std::span<const uint32_t> positions) {
  const uint32_t columns = static_cast<uint32_t>(positions.size());
  cosines_.resize(uint64_t{columns} * dims());
  sines_.resize(uint64_t{columns} * dims());
  constexpr uint32_t kColumnsPerTask = 16;
  pool.for_each((columns + kColumnsPerTask - 1) / kColumnsPerTask, [&](uint32_t task) {
    const uint32_t end = std::min(columns, (task + 1) * kColumnsPerTask);
    for (uint32_t column = task * kColumnsPerTask; column < end; ++column) fill(positions[column], column);
  });
}

void RopeTable::fill(uint32_t position, uint32_t column) {
  const size_t pairs = frequencies_.size();
  float *cosines = &cosines_[column * uint64_t{dims()}], *sines = &sines_[column * uint64_t{dims()}];
  for (size_t i = 0; i < pairs; ++i) {
    const size_t first = neox_ ? i : 2 * i, second = neox_ ? i + pairs : 2 * i + 1;
    const double angle = frequencies_[i] * position;
    cosines[first] = cosines[second] = static_cast<float>(std::cos(angle) * magnitude_);
    sines[second] = static_cast<float>(std::sin(angle) * magnitude_);
    sines[first] = -sines[second];
  }
}

}  // namespace warpchat
