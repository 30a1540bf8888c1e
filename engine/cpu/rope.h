// Rotary position embedding tables, computed in double once per pass.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/cpu/thread_pool.h"
#include "models/model_config.h"

namespace warpchat {

class RopeTable {
 public:
  RopeTable(const Rope& rope, RopePairing pairing)
      : frequencies_(rope.frequencies), magnitude_(rope.magnitude), neox_(pairing == RopePairing::kNeox) {}

  // Computes the table for a pass's positions.
  void prepare(ThreadPool& pool, std::span<const uint32_t> positions) {
    const uint32_t columns = static_cast<uint32_t>(positions.size());
    cosines_.resize(uint64_t{columns} * dims());
    sines_.resize(uint64_t{columns} * dims());
    constexpr uint32_t kColumnsPerTask = 16;
    pool.for_each((columns + kColumnsPerTask - 1) / kColumnsPerTask, [&](uint32_t task) {
      const uint32_t end = std::min(columns, (task + 1) * kColumnsPerTask);
      for (uint32_t column = task * kColumnsPerTask; column < end; ++column) fill(positions[column], column);
    });
  }

  // [rope_dims], times the model's magnitude, in NormAndRopeHeads's order and with its signs.
  const float* cosines(uint32_t column) const { return &cosines_[column * dims()]; }
  const float* sines(uint32_t column) const { return &sines_[column * dims()]; }
  bool neox() const { return neox_; }
  uint32_t dims() const { return 2 * static_cast<uint32_t>(frequencies_.size()); }

 private:
  // The first of a pair uses -sin times its partner, the second +sin times the first.
  void fill(uint32_t position, uint32_t column) {
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

  std::vector<double> frequencies_;  // [rope_dims / 2], radians per position
  double magnitude_;
  bool neox_;
  std::vector<float> cosines_, sines_;  // [columns, rope_dims]
};

}  // namespace warpchat
