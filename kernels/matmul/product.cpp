#include "kernels/matmul/product.h"

namespace warpchat {

std::vector<ptx::Global<ptx::u8>> declare_matrices(ptx::Builder& b, const std::vector<ProductMatrix>& matrices,
                                                   uint32_t rows) {
  std::vector<ptx::Global<ptx::u8>> all;
  for (const ProductMatrix& matrix : matrices)
    all.push_back(b.global<ptx::u8>(all.empty() ? "weights" : "up", matrix.row_bytes * rows));
  return all;
}

}  // namespace warpchat
