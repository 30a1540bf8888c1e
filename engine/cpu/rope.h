// Rotary position embedding: angles in double, one table a pass, applied to heads in place.
#pragma once
#include <cstdint>
#include <vector>

#include "models/model_config.h"

namespace warpchat {

class ThreadPool;

class RopeTable {
 public:
  explicit RopeTable(const ModelConfig& config);

  // cos and sin of `columns` consecutive positions from `position`, times the model's magnitude.
  void prepare(ThreadPool& pool, uint32_t position, uint32_t columns);

  // head: [head_dim]; rotates its first rope_dims values by the angles of the pass's column.
  void rotate(uint32_t column, float* head) const;

 private:
  std::vector<double> frequencies_;  // [rope_dims / 2], radians a position
  double magnitude_;
  RopePairing pairing_;
  std::vector<float> cosines_, sines_;  // [columns, rope_dims / 2]
};

}  // namespace warpchat
