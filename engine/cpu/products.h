// A step's products: prepares the input once, then distributes rows and columns of all its matrices.
#pragma once
#include <cstdint>
#include <span>

#include "engine/cpu/kernels/kernels.h"
#include "engine/cpu/packed_matrix.h"
#include "engine/cpu/pages.h"

namespace warpchat {

class ThreadPool;

// out[column, row] = epilogue(matrix[row, :] . input[column, :] + bias[row]), or with a gate
// silu(gate . input + gate_bias) * (matrix . input + bias).
struct Product {
  const PackedMatrix* matrix;
  float* out;  // [columns, rows of the matrix]
  Epilogue epilogue = Epilogue::kStore;
  const float* bias = nullptr;         // [rows]
  const PackedMatrix* gate = nullptr;  // same shape as matrix
  const float* gate_bias = nullptr;    // [rows]
};

struct ProductInput {
  const float* x;  // [columns, k]
  uint32_t columns, k;
  const float* gain = nullptr;  // [k]: RMSNorm gain; null: no norm
  float eps = 0;
};

// Output columns that share a matrix.
struct ProductGroup {
  const PackedMatrix* matrix;
  const PackedMatrix* gate;  // null: none
  uint32_t first, end;       // output columns
};

class ProductRunner {
 public:
  // For inputs of up to max_columns columns of max_k values.
  ProductRunner(ThreadPool& pool, const CpuKernels& kernels, uint32_t max_columns, uint32_t max_k);
  static uint64_t bytes_needed(uint32_t max_columns, uint32_t max_k);  // saturates

  uint64_t n_bytes() const { return integers_.n_bytes() + floats_.n_bytes(); }

  void run(const ProductInput& input, std::span<const Product> products);

  // Number of leading groups, at least one, that one call of run_groups can process.
  size_t fitting(std::span<const ProductGroup> groups) const;
  // Column i of out, [columns, rows of the matrices], is computed from input column from[i], or i if null. Groups are
  // adjacent; column 0 of out is the first one's first column.
  void run_groups(const ProductInput& input, const uint32_t* from, std::span<const ProductGroup> groups, float* out);

 private:
  struct Tile {
    uint32_t at;       // first column
    uint32_t columns;  // at most the widest tile
  };
  struct Kinds {  // tiles that the matrices read
    bool integers = false, floats = false;
    void add(const PackedMatrix& matrix, const PackedMatrix* gate);
  };
  void prepare(const ProductInput& input, Kinds kinds);
  void prepare_tile(const ProductInput& input, const float* x, const Tile& tile, Kinds kinds);
  void multiply(const Product& product, uint32_t k, uint32_t first_group, uint32_t end_group, const Tile& tiles) const;
  uint8_t* integers_at(uint32_t column, uint32_t k) const;
  float* floats_at(uint32_t column, uint32_t k) const;

  ThreadPool& pool_;
  const CpuKernels& kernels_;
  uint32_t widest_;          // columns of the widest tile
  uint32_t max_columns_;     // rounded up to whole tiles
  Pages integers_, floats_;  // tiles of the current input
};

}  // namespace warpchat
