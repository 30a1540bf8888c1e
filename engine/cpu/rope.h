// Rotary position embedding tables, computed in double once per pass.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "models/model_config.h"

namespace warpchat {

class ThreadPool;

class RopeTable {
 public:
  RopeTable(const Rope& rope, RopePairing pairing);

  // Computes the table for a pass's positions.
  void prepare(ThreadPool& pool, std::span<const uint32_t> positions);

  // [rope_dims], times the model's magnitude, in NormAndRopeHeads's order and with its signs.
  const float* cosines(uint32_t column) const { return &cosines_[column * dims()]; }
  const float* sines(uint32_t column) const { return &sines_[column * dims()]; }
  bool neox() const { return neox_; }
  uint32_t dims() const { return 2 * static_cast<uint32_t>(frequencies_.size()); }

 private:
  void fill(uint32_t position, uint32_t column);

  std::vector<double> frequencies_;  // [rope_dims / 2], radians per position
  double magnitude_;
  bool neox_;
  std::vector<float> cosines_, sines_;  // [columns, rope_dims]
};

}  // namespace warpchat
