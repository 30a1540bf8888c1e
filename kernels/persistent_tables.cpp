#include "kernels/persistent_tables.h"

#include <array>

#include "kernels/weight_layout.h"

namespace warpchat {
namespace {

struct Operands {  // addresses
  uint64_t weights, up, gamma, bias, y;
};

uint64_t matrix_bytes(const ProductSpec& product) {
  const GemvSpec& spec = std::get<GemvSpec>(product);
  return uint64_t{spec.rows} * packed_bytes_per_row(spec.weights, spec.k);
}

}  // namespace

std::vector<LayerRow> layer_rows(const DecoderSpecs& specs, const DecoderAddresses& at, uint32_t n_blocks) {
  const ProductVariants variants = product_variants(specs);
  const auto product = [&](const ProductSpec& spec, const std::vector<GemvSpec>& of_phase, const Operands& o) {
    return ProductRow{.weights = o.weights,
                      .up = o.up,
                      .gamma = o.gamma,
                      .bias = o.bias,
                      .y = o.y,
                      .variant = variant_of(of_phase, spec),
                      .n_blocks = n_blocks,
                      .rows = std::get<GemvSpec>(spec).rows};
  };
  std::vector<LayerRow> rows;
  for (size_t i = 0; i < specs.layers.size(); ++i) {
    const LayerSpecs& s = specs.layers[i];
    const LayerMatrices<uint64_t>& m = at.layers.at(i).matrices;
    const LayerVectors<uint64_t>& v = at.layers[i].vectors;
    LayerRow row{product(s.q, variants.normed, {m.q, 0, v.attn_norm, v.q_bias, at.q}),
                 product(s.k, variants.normed, {m.k, 0, v.attn_norm, v.k_bias, at.k}),
                 product(s.v, variants.normed, {m.v, 0, v.attn_norm, v.v_bias, at.v}),
                 product(s.output, variants.output, {m.output, 0, 0, 0, at.hidden}),
                 product(s.gate_up, variants.gate_up, {m.gate, m.up, v.ffn_norm, 0, at.inner}),
                 product(s.down, variants.down, {m.down, 0, 0, 0, at.hidden}),
                 at.layers[i].k_pages,
                 at.layers[i].v_pages,
                 v.q_norm,
                 v.k_norm,
                 specs.ropes.at(i)};
    const std::array<ProductRow*, 3> projections = {&row.q, &row.k, &row.v};
    const std::array<uint64_t, 3> bytes = {matrix_bytes(s.q), matrix_bytes(s.k), matrix_bytes(s.v)};
    share_blocks(projections, bytes, n_blocks);
    rows.push_back(row);
  }
  rows.push_back({.q = product(specs.logits, variants.normed, {at.output, 0, at.output_norm, 0, at.logits})});
  return rows;
}

}  // namespace warpchat
