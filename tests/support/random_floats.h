// Random numbers for tests; equal seeds give equal numbers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace warpchat {

inline std::vector<float> normal_floats(size_t n, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(n);
  for (float& value : values) value = normal(random);
  return values;
}

// [columns, k]; one channel is 200 times as large as the others, as in real language models.
inline std::vector<float> outlier_floats(uint32_t columns, uint32_t k, uint32_t seed) {
  std::vector<float> x = normal_floats(size_t{columns} * k, seed);
  for (uint32_t c = 0; c < columns; ++c) x[size_t{c} * k + k / 3] = c % 2 ? 200.0f : -200.0f;
  return x;
}

}  // namespace warpchat
