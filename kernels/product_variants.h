// Groups a token's products that can share code: each product function holds one variant per format and serves all
// layers, whatever their rows.
#pragma once
#include <vector>

#include "kernels/kernel_list.h"

namespace warpchat {

// A variant serves all products that differ only in having fewer rows, or in bias. `normed`: q, k, v and their gate, a
// delta net's products, routers, shared experts' gates, and the logits. gate_up and down: dense layers, experts and
// shared experts.
struct ProductVariants {
  std::vector<GemvSpec> normed, output, gate_up, down;
};
ProductVariants product_variants(const DecoderSpecs& specs);  // requires PassKind::kDecode
uint32_t variant_of(const std::vector<GemvSpec>& variants, const ProductSpec& product);

}  // namespace warpchat
