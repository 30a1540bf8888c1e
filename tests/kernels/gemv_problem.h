// Random products that stress the kernels, and their results in double.
#pragma once
#include <cmath>
#include <optional>
#include <random>
#include <vector>

#include "kernels/matmul/f16_activations.h"
#include "kernels/matmul/gemv.h"
#include "kernels/matmul/gemv_plan.h"
#include "kernels/matmul/int_activations.h"
#include "kernels/matmul/weight_layout.h"
#include "models/dequantise.h"
#include "tests/kernels/emulated_kernel.h"
#include "tests/support/gguf/quantise.h"
#include "tests/support/random_floats.h"

namespace warpchat {

struct PackedWeights {
  std::vector<std::byte> bytes;  // packed
  std::vector<double> values;    // [rows, k], the exact values of the bytes

  PackedWeights(TensorType type, uint32_t rows, uint32_t k, uint32_t seed)
      : bytes(rows * packed_bytes_per_row(type, k)), values(size_t{rows} * k) {
    const std::vector<float> random = normal_floats(values.size(), seed);
    const size_t packed_row = packed_bytes_per_row(type, k);
    for (size_t row = 0; row < rows; ++row) {
      const std::vector<std::byte> blocks = quantise_row(type, std::span(random).subspan(row * k, k));
      dequantise_row(type, blocks, std::span(values).subspan(row * k, k));
      pack_rows(type, k, 1, blocks, std::span(bytes).subspan(row * packed_row, packed_row));
    }
  }
};

// Input of a tensor-core product in f16: x [n_columns, k], normalised by gamma unless gamma is null.
struct F16Activations {
  uint16_t* halves;
  float* factors;
};
inline F16Activations made_f16_activations(GuardedDevice& device, ptx::Target target, const float* x,
                                           const float* gamma, float eps, uint32_t k, uint32_t n_columns,
                                           const ptx::emulator::LaunchOptions& options) {
  const F16Activations made{device.poisoned<uint16_t>(n_columns * f16_activation_size(k)),
                            device.poisoned<float>(n_columns)};
  const ptx::Kernel kernel = f16_activations({eps, k % 4 == 0}, target);
  EXPECT_EQ(device.run_as(options, kernel, {n_columns}, x, gamma, made.halves, made.factors, k), "");
  return made;
}

// Input of a product of several columns of quantised weights: x as integers, normalised like F16Activations.
struct IntActivations {
  uint32_t* integers;
  float* factors;
};
inline IntActivations made_integers(GuardedDevice& device, ptx::Target target, const float* x, const float* gamma,
                                    float eps, uint32_t k, uint32_t n_columns,
                                    const ptx::emulator::LaunchOptions& options) {
  const uint32_t n_blocks = int_activation_blocks(n_columns);
  const IntActivations made{device.poisoned<uint32_t>(int_activations_words(k, n_columns)),
                            device.poisoned<float>(n_blocks)};
  const ptx::Kernel kernel = int_activations({eps}, target);
  EXPECT_EQ(device.run_as(options, kernel, {n_blocks}, x, gamma, made.integers, made.factors, k, n_columns), "");
  return made;
}

// Scratch memory of a split-K product; the arrival counters come first.
struct SplitKScratch {
  uint64_t n_bytes = 0, arrivals_bytes = 0;
};

struct GemvProblem {
  GemvSpec spec;
  PackedWeights weights;
  std::optional<PackedWeights> up;
  std::vector<float> x, gamma, bias, y;  // y: initial contents

  explicit GemvProblem(const GemvSpec& s, uint32_t seed = 1)
      : spec(s),
        weights(s.weights, s.rows, s.k, seed),
        x(outlier_floats(s.columns, s.k, seed + 1)),
        gamma(normal_floats(s.k, seed + 2)),
        bias(normal_floats(s.rows * (is_swiglu(s.epilogue) ? 2 : 1), seed + 3)),
        y(normal_floats(size_t{s.columns} * s.rows, seed + 4)) {
    if (is_swiglu(s.epilogue)) {
      up.emplace(s.up.value_or(s.weights), s.rows, s.k, seed + 5);
      // Gates are near 1: silu saturates for larger ones and would hide their errors.
      for (float& v : s.prologue == GemvPrologue::kNone ? x : gamma) v *= 0.01f;
    }
    if (!is_swiglu(s.epilogue))
      for (float& v : bias) v *= 20;
    for (float& v : y) v *= 20;
  }

  // Results of the first n_columns columns; the others keep y.
  std::vector<double> reference(uint32_t n_columns) const {
    std::vector<double> out(y.begin(), y.end());
    for (uint32_t c = 0; c < n_columns; ++c) {
      const std::vector<double> in = prepared(c);
      for (uint32_t row = 0; row < spec.rows; ++row) {
        double& result = out[size_t{c} * spec.rows + row];
        const double product = dot(weights, row, in);
        const auto swiglu = [](double gate, double other) { return gate / (1 + std::exp(-gate)) * other; };
        switch (spec.epilogue) {
          case GemvEpilogue::kStore:
            result = product;
            break;
          case GemvEpilogue::kBias:
            result = product + bias[row];
            break;
          case GemvEpilogue::kResidual:
            result += product;
            break;
          case GemvEpilogue::kSwiglu:
            result = swiglu(product, dot(*up, row, in));
            break;
          case GemvEpilogue::kBiasResidual:
            result += product + bias[row];
            break;
          case GemvEpilogue::kBiasSwiglu:
            result = swiglu(product + bias[size_t{2} * row], dot(*up, row, in) + bias[size_t{2} * row + 1]);
            break;
        }
      }
    }
    return out;
  }

