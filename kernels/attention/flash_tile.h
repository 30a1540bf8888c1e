// A tile of keys or values as f16 in shared memory, loaded from a cache of any type.
#pragma once
#include <functional>
#include <optional>

#include "kernels/attention/flash_attention_plan.h"
#include "kernels/attention/kv_rows.h"

namespace warpchat {

// Staging for codes or floats before conversion to f16, shared by keys and values in turn. Each thread reads only the
// pieces it copied.
struct FlashStage {
  ptx::Shared<ptx::u32> words;                  // [staged_pieces, 4]
  std::optional<ptx::Shared<ptx::f16>> scales;  // [staged_scales, 2]: scale of a piece of codes, and of its neighbour
};

class FlashTile {
 public:
  // rows: of the KV head in page 0. halves: [keys, key_stride]. low: same shape, the low f16 plane of floats; without
  // it floats are rounded to f16. scales: f32 [scales_per_row, keys]. With it, `halves` holds bare codes and their
  // scales go here; without it, and for f16, `halves` holds the values.
  FlashTile(ptx::Builder& b, const FlashAttentionPlan& plan, const KvRows& rows, const ptx::Shared<ptx::f16>& halves,
            const std::optional<ptx::Shared<ptx::f16>>& low, const std::optional<FlashStage>& stage,
            const std::optional<ptx::Shared<ptx::f32>>& scales);

  // Called by all threads once no thread reads the tile any more. Starts copying rows from first_row, a multiple of the
  // tile's keys within `page`; rows from `end` on repeat the last one.
  void begin(const ptx::Reg<ptx::u32>& page, const ptx::Reg<ptx::u32>& first_row, const ptx::Reg<ptx::u32>& end) const;
  void finish() const;  // called by all threads; the barrier after it publishes the tile

  const ptx::Shared<ptx::f16>& halves() const { return halves_; }
  const std::optional<ptx::Shared<ptx::f16>>& low() const { return low_; }
  bool has_scales() const { return scales_.has_value(); }
  const ptx::Shared<ptx::f32>& scales() const { return *scales_; }

 private:
  struct Piece {
    ptx::Reg<ptx::u32> index, row, part;  // piece in the tile; its row; its number within the row
  };
  using PieceBody = std::function<void(const Piece&)>;
  void for_pieces(const PieceBody& body) const;
  ptx::Reg<ptx::u32> place(const Piece& piece) const;  // of a piece: offset in f16 from the tile's start
  void decode(const Piece& piece, const ptx::Vec<ptx::u32, 4>& codes, const ptx::Reg<ptx::f16>& scale) const;
  void split(const Piece& piece, const ptx::Vec<ptx::u32, 4>& floats) const;

  ptx::Builder& b_;
  const FlashAttentionPlan& plan_;
  KvType type_;
  KvRows rows_;
  ptx::Shared<ptx::f16> halves_;
  std::optional<ptx::Shared<ptx::f16>> low_;
  std::optional<FlashStage> stage_;
  std::optional<ptx::Shared<ptx::f32>> scales_;
};

}  // namespace warpchat
