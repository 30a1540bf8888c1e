// What the tests of the CPU's kernels share: random matrices in any format, inputs with an outlier channel, and the
// instruction sets of this machine.
#pragma once
#include <cmath>
#include <cstddef>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "engine/cpu/simd_level.h"
#include "models/dequantise.h"
#include "models/quantise.h"
#include "models/tensor_type.h"

namespace warpchat {

inline std::vector<float> normal_floats(size_t n, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(n);
  for (float& v : values) v = normal(random);
  return values;
}

// [columns, k]; one channel is 200 times as large as the others, as in real language models.
inline std::vector<float> outlier_floats(uint32_t columns, uint32_t k, uint32_t seed) {
  std::vector<float> x = normal_floats(size_t{columns} * k, seed);
  for (uint32_t c = 0; c < columns; ++c) x[size_t{c} * k + k / 3] = c % 2 ? 200.0f : -200.0f;
  return x;
}

struct RandomMatrix {
  TensorInfo tensor;
  std::vector<std::byte> data;
  std::vector<double> weights;  // [rows, k], exactly what data means

  RandomMatrix(TensorType type, uint32_t rows, uint32_t k, uint32_t seed) {
    const std::vector<float> values = normal_floats(size_t{rows} * k, seed);
    weights.resize(values.size());
    for (uint32_t row = 0; row < rows; ++row) {
      const std::vector<std::byte> bytes = quantise_row(type, std::span(values).subspan(size_t{row} * k, k));
      dequantise_row(type, bytes, std::span(weights).subspan(size_t{row} * k, k));
      data.insert(data.end(), bytes.begin(), bytes.end());
    }
    tensor = {"random", type, {k, rows, 1, 1}, 2, data};
  }
  RandomMatrix(const RandomMatrix&) = delete;
};

// |got - ref| / |ref|
inline double relative_error(std::span<const float> got, std::span<const double> ref) {
  double error = 0, norm = 0;
  for (size_t i = 0; i < ref.size(); ++i) {
    error += (got[i] - ref[i]) * (got[i] - ref[i]);
    norm += ref[i] * ref[i];
  }
  return std::sqrt(error / norm);
}

inline std::vector<std::string> instruction_sets() {
  std::vector<std::string> names;
  for (const CpuKernels* kernels : usable_kernels()) names.emplace_back(kernels->name);
  return names;
}

}  // namespace warpchat
