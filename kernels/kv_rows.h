// A KV cache inside a kernel: where rows lie, and the numbers that codes stand for.
#pragma once
#include <optional>
#include <vector>

#include "kernels/kv_cache.h"
#include "ptx/builder.h"

namespace warpchat {

// The rows of a cache from `first_row` on: head * max_positions + position.
class KvRows {
 public:
  KvRows(ptx::Builder& b, const KvLayout& cache, const ptx::Reg<ptx::u64>& address,
         const ptx::Reg<ptx::u64>& first_row);

  // The same rows from one of their values on, and from its scale on.
  KvRows from_value(const ptx::Reg<ptx::u32>& value) const;

  bool has_codes() const { return scales_.has_value(); }
  ptx::Global<ptx::f16> halves() const { return cells_.as<ptx::f16>(); }  // of f16: the first row, [head_dim]
  const ptx::Global<ptx::u8>& codes() const { return cells_; }            // of q8_0: the first row, [head_dim]
  const ptx::Global<ptx::f16>& scales() const { return *scales_; }        // of q8_0: the first row, [scales_per_row]
  ptx::Global<ptx::f16> halves(const ptx::Reg<ptx::u32>& row) const;      // ... and the rows after it
  ptx::Global<ptx::u8> codes(const ptx::Reg<ptx::u32>& row) const;
  ptx::Global<ptx::f16> scales(const ptx::Reg<ptx::u32>& row) const;
  const KvLayout& layout() const { return layout_; }

 private:
  KvRows(ptx::Builder& b, const KvLayout& cache, const ptx::Global<ptx::u8>& cells,
         const std::optional<ptx::Global<ptx::f16>>& scales)
      : b_(b), layout_(cache), cells_(cells), scales_(scales) {}

  ptx::Builder& b_;
  KvLayout layout_;
  ptx::Global<ptx::u8> cells_;
  std::optional<ptx::Global<ptx::f16>> scales_;
};

// Quantises a row by a warp, each lane its eight values from 8 * lane on; lanes beyond the row give zeros.
void store_codes(ptx::Builder& b, const KvRows& row, const std::vector<ptx::Reg<ptx::f32>>& values);

// What the four codes of a word stand for, without their scale.
ptx::Vec<ptx::f16x2, 2> codes_as_halves(ptx::Builder& b, const ptx::Reg<ptx::u32>& word);
ptx::Vec<ptx::f32, 4> codes_as_floats(ptx::Builder& b, const ptx::Reg<ptx::u32>& word);

}  // namespace warpchat
