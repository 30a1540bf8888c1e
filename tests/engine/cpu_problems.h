// Shared by tests of the CPU kernels: random matrices in any format, inputs with an outlier channel, and this machine's
// instruction sets.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <list>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/cpu/simd_level.h"
#include "models/dequantise.h"
#include "models/tensor_type.h"
#include "tests/support/gguf/quantise.h"
#include "tests/support/random_floats.h"

namespace warpchat {

struct RandomMatrix {
  TensorInfo tensor;
  std::vector<std::byte> data;
  std::vector<double> weights;  // [rows, k], the exact values of data

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

// Cached, because quantising takes longer than multiplying and every instruction set uses the same matrix. Valid until
// four others have been requested.
inline const RandomMatrix& random_matrix(TensorType type, uint32_t rows, uint32_t k, uint32_t seed) {
  using Asked = std::tuple<TensorType, uint32_t, uint32_t, uint32_t>;
  static std::list<std::pair<Asked, RandomMatrix>> known;  // the newest first
  const Asked asked{type, rows, k, seed};
  const auto found = std::ranges::find(known, asked, [](const auto& one) { return one.first; });
  if (found != known.end()) return found->second;
  if (known.size() == 4) known.pop_back();
  return known.emplace_front(std::piecewise_construct, std::tuple(asked), asked).second;
}

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

#if defined(__x86_64__)
const WideKernels& emulated_amx_kernels();
const CpuKernels& avxvnni_as_avx512_kernels();
#endif

// This machine's kernels. With AVX-512 also AMX with emulated tiles, and the AVX-VNNI kernels with AVX-512's encoding
// of their instruction.
inline std::vector<const CpuKernels*> product_kernels() {
  std::vector<const CpuKernels*> all = usable_kernels();
#if defined(__x86_64__)
  for (const CpuKernels* kernels : usable_kernels())
    if (kernels == &avx512_kernels()) {
      static const CpuKernels emulated = with_wide(*kernels, emulated_amx_kernels(), "emulated_amx", "AMX, emulated");
      all.push_back(&emulated);
      all.push_back(&avxvnni_as_avx512_kernels());
    }
#endif
  return all;
}

}  // namespace warpchat
