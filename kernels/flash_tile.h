// A tile of keys or values in shared memory, as halves, and how it gets there from a cache of either type.
#pragma once
#include <functional>
#include <optional>

#include "kernels/flash_attention_plan.h"
#include "kernels/kv_rows.h"

namespace warpchat {

// Where codes wait until they become halves: of whichever of keys and values is under way. A thread's pieces are its
// own.
struct FlashStage {
  ptx::Shared<ptx::u32> codes;   // [staged_pieces, 4]
  ptx::Shared<ptx::f16> scales;  // [staged_pieces, 2]: of a piece and its neighbour
};

class FlashTile {
 public:
  // rows: of the KV head in page 0. halves: [keys, key_stride]. scales: f32 [scales_per_row, keys]: the halves of codes
  // are the bare codes, and this is where their scales go; without it, and for f16, the halves are the values.
  FlashTile(ptx::Builder& b, const FlashAttentionPlan& plan, const KvRows& rows, const ptx::Shared<ptx::f16>& halves,
            const std::optional<FlashStage>& stage, const std::optional<ptx::Shared<ptx::f32>>& scales);

  // By all threads, when nobody reads the tile any more: begins to copy the rows from the first, a multiple of the
  // tile's keys, which lie in `page`; those from `end` on are the last one again.
  void begin(const ptx::Reg<ptx::u32>& page, const ptx::Reg<ptx::u32>& first_row, const ptx::Reg<ptx::u32>& end) const;
  void finish() const;  // by all threads, before the barrier behind which the tile is there

  const ptx::Shared<ptx::f16>& halves() const { return halves_; }
  bool has_scales() const { return scales_.has_value(); }
  const ptx::Shared<ptx::f32>& scales() const { return *scales_; }

 private:
  struct Piece {
    ptx::Reg<ptx::u32> index, row, part;  // of the tile's pieces; its row; which of the row's pieces
  };
  using PieceBody = std::function<void(const Piece&)>;
  void for_pieces(const PieceBody& body) const;
  ptx::Shared<ptx::f16> place(const Piece& piece) const;
  void decode(const Piece& piece, const ptx::Vec<ptx::u32, 4>& codes, const ptx::Reg<ptx::f16>& scale) const;

  ptx::Builder& b_;
  const FlashAttentionPlan& plan_;
  KvType type_;
  KvRows rows_;
  ptx::Shared<ptx::f16> halves_;
  std::optional<FlashStage> stage_;
  std::optional<ptx::Shared<ptx::f32>> scales_;
};

}  // namespace warpchat
