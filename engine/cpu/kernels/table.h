// Table of one instruction set. A kernel source defines WARPCHAT_KERNELS (the function's name), WARPCHAT_KERNELS_NAME
// and WARPCHAT_KERNELS_SHOWN, includes this file, and is compiled with its own flags.
#pragma once
#include "engine/cpu/kernels/attention.h"
#include "engine/cpu/kernels/delta_net.h"
#include "engine/cpu/kernels/heads.h"
#include "engine/cpu/kernels/input.h"
#include "engine/cpu/kernels/many_columns.h"
#include "engine/cpu/kernels/pack.h"

namespace warpchat {
namespace {

template <uint32_t kWidth = kTileColumns>
void prepare(const PrepareInput& in) {
  if constexpr (kWidth > 1)
    if (in.columns < kWidth) return prepare<narrower_tile(kWidth)>(in);
  prepare_tile<InputBlock<kWidth>>(in);
}

template <class Traits>
constexpr FormatKernels kernels_of(Traits) {
  using Block = typename Traits::Block;
  return {Traits::kType, !kHasCodes<Block>, kBlockBytes<Block>, multiply<Block>, pack<Block>, unpack_row<Block>};
}

}  // namespace

const CpuKernels& WARPCHAT_KERNELS() {
  static constexpr CpuKernels kTable = {
      .name = WARPCHAT_KERNELS_NAME,
      .shown = WARPCHAT_KERNELS_SHOWN,
      .lanes = kLanes,
      .tile_columns = kTileColumns,
      .prepare = prepare<>,
      .norm_and_rope_heads = norm_and_rope_heads,
      .store_head = store_head,
      .attend = attend,
      .add_sums = add_sums,
      .convolve = convolve,
      .delta_step = delta_step,
      .apply_gate = apply_gate,
      .formats = KernelBlocks::table([](auto format) { return kernels_of(format); }),
  };
  return kTable;
}

}  // namespace warpchat
