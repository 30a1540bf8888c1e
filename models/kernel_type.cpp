#include "models/kernel_type.h"

#include <cassert>
#include <cstring>

#include "models/grid_blocks.h"

namespace warpchat {

TensorType kernel_type(TensorType stored) {
  return with_block(stored, [&](auto block) {
    if constexpr (GridBlock<decltype(block)>)
      return type_of<typename GridFields<decltype(block)>::Expanded>();
    else
      return stored;
  });
}

void expand_rows(TensorType stored, std::span<const std::byte> rows, std::span<std::byte> out) {
  with_block(stored, [&](auto block) {
    if constexpr (GridBlock<decltype(block)>) {
      const size_t n_blocks = rows.size() / sizeof block;
      assert(rows.size() % sizeof block == 0 && out.size() == n_blocks * sizeof expanded(block));
      for (size_t i = 0; i < n_blocks; ++i) {
        std::memcpy(&block, rows.data() + i * sizeof block, sizeof block);
        const auto codes = expanded(block);
        std::memcpy(out.data() + i * sizeof codes, &codes, sizeof codes);
      }
    } else {
      assert(false && "a type that kernels read as it is");
    }
  });
}

}  // namespace warpchat
