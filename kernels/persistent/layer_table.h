// The persistent decoder's table row of the current layer, in shared memory. A block copies each row a layer ahead, so
// that it reads a row without waiting for L2, which an acquire makes every read of global memory do.
#pragma once
#include "kernels/persistent/persistent_decoder.h"
#include "ptx/builder.h"

namespace warpchat {

class LayerTable {
 public:
  static constexpr uint32_t kSharedBytes = 2 * ((sizeof(LayerRow) + 15) / 16 * 16);
  // rows: LayerRow [n_layers + 1] in global memory, constant during the launch. shared: u8 [kSharedBytes], 16-byte
  // aligned.
  LayerTable(ptx::Builder& b, const ptx::Global<ptx::u8>& rows, uint32_t n_layers, const ptx::Shared<ptx::u8>& shared)
      : b_(b), rows_(rows), n_layers_(n_layers), copies_(shared) {}

  // Called by all threads of the block, to copy row 0, or the row after this layer's if there is one. No thread may
  // still read the row before it, and a block barrier must follow before the row is read.
  void copy_first() { copy(b_.var("first_layer", 0u)); }
  void copy_next(const ptx::Reg<ptx::u32>& layer) {
    b_.if_(layer < n_layers_, [&] { copy(layer + 1); });
  }

  ptx::Shared<ptx::u8> row(const ptx::Reg<ptx::u32>& layer, size_t offset) const {
    return (copies_ + (layer & 1u) * kRowBytes).aligned(16) + offset;
  }

 private:
  static constexpr uint32_t kWords = sizeof(LayerRow) / sizeof(uint64_t);
  static constexpr uint32_t kRowBytes = kSharedBytes / 2;
  // Later warps copy, since the first one's thread waits for the other blocks.
  static constexpr uint32_t kFirstThread = kPersistentThreads / 2;
  static_assert(kFirstThread + kWords <= kPersistentThreads);

  void copy(const ptx::Reg<ptx::u32>& layer) {
    const ptx::Reg<ptx::u32> word = b_.thread() - kFirstThread;  // for earlier threads this wraps to a large value
    b_.if_(word < kWords, [&] {
      const ptx::Global<ptx::u8> from = rows_ + ptx::wide(layer) * sizeof(LayerRow);
      row(layer, 0).as<ptx::u64>().store(word, from.as<ptx::u64>().load(word, ptx::kReadOnly));
    });
  }

  ptx::Builder& b_;
  ptx::Global<ptx::u8> rows_;
  uint32_t n_layers_;
  ptx::Shared<ptx::u8> copies_;  // of rows of even and of odd layers: their place takes no register
};

}  // namespace warpchat
