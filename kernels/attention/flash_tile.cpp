// Threads copy 16-byte pieces in turn. f16 is copied unchanged. Codes and floats are converted to f16 on the way; if
// the tile is staged, after arrival, by the thread that copied them.
#include "kernels/attention/flash_tile.h"

namespace warpchat {

using namespace ptx;

namespace {

constexpr uint32_t kCopy = FlashAttentionPlan::kCopy;

}  // namespace

FlashTile::FlashTile(Builder& b, const FlashAttentionPlan& plan, const KvRows& rows, const Shared<ptx::f16>& halves,
                     const std::optional<Shared<ptx::f16>>& low, const std::optional<FlashStage>& stage,
                     const std::optional<Shared<f32>>& scales)
    : b_(b),
      plan_(plan),
      type_(rows.layout().type),
      rows_(rows),
      halves_(halves),
      low_(low),
      stage_(stage),
      scales_(scales) {}

void FlashTile::for_pieces(const PieceBody& body) const {
  const uint32_t pieces = plan_.pieces(type_);
  b_.for_("piece", b_.thread(), plan_.keys * pieces, plan_.threads(), [&](Reg<u32> index) {
    Reg<u32> row = index / pieces;
    body({index, row, index - row * pieces});
  });
}

Reg<u32> FlashTile::place(const Piece& piece) const {
  return piece.row * plan_.key_stride() + piece.part * (plan_.spec.head_dim / plan_.pieces(type_));
}

void FlashTile::begin(const Reg<u32>& page, const Reg<u32>& first_row, const Reg<u32>& end) const {
  const KvRows rows = rows_.in_page(page);
  Reg<u32> first = first_row % kPagePositions, last = end - 1 - (first_row - first);
  for_pieces([&](const Piece& piece) {
    Reg<u32> row = b_.min(first + piece.row, last);
    if (type_ == KvType::kF16) {
      const Global<ptx::f16> from = rows.halves(row) + piece.part * (kCopy / 2);
      if (plan_.copies_async)
        b_.copy_async(halves_ + place(piece), from, Bytes<kCopy>{});
      else
        (halves_ + place(piece)).as<b32>().store(0, from.as<b32>().load<4>(0, kReadOnly));
      return;
    }
    const Global<u8> codes = rows.codes(row) + piece.part * kCopy;
    if (type_ == KvType::kF32) {
      if (!stage_) return split(piece, codes.as<u32>().load<4>(0, kReadOnly));
      return b_.copy_async(stage_->words + piece.index * (kCopy / 4), codes, Bytes<kCopy>{});
    }
    Reg<u32> group = piece.part / (KvLayout::kGroup / kCopy);
    if (!stage_) return decode(piece, codes.as<u32>().load<4>(0, kReadOnly), rows.scales(row).load(group, kReadOnly));
    b_.copy_async(stage_->words + piece.index * (kCopy / 4), codes, Bytes<kCopy>{});
    b_.copy_async(*stage_->scales + piece.index * 2, rows.scales(row) + group / 2 * 2, Bytes<4>{});
  });
  if (plan_.copies_async) b_.commit_copies();
}

void FlashTile::finish() const {
  if (plan_.copies_async) b_.wait_copies();
  if (!stage_) return;
  for_pieces([&](const Piece& piece) {
    const auto words = [&] { return (stage_->words + piece.index * (kCopy / 4)).load<4>(); };
    if (type_ == KvType::kF32) return split(piece, words());
    Reg<u32> group = piece.part / (KvLayout::kGroup / kCopy);
    decode(piece, words(), stage_->scales->load(piece.index * 2 + (group & 1)));
  });
}

// NaN stays NaN, since comparisons with it are false.
void FlashTile::split(const Piece& piece, const Vec<u32, 4>& floats) const {
  constexpr float kMax = 65504;  // largest f16
  const auto value = [&](int i) {
    const Reg<f32> x = floats[i].as<f32>();
    return b_.select(x > kMax, kMax, b_.select(x < -kMax, -kMax, x));
  };
  const Reg<u32> at = place(piece);
  std::vector<Reg<f16x2>> high, low;
  for (const int i : {0, 2}) {
    const Reg<f32> first = value(i), second = value(i + 1);
    high.push_back(b_.convert_pair<f16x2>(first, second));
    if (!low_) continue;
    const Vec<f32, 2> rounded = b_.widen(high.back());
    low.push_back(b_.convert_pair<f16x2>(first - rounded[0], second - rounded[1]));
  }
  (halves_ + at).as<f16x2>().store(0, {high[0], high[1]});
  if (low_) (*low_ + at).as<f16x2>().store(0, {low[0], low[1]});
}

void FlashTile::decode(const Piece& piece, const Vec<u32, 4>& codes, const Reg<ptx::f16>& scale) const {
  const Shared<f16x2> to = (halves_ + place(piece)).as<f16x2>();
  std::optional<Reg<f16x2>> factor;
  if (!scales_) factor.emplace(b_.join<f16x2>(scale, scale));
  const auto value = [&](const Reg<f16x2>& pair) { return factor ? pair * *factor : pair; };
  for (int word = 0; word < 4; word += 2) {
    const Vec<f16x2, 2> low = codes_as_halves(b_, codes[word]), high = codes_as_halves(b_, codes[word + 1]);
    to.store(word * 2, {value(low[0]), value(low[1]), value(high[0]), value(high[1])});
  }
  if (!scales_) return;
  constexpr uint32_t kPieces = KvLayout::kGroup / kCopy;  // per group; the first one carries the scale
  Reg<u32> group = piece.part / kPieces;
  b_.if_((piece.part & (kPieces - 1)) == 0,
         [&] { scales_->store(group * plan_.keys + piece.row, b_.convert<f32>(scale)); });
}

}  // namespace warpchat
