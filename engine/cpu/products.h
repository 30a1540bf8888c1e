// The products of a step: prepare the input once, then share out rows and columns of all its matrices.
#pragma once
#include <cstdint>
#include <span>

#include "engine/cpu/kernels/kernels.h"
#include "engine/cpu/packed_matrix.h"
#include "engine/cpu/pages.h"

namespace warpchat {

class ThreadPool;

// out[column, row] = epilogue(matrix[row, :] . input[column, :]), or silu(gate . input) * (matrix . input).
struct Product {
  const PackedMatrix* matrix;
  float* out;  // [columns, rows of the matrix]
  Epilogue epilogue = Epilogue::kStore;
  const float* bias = nullptr;         // [rows], kStore only
  const PackedMatrix* gate = nullptr;  // of the same shape
};

struct ProductInput {
  const float* x;  // [columns, k]
  uint32_t columns, k;
  const float* gain = nullptr;  // [k]: RMS-normalise first
  float eps = 0;
};

class ProductRunner {
 public:
  // For inputs of at most max_columns columns of max_k values.
  ProductRunner(ThreadPool& pool, const CpuKernels& kernels, uint32_t max_columns, uint32_t max_k);
  static uint64_t bytes_needed(uint32_t max_columns, uint32_t max_k);  // saturates

  uint64_t n_bytes() const { return integers_.n_bytes() + floats_.n_bytes(); }

  void run(const ProductInput& input, std::span<const Product> products);

 private:
  void prepare(const ProductInput& input, bool integers, bool floats);
  void multiply(const Product& product, const ProductInput& input, uint32_t first_group, uint32_t end_group,
                uint32_t first_column, uint32_t end_column) const;

  ThreadPool& pool_;
  const CpuKernels& kernels_;
  Pages integers_, floats_;  // tiles of the current input
};

}  // namespace warpchat
