// Table of formats: those in files, and those that kernels read, which differ only where models/kernel_type.h expands a
// format. Every other table of formats is built from these rows or asserts completeness. Code for one format is found
// through with_block, so that a missing case for a new row does not compile.
#pragma once
#include <algorithm>
#include <array>
#include <cassert>
#include <type_traits>

#include "models/quant_blocks.h"
#include "models/tensor_type.h"

namespace warpchat {

template <class BlockStruct, TensorType number, uint32_t n_weights>
struct BlockTraits {
  using Block = BlockStruct;
  static constexpr TensorType kType = number;
  static constexpr uint32_t kWeights = n_weights;  // per block
};

template <class... Traits>
struct BlockTypes {
  static constexpr size_t kCount = sizeof...(Traits);
  template <class... More>
  using And = BlockTypes<Traits..., More...>;

  // [kCount] make(BlockTraits)
  template <class Make>
  static constexpr auto table(Make make) {
    return std::array{make(Traits{})...};
  }

  // Calls visit(Block{}) with the format's struct.
  template <class Visit>
  static auto visit(TensorType type, Visit visit) {
    decltype(visit(float{})) (*call)(Visit&) = nullptr;
    ((call = Traits::kType == type ? [](Visit& v) { return v(typename Traits::Block{}); } : call), ...);
    assert(call != nullptr && "a TensorType without a row");
    return call(visit);
  }
};

using UnchangedBlocks =
    BlockTypes<BlockTraits<float, TensorType::kF32, 1>, BlockTraits<f16, TensorType::kF16, 1>,
               BlockTraits<bf16, TensorType::kBF16, 1>, BlockTraits<BlockQ4_0, TensorType::kQ4_0, 32>,
               BlockTraits<BlockQ4_1, TensorType::kQ4_1, 32>, BlockTraits<BlockQ5_0, TensorType::kQ5_0, 32>,
               BlockTraits<BlockQ5_1, TensorType::kQ5_1, 32>, BlockTraits<BlockQ8_0, TensorType::kQ8_0, 32>,
               BlockTraits<BlockQ2K, TensorType::kQ2_K, 256>, BlockTraits<BlockQ3K, TensorType::kQ3_K, 256>,
               BlockTraits<BlockQ4K, TensorType::kQ4_K, 256>, BlockTraits<BlockQ5K, TensorType::kQ5_K, 256>,
               BlockTraits<BlockQ6K, TensorType::kQ6_K, 256>, BlockTraits<BlockIQ4NL, TensorType::kIQ4_NL, 32>,
               BlockTraits<BlockIQ4XS, TensorType::kIQ4_XS, 256>, BlockTraits<BlockMXFP4, TensorType::kMXFP4, 32>>;
using SupportedBlocks = UnchangedBlocks::And<
    BlockTraits<BlockIQ2XXS, TensorType::kIQ2_XXS, 256>, BlockTraits<BlockIQ2XS, TensorType::kIQ2_XS, 256>,
    BlockTraits<BlockIQ2S, TensorType::kIQ2_S, 256>, BlockTraits<BlockIQ3XXS, TensorType::kIQ3_XXS, 256>,
    BlockTraits<BlockIQ3S, TensorType::kIQ3_S, 256>>;
template <template <class...> class List>
using WithExpanded = List<BlockTraits<BlockIQ2Expanded, TensorType::kIQ2Expanded, 256>,
                          BlockTraits<BlockIQ3XXSExpanded, TensorType::kIQ3XXSExpanded, 256>,
                          BlockTraits<BlockIQ3SExpanded, TensorType::kIQ3SExpanded, 256>>;
using KernelBlocks = WithExpanded<UnchangedBlocks::And>;
using AllBlocks = WithExpanded<SupportedBlocks::And>;

template <class Block>
constexpr TensorType type_of() {
  TensorType type{};
  const auto look = [&]<class... Traits>(BlockTypes<Traits...>) {
    ((type = std::is_same_v<Block, typename Traits::Block> ? Traits::kType : type), ...);
  };
  look(AllBlocks{});
  return type;
}

template <class Visit>
auto with_block(TensorType type, Visit visit) {
  return AllBlocks::visit(type, visit);
}

// Whether weights are codes in blocks; else a block is one weight.
template <class Block>
constexpr bool kHasCodes = sizeof(Block) > 4;

// Whether a table with a column `type` has a row for every file format, or kernel format.
template <class Blocks = SupportedBlocks, class Rows>
constexpr bool has_every_format(const Rows& rows) {
  return std::ranges::all_of(Blocks::table([](auto traits) { return traits.kType; }), [&](TensorType type) {
    return std::ranges::any_of(rows, [&](const auto& row) { return row.type == type; });
  });
}

}  // namespace warpchat
