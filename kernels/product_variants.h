// The products of a token that one code computes: a function for each of the decoder's products holds a variant for
// each format, and serves all layers, whatever their rows.
#pragma once
#include <vector>

#include "kernels/kernel_list.h"

namespace warpchat {

// One stands for all that differ in fewer rows, and in whether they have a bias. `normed` is of q, k, v and their gate,
// of a delta net's products, of routers and the switches of shared experts, and of the logits; gate_up and down are of
// dense layers, of an expert, and of the shared one.
struct ProductVariants {
  std::vector<GemvSpec> normed, output, gate_up, down;
};
ProductVariants product_variants(const DecoderSpecs& specs);  // of PassKind::kToken
uint32_t variant_of(const std::vector<GemvSpec>& variants, const ProductSpec& product);

}  // namespace warpchat
