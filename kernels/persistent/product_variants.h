// Groups a token's products that can share code: each product function holds one variant per format and serves all
// layers, whatever their rows.
#pragma once
#include <vector>

#include "kernels/launch_list.h"

namespace warpchat {

// A product function, and its products: normed has q, k, v and their gate, a delta net's products, routers, shared
// experts' gates, and the logits; gate_up and down those of dense layers, experts and shared experts.
enum class ProductGroup : uint8_t { kNormed, kOutput, kGateUp, kDown };
inline constexpr size_t kProductGroups = 4;

// The product that a launch of a token computes, of one expert if of experts; null if it computes none.
const GemvSpec* product_of(const KernelLaunch& launch);
ProductGroup group_of(const KernelLaunch& launch);  // requires a product

// A variant serves all products of a group that differ only in having fewer rows, or in bias.
using ProductVariants = std::array<std::vector<GemvSpec>, kProductGroups>;
ProductVariants product_variants(const LaunchList& list);  // requires PassKind::kDecode
uint32_t variant_of(const std::vector<GemvSpec>& variants, const GemvSpec& product);

}  // namespace warpchat
