// A tile of keys or values in shared memory, as halves, and how it gets there from a cache of any type.
#pragma once
#include <functional>
#include <optional>

#include "kernels/flash_attention_plan.h"
#include "kernels/kv_rows.h"

namespace warpchat {

// Where codes or floats wait until they become halves: of whichever of keys and values is under way. A thread's pieces
// are its own.
struct FlashStage {
  ptx::Shared<ptx::u32> words;                  // [staged_pieces, 4]
  std::optional<ptx::Shared<ptx::f16>> scales;  // [staged_scales, 2]: of a piece of codes and its neighbour
};

class FlashTile {
 public:
  // rows: of the KV head in page 0. halves: [keys, key_stride]. low: likewise, for what halves leave of floats; without
  // it, floats are rounded to halves. scales: f32 [scales_per_row, keys]: the halves of codes
  // are the bare codes, and this is where their scales go; without it, and for f16, the halves are the values.
  FlashTile(ptx::Builder& b, const FlashAttentionPlan& plan, const KvRows& rows, const ptx::Shared<ptx::f16>& halves,
            const std::optional<ptx::Shared<ptx::f16>>& low, const std::optional<FlashStage>& stage,
            const std::optional<ptx::Shared<ptx::f32>>& scales);

  // By all threads, when nobody reads the tile any more: begins to copy the rows from the first, a multiple of the
  // tile's keys, which lie in `page`; those from `end` on are the last one again.
  void begin(const ptx::Reg<ptx::u32>& page, const ptx::Reg<ptx::u32>& first_row, const ptx::Reg<ptx::u32>& end) const;
  void finish() const;  // by all threads, before the barrier behind which the tile is there

  const ptx::Shared<ptx::f16>& halves() const { return halves_; }
  const std::optional<ptx::Shared<ptx::f16>>& low() const { return low_; }
  bool has_scales() const { return scales_.has_value(); }
  const ptx::Shared<ptx::f32>& scales() const { return *scales_; }

 private:
  struct Piece {
    ptx::Reg<ptx::u32> index, row, part;  // of the tile's pieces; its row; which of the row's pieces
  };
  using PieceBody = std::function<void(const Piece&)>;
  void for_pieces(const PieceBody& body) const;
  ptx::Reg<ptx::u32> place(const Piece& piece) const;  // of a piece, in halves from the tile's first on
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
