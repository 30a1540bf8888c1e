// The table of one instruction set. A kernel source is this file after the definition of WARPCHAT_KERNELS (the
// function's name), WARPCHAT_KERNELS_NAME and WARPCHAT_KERNELS_SHOWN, compiled with its own flags.
#pragma once
#include "engine/cpu/kernels/simd.h"

namespace warpchat {
namespace {

// As many columns as the registers hold: each takes two sums of integers and one of floats.
constexpr int kTileColumns = kLanes == 16 ? 8 : 4;
constexpr int kNarrowColumns = kTileColumns / 2;

}  // namespace
}  // namespace warpchat

#include "engine/cpu/kernels/attention.h"
#include "engine/cpu/kernels/heads.h"
#include "engine/cpu/kernels/input.h"
#include "engine/cpu/kernels/multiply.h"
#include "engine/cpu/kernels/pack.h"

namespace warpchat {
namespace {

void prepare(const PrepareInput& in) {
  if (in.width == kTileColumns) return prepare_tile<kTileColumns>(in);
  if (in.width == kNarrowColumns) return prepare_tile<kNarrowColumns>(in);
  return prepare_tile<1>(in);
}

template <class Block>
constexpr FormatKernels kernels_of(uint32_t tensor_type) {
  return {tensor_type, !kHasCodes<Block>, multiply<Block>, pack<Block>, unpack_row<Block>};
}

}  // namespace

const CpuKernels& WARPCHAT_KERNELS() {
  static constexpr CpuKernels kTable = {
      .name = WARPCHAT_KERNELS_NAME,
      .shown = WARPCHAT_KERNELS_SHOWN,
      .lanes = kLanes,
      .tile_columns = kTileColumns,
      .narrow_columns = kNarrowColumns,
      .prepare = prepare,
      .turn_heads = turn_heads,
      .store_head = store_head,
      .attend = attend,
      .formats = {kernels_of<float>(0), kernels_of<f16>(1), kernels_of<BlockQ4_0>(2), kernels_of<BlockQ4_1>(3),
                  kernels_of<BlockQ5_0>(6), kernels_of<BlockQ5_1>(7), kernels_of<BlockQ8_0>(8),
                  kernels_of<BlockQ2K>(10), kernels_of<BlockQ3K>(11), kernels_of<BlockQ4K>(12),
                  kernels_of<BlockQ5K>(13), kernels_of<BlockQ6K>(14), kernels_of<bf16>(30)},
  };
  return kTable;
}

}  // namespace warpchat
