// L2 prefetch. Nothing waits for the data.
#pragma once
#include "ptx/builder.h"

namespace warpchat {

// Called by a warp. bytes: a multiple of 32; from: 16-byte aligned.
// One lane prefetches everything with one instruction, or the lanes prefetch sector by sector if the target lacks it.
inline void ask_ahead(ptx::Builder& b, ptx::Target target, const ptx::Global<ptx::u8>& from, ptx::In<ptx::u32> bytes) {
  if (ptx::runs(target, ptx::sm_90)) return b.if_(b.lane() == 0, [&] { b.prefetch_bulk(from, bytes); });
  constexpr uint32_t kSectorBytes = 32;
  b.for_("sector", b.lane() * kSectorBytes, bytes, ptx::kWarpSize * kSectorBytes,
         [&](ptx::Reg<ptx::u32> sector) { b.prefetch_l2(from + sector); });
}

}  // namespace warpchat
