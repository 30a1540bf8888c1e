#include "kernels/product_variants.h"

#include <algorithm>
#include <functional>

#include "kernels/gemv_plan.h"

namespace warpchat {

namespace {

bool may_have_bias(const GemvSpec& spec) {
  return spec.epilogue == GemvEpilogue::kBias || spec.epilogue == GemvEpilogue::kStore;
}

// Whether the variant's code computes the product as its own kernel would: same bits, same number of blocks.
bool serves(const GemvSpec& variant, const GemvSpec& product) {
  GemvSpec same = product;
  same.rows = variant.rows;
  if (may_have_bias(product) && may_have_bias(variant)) same.epilogue = variant.epilogue;
  if (name_of(same) != name_of(variant) || product.rows > variant.rows) return false;
  const GemvPlan plan = plan_of(variant), own = plan_of(product);
  return plan.lanes_per_row == own.lanes_per_row && plan.rows_per_warp == own.rows_per_warp;
}

// The products, by decreasing rows, that no earlier variant serves; float formats last.
std::vector<GemvSpec> variants_among(std::vector<GemvSpec> products) {
  std::ranges::stable_sort(products, std::greater(), &GemvSpec::rows);
  std::vector<GemvSpec> variants;
  for (const GemvSpec& product : products) {
    const auto variant = std::ranges::find_if(variants, [&](const GemvSpec& v) { return serves(v, product); });
    if (variant == variants.end())
      variants.push_back(product);
    else if (product.epilogue == GemvEpilogue::kBias)
      variant->epilogue = GemvEpilogue::kBias;
  }
  std::stable_partition(variants.begin(), variants.end(), [](const GemvSpec& s) { return !is_float(s.weights); });
  return variants;
}

}  // namespace

ProductVariants product_variants(const DecoderSpecs& specs) {
  ProductVariants all;
  const auto add = [](std::vector<GemvSpec>& to, const ProductSpec& product) {
    if (is_present(product)) to.push_back(std::get<GemvSpec>(product));
  };
  for (const LayerSpecs& layer : specs.layers) {
    for (const ProductSpec* product : {&layer.q, &layer.k, &layer.v, &layer.q_gate}) add(all.normed, *product);
    add(all.output, layer.output), add(all.gate_up, layer.gate_up), add(all.down, layer.down);
  }
  for (const DeltaSpecs& delta : specs.deltas)
    for_each([&](const ProductSpec& product) { add(all.normed, product); }, delta);
  for (const ExpertSpecs& e : specs.experts) {
    add(all.normed, e.router), add(all.normed, e.shared_expert_gate);
    add(all.gate_up, e.gate_up.product), add(all.gate_up, e.shared_gate_up);
    add(all.down, e.down.product), add(all.down, e.shared_down);
  }
  add(all.normed, specs.logits);
  for (std::vector<GemvSpec>* products : {&all.normed, &all.output, &all.gate_up, &all.down})
    *products = variants_among(std::move(*products));
  return all;
}

uint32_t variant_of(const std::vector<GemvSpec>& variants, const ProductSpec& product) {
  const auto is_its = [&](const GemvSpec& variant) { return serves(variant, std::get<GemvSpec>(product)); };
  return static_cast<uint32_t>(std::ranges::find_if(variants, is_its) - variants.begin());
}

}  // namespace warpchat
