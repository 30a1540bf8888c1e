// Access to a KV cache inside a kernel: row addresses and dequantisation of codes.
#pragma once
#include <optional>
#include <vector>

#include "kernels/attention/kv_cache.h"
#include "ptx/builder.h"

namespace warpchat {

// The column's page table; `tables` holds its address.
ptx::Global<ptx::u32> page_table(ptx::Builder& b, const ptx::Global<ptx::u64>& tables, const ptx::Index& column);

// The rows of one KV head in one page.
class KvRows {
 public:
  // pages: a layer's keys or values. Selects the rows of page 0.
  KvRows(ptx::Builder& b, const KvLayout& layout, const ptx::Global<ptx::u8>& pages, const ptx::Reg<ptx::u32>& head);

  KvRows in_page(const ptx::Reg<ptx::u32>& page) const;  // the same rows, `page` pages further
  KvRows from_row(const ptx::Reg<ptx::u32>& row) const;
  // The same rows from `value` on, including its scale.
  KvRows from_value(const ptx::Reg<ptx::u32>& value) const;

  bool has_codes() const { return scales_.has_value(); }
  bool has_floats() const { return layout_.type == KvType::kF32; }
  ptx::Global<ptx::f32> floats() const { return cells_.as<ptx::f32>(); }  // f32 only: the first row, [head_dim]
  ptx::Global<ptx::f16> halves() const { return cells_.as<ptx::f16>(); }  // f16 only: the first row, [head_dim]
  const ptx::Global<ptx::u8>& codes() const { return cells_; }            // q8_0 only: the first row, [head_dim]
  const ptx::Global<ptx::f16>& scales() const { return *scales_; }        // q8_0 only: the first row, [scales_per_row]
  ptx::Global<ptx::f32> floats(const ptx::Reg<ptx::u32>& row) const;      // `row` and the rows after it
  ptx::Global<ptx::f16> halves(const ptx::Reg<ptx::u32>& row) const;
  ptx::Global<ptx::u8> codes(const ptx::Reg<ptx::u32>& row) const;
  ptx::Global<ptx::f16> scales(const ptx::Reg<ptx::u32>& row) const;
  const KvLayout& layout() const { return layout_; }

 private:
  KvRows(ptx::Builder& b, const KvLayout& layout, const ptx::Global<ptx::u8>& cells,
         const std::optional<ptx::Global<ptx::f16>>& scales)
      : b_(b), layout_(layout), cells_(cells), scales_(scales) {}

  ptx::Builder& b_;
  KvLayout layout_;
  ptx::Global<ptx::u8> cells_;
  std::optional<ptx::Global<ptx::f16>> scales_;
};

// Quantises a row by one warp; a lane has the eight values from 8 * lane on. Lanes beyond the row must pass zeros.
void store_codes(ptx::Builder& b, const KvRows& row, const std::vector<ptx::Reg<ptx::f32>>& values);

// The numbers of four codes in a word, without their scale.
ptx::Vec<ptx::f16x2, 2> codes_as_halves(ptx::Builder& b, const ptx::Reg<ptx::u32>& word);

}  // namespace warpchat
