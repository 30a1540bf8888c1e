// Shared by all matrix products: matrices, name and cost. A Spec is GemvSpec or GemmSpec, which name these fields
// alike; gemm's prologue is a separate kernel.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/matmul/gemv.h"
#include "kernels/matmul/int_activations.h"
#include "kernels/matmul/weight_layout.h"
#include "kernels/matmul/weight_unit.h"
#include "models/error.h"
#include "ptx/builder.h"

namespace warpchat {

struct ProductMatrix {
  TensorType type;
  PackedStreams streams;
  uint64_t row_bytes;  // packed
};

// The weights and, if is_swiglu, up, in the weights' format unless the spec says otherwise.
template <class Spec>
std::vector<ProductMatrix> matrices_of(const Spec& spec) {
  std::vector<ProductMatrix> matrices;
  const auto add = [&](TensorType type) {
    matrices.push_back({type, packed_streams(type, spec.k), packed_bytes_per_row(type, spec.k)});
  };
  add(spec.weights);
  if (is_swiglu(spec.epilogue)) add(spec.up.value_or(spec.weights));
  return matrices;
}

// Declares a kernel's first parameters, "weights" and "up". rows: 0 if they are a launch parameter.
std::vector<ptx::Global<ptx::u8>> declare_matrices(ptx::Builder& b, const std::vector<ProductMatrix>& matrices,
                                                   uint32_t rows);

inline uint64_t input_bytes(const GemvSpec& spec, uint64_t columns) {
  if (spec.columns > 1 && !is_float(spec.weights)) return 4 * (int_activations_words(spec.k, columns) + columns);
  return 4 * spec.k * (columns + (spec.prologue == GemvPrologue::kRmsNorm ? 1 : 0));
}

// Cost of `columns` columns: every matrix n_reads times, input, output, and the epilogue's vector.
template <class Spec>
ptx::Cost product_cost(const Spec& spec, const std::vector<ProductMatrix>& matrices, uint64_t columns,
                       uint64_t n_reads = 1) {
  const uint64_t rows = spec.rows, k = spec.k;
  ptx::Cost cost;
  for (const ProductMatrix& matrix : matrices) {
    cost.bytes += n_reads * rows * matrix.row_bytes;
    cost.flops += 2 * rows * k * columns;
  }
  const uint64_t n_outputs = columns * rows * (adds_residual(spec.epilogue) ? 2 : 1);
  const uint64_t n_vector = adds_bias(spec.epilogue) ? rows * matrices.size() : 0;
  cost.bytes += input_bytes(spec, columns) + 4 * (n_outputs + n_vector);
  return cost;
}

// "gemv_q4k_2048x11008_rmsnorm_swiglu": family, formats, sizes if fixed, prologue, epilogue.
template <class Spec>
std::string product_name(const std::string& family, const Spec& spec, const std::string& sizes) {
  std::string name = family + "_" + std::string(unit_format(spec.weights).name);
  if (spec.up && *spec.up != spec.weights) name += "_" + std::string(unit_format(*spec.up).name);
  if (!sizes.empty()) name += "_" + sizes;
  if constexpr (requires { spec.prologue; })
    if (spec.prologue == GemvPrologue::kRmsNorm) name += "_rmsnorm";
  constexpr const char* kEpilogues[] = {"", "_bias", "_residual", "_swiglu", "_bias_residual", "_bias_swiglu"};
  return name + kEpilogues[static_cast<int>(spec.epilogue)];
}

// Name suffix of a distribution field, such as "_w8"; empty for 0.
inline std::string name_part(const char* letter, uint32_t n) {
  return n != 0 ? "_" + std::string(letter) + std::to_string(n) : "";
}

// Throws Error "cannot generate NAME: WHAT" unless the condition holds.
template <class Spec>
void require(bool condition, const Spec& spec, const std::string& what) {
  if (!condition) throw Error("cannot generate " + name_of(spec) + ": " + what);
}

}  // namespace warpchat
