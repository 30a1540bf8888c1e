#include "kernels/persistent_tables.h"

#include <array>

#include "kernels/weight_layout.h"

namespace warpchat {
namespace {

uint64_t matrix_bytes(const ProductSpec& product) {
  const GemvSpec& spec = std::get<GemvSpec>(product);
  return uint64_t{spec.rows} * packed_bytes_per_row(spec.weights, spec.k);
}

}  // namespace

DecoderTables decoder_tables(const DecoderSpecs& specs, const DecoderAddresses& at, uint32_t n_blocks) {
  const ProductVariants variants = product_variants(specs);
  DecoderTables tables;
  for (size_t i = 0; i < specs.layers.size(); ++i) {
    const LayerSpecs& s = specs.layers[i];
    const LayerAddresses& w = at.layers.at(i);
    LayerRow row{{w.q, 0, w.attn_norm, w.q_bias, at.q, variant_of(variants.qkv, s.q), 0, n_blocks},
                 {w.k, 0, w.attn_norm, w.k_bias, at.k, variant_of(variants.qkv, s.k), 0, n_blocks},
                 {w.v, 0, w.attn_norm, w.v_bias, at.v, variant_of(variants.qkv, s.v), 0, n_blocks},
                 {w.output, 0, 0, 0, at.hidden, variant_of(variants.output, s.output), 0, n_blocks},
                 {w.gate, w.up, w.ffn_norm, 0, at.inner, variant_of(variants.gate_up, s.gate_up), 0, n_blocks},
                 {w.down, 0, 0, 0, at.hidden, variant_of(variants.down, s.down), 0, n_blocks},
                 w.k_cache,
                 w.v_cache,
                 w.q_norm,
                 w.k_norm};
    const std::array<ProductRow*, 3> projections = {&row.q, &row.k, &row.v};
    const std::array<uint64_t, 3> bytes = {matrix_bytes(s.q), matrix_bytes(s.k), matrix_bytes(s.v)};
    share_blocks(projections, bytes, n_blocks);
    tables.layers.push_back(row);
  }
  tables.logits = {at.output, 0, at.output_norm, 0, at.logits, 0, 0, n_blocks};
  return tables;
}

}  // namespace warpchat
