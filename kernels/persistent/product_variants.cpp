#include "kernels/persistent/product_variants.h"

#include <algorithm>
#include <functional>

#include "kernels/matmul/gemv_plan.h"

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

const GemvSpec* product_of(const KernelLaunch& launch) {
  if (const auto* assignments = std::get_if<ExpertProductSpec>(&launch.spec)) return &assignments->product;
  return std::get_if<GemvSpec>(&launch.spec);
}

ProductGroup group_of(const KernelLaunch& launch) {
  switch (launch.phase) {
    case PhaseKind::kOutput:
      return ProductGroup::kOutput;
    case PhaseKind::kGateUp:
    case PhaseKind::kExpertsGateUp:
      return ProductGroup::kGateUp;
    case PhaseKind::kDown:
    case PhaseKind::kExpertsDown:
      return ProductGroup::kDown;
    default:
      return ProductGroup::kNormed;
  }
}

ProductVariants product_variants(const LaunchList& list) {
  ProductVariants all;
  for_each_launch(list, [&](const KernelLaunch& launch, uint32_t) {
    if (const GemvSpec* product = product_of(launch)) all[static_cast<size_t>(group_of(launch))].push_back(*product);
  });
  for (std::vector<GemvSpec>& products : all) products = variants_among(std::move(products));
  return all;
}

uint32_t variant_of(const std::vector<GemvSpec>& variants, const GemvSpec& product) {
  const auto is_its = [&](const GemvSpec& variant) { return serves(variant, product); };
  return static_cast<uint32_t>(std::ranges::find_if(variants, is_its) - variants.begin());
}

}  // namespace warpchat