  // Returns y after the kernel; a fault fails the test.
  std::vector<float> run(const ptx::Kernel& kernel, ptx::Target target, uint32_t n_columns,
                         ptx::emulator::LaunchOptions options = kAllChecks, std::string* fault = nullptr) const {
    return run(kernel, target, n_columns, Takes::kSpec,
               spec.columns > 1 ? std::vector<uint32_t>{n_columns} : std::vector<uint32_t>{}, options, fault);
  }
  // For kernels that get all of `numbers` as parameters; gamma, bias and residual may be null.
  std::vector<float> run_told(const ptx::Kernel& kernel, ptx::Target target, uint32_t n_columns,
                              const std::vector<uint32_t>& numbers, ptx::emulator::LaunchOptions options,
                              std::string* fault) const {
    return run(kernel, target, n_columns, Takes::kAll, numbers, options, fault);
  }
  // For tensor-core kernels: converts x to f16 first, with gamma. `numbers` as in run_told.
  std::vector<float> run_f16(const ptx::Kernel& kernel, ptx::Target target, uint32_t n_columns,
                             const std::vector<uint32_t>& numbers, ptx::emulator::LaunchOptions options,
                             std::string* fault, const SplitKScratch& scratch = {}) const {
    return run(kernel, target, n_columns, Takes::kHalves, numbers, options, fault, scratch);
  }
  mutable ptx::emulator::Counters counters;  // from the last run with options.count

 private:
  enum class Takes { kSpec, kAll, kHalves };
  std::vector<float> run(const ptx::Kernel& kernel, ptx::Target target, uint32_t n_columns, Takes takes,
                         const std::vector<uint32_t>& numbers, ptx::emulator::LaunchOptions options, std::string* fault,
                         const SplitKScratch& parts = {}) const {
    GuardedDevice device(target);
    float* out = adds_residual(spec.epilogue) ? device.upload(y) : device.poisoned<float>(y.size());
    std::vector<uint64_t> arguments = {address(device.upload(weights.bytes))};
    if (up) arguments.push_back(address(device.upload(up->bytes)));
    // Columns from n_columns on must not be read.
    const std::vector<float> used(x.begin(), x.begin() + static_cast<ptrdiff_t>(size_t{n_columns} * spec.k));
    float* input = device.upload(used);
    float* norm = spec.prologue == GemvPrologue::kRmsNorm ? device.upload(gamma) : nullptr;
    const bool is_told = takes != Takes::kSpec;
    if (takes == Takes::kHalves) {
      const F16Activations made =
          made_f16_activations(device, target, input, norm, spec.eps, spec.k, n_columns, options);
      arguments.insert(arguments.end(), {address(made.halves), address(made.factors)});
    } else if (!is_told && plan_of(spec_of_block()).on_tensor_cores()) {
      const IntActivations made = made_integers(device, target, input, norm, spec.eps, spec.k, n_columns, options);
      arguments.insert(arguments.end(), {address(made.integers), address(made.factors)});
    } else {
      arguments.push_back(address(input));
      if (norm != nullptr || is_told) arguments.push_back(address(norm));
    }
    const auto add = [&](bool has, const auto& upload) {
      if (has || is_told) arguments.push_back(has ? upload() : 0);
    };
    if (!is_told || spec.epilogue != GemvEpilogue::kSwiglu)
      add(adds_bias(spec.epilogue), [&] { return address(device.upload(bias)); });
    if (is_told && !is_swiglu(spec.epilogue)) add(adds_residual(spec.epilogue), [&] { return address(out); });
    std::byte* scratch = nullptr;
    if (parts.n_bytes > 0) {
      scratch = device.upload(std::vector<std::byte>(parts.n_bytes));
      arguments.push_back(address(scratch));
    }
    arguments.push_back(address(out));
    const std::string message = device.run_listed(options, kernel, arguments, numbers);
    if (message.empty() && scratch != nullptr) {
      const std::vector<std::byte> arrivals = device.download(scratch, parts.arrivals_bytes);
      EXPECT_EQ(arrivals, std::vector<std::byte>(parts.arrivals_bytes)) << "ready for the next launch";
    }
    if (fault != nullptr)
      *fault = message;
    else
      EXPECT_EQ(message, "");
    counters = device.counters();
    return device.download(out, y.size());
  }
  GemvSpec spec_of_block() const {
    GemvSpec of_block = spec;
    of_block.columns = std::min(spec.columns, 8u);
    return of_block;
  }
  template <class T>
  static uint64_t address(T* p) {
    return reinterpret_cast<uint64_t>(p);
  }
  std::vector<double> prepared(uint32_t column) const {
    std::vector<double> in(x.begin() + static_cast<ptrdiff_t>(size_t{column} * spec.k),
                           x.begin() + static_cast<ptrdiff_t>(size_t{column + 1} * spec.k));
    if (spec.prologue == GemvPrologue::kNone) return in;
    double squares = 0;
    for (double v : in) squares += v * v;
    for (uint32_t i = 0; i < spec.k; ++i) in[i] *= gamma[i] / std::sqrt(squares / spec.k + spec.eps);
    return in;
  }
  double dot(const PackedWeights& w, size_t row, const std::vector<double>& in) const {
    double sum = 0;
    for (size_t i = 0; i < in.size(); ++i) sum += w.values[row * in.size() + i] * in[i];
    return sum;
  }
};

}  // namespace warpchat
