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

// Columns of an output that have a matrix of their own.
struct ProductGroup {
  const PackedMatrix* matrix;
  const PackedMatrix* gate;  // null: none
  uint32_t first, end;       // of the output's columns
};

class ProductRunner {
 public:
  // For inputs of at most max_columns columns of max_k values.
  ProductRunner(ThreadPool& pool, const CpuKernels& kernels, uint32_t max_columns, uint32_t max_k);
  static uint64_t bytes_needed(uint32_t max_columns, uint32_t max_k);  // saturates

  uint64_t n_bytes() const { return integers_.n_bytes() + floats_.n_bytes(); }

  void run(const ProductInput& input, std::span<const Product> products);

  // How many of the groups, at least one, a call of run_groups takes.
  size_t fitting(std::span<const ProductGroup> groups) const;
  // Column i of out, [columns, rows of the matrices], is made of column from[i] of the input; null: of column i. The
  // groups lie one behind the other; where the first one begins is column 0 of out.
  void run_groups(const ProductInput& input, const uint32_t* from, std::span<const ProductGroup> groups, float* out);

 private:
  struct Tile {
    uint32_t at;       // in columns
    uint32_t columns;  // at most those of the widest tile
  };
  struct Kinds {  // of tiles that some matrices read
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
