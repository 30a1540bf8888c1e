#include "kernels/persistent_tables.h"

#include <algorithm>
#include <array>
#include <span>

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

uint32_t parts_of(const LayerKind& kind) {
  uint32_t parts = 0;
  for (const LayerPart part : {LayerPart::kAttention, LayerPart::kDeltaNet, LayerPart::kDense, LayerPart::kExperts})
    if (has(kind, part)) parts |= 1u << static_cast<uint32_t>(part);
  return parts;
}

uint32_t expert_stride(TensorType type, const GemvSpec& spec) {
  return static_cast<uint32_t>(spec.rows * packed_bytes_per_row(type, spec.k) / 16);
}

class TableWriter {
 public:
  TableWriter(const DecoderSpecs& specs, const DecoderAddresses& at, uint32_t n_blocks, uint64_t bytes_ahead)
      : specs_(specs),
        at_(at),
        n_blocks_(n_blocks),
        ahead_of_block_(bytes_ahead / n_blocks),
        variants_(product_variants(specs)) {}

  std::vector<LayerRow> write() const {
    const std::vector<LayerKind> kinds = layer_kinds(specs_);
    std::vector<LayerRow> rows;
    uint32_t n_delta_nets = 0;
    for (size_t i = 0; i < kinds.size(); ++i) {
      LayerRow row{.k_pages = at_.layers.at(i).k_pages, .v_pages = at_.layers[i].v_pages, .parts = parts_of(kinds[i])};
      if (kinds[i].mixer == Mixer::kDeltaNet)
        set_delta_net(row, i, n_delta_nets++);
      else
        set_attention(row, i);
      const bool is_dense = kinds[i].ffn == Ffn::kDense;
      is_dense ? set_dense(row, i) : set_experts(row, i);
      rows.push_back(row);
    }
    rows.push_back({});
    ProductRow& logits = rows.back().first[0];
    logits = product(specs_.logits, variants_.normed, {at_.output, 0, at_.output_norm, at_.output_bias, at_.logits});
    set_ahead(logits, specs_.logits);
    return rows;
  }

 private:
  ProductRow product(const ProductSpec& spec, const std::vector<GemvSpec>& of_phase, const Operands& o) const {
    if (!is_present(spec)) return {};
    return {.weights = o.weights,
            .up = o.up,
            .gamma = o.gamma,
            .bias = o.bias,
            .y = o.y,
            .variant = variant_of(of_phase, spec),
            .first_block = 0,
            .n_blocks = n_blocks_,
            .rows = std::get<GemvSpec>(spec).rows};
  }

  // Distributes the blocks over these rows.
  void share(std::span<ProductRow> rows, std::span<const ProductSpec* const> specs) const {
    std::vector<ProductRow*> pointers;
    std::vector<uint64_t> bytes;
    for (size_t i = 0; i < rows.size(); ++i) {
      pointers.push_back(&rows[i]);
      bytes.push_back(matrix_bytes(*specs[i]));
    }
    share_blocks(pointers, bytes, n_blocks_);
    for (size_t i = 0; i < rows.size(); ++i) set_ahead(rows[i], *specs[i]);
  }

  // Prefetched bytes: each matrix divided equally over the row's blocks. n: concurrent products of this kind, one per
  // expert.
  void set_ahead(ProductRow& row, const ProductSpec& product, uint32_t n = 1) const {
    if (!is_present(product)) return;
    const GemvSpec& spec = std::get<GemvSpec>(product);
    const std::vector<ProductMatrix> matrices = matrices_of(spec);
    const auto part = [&](const ProductMatrix& matrix) {
      const uint64_t all = spec.rows * matrix.row_bytes / row.n_blocks, max = ahead_of_block_ / (n * matrices.size());
      return static_cast<uint32_t>(std::min(all, max) / kAheadMultiple * kAheadMultiple);
    };
    row.ahead = part(matrices[0]);
    if (is_swiglu(spec.epilogue)) row.up_ahead = part(matrices.at(1));
  }

  void set_attention(LayerRow& row, size_t i) const {
    const LayerSpecs& s = specs_.layers[i];
    const LayerMatrices<uint64_t>& m = at_.layers[i].matrices;
    const LayerVectors<uint64_t>& v = at_.layers[i].vectors;
    row.first[0] = product(s.q, variants_.normed, {m.q, 0, v.attn_norm, v.q_bias, at_.q});
    row.first[1] = product(s.k, variants_.normed, {m.k, 0, v.attn_norm, v.k_bias, at_.k});
    row.first[2] = product(s.v, variants_.normed, {m.v, 0, v.attn_norm, v.v_bias, at_.v});
    row.first[3] = product(s.q_gate, variants_.normed, {m.q_gate, 0, v.attn_norm, 0, at_.q_gate});
    const size_t n = is_present(s.q_gate) ? 4 : 3;
    share(std::span(row.first, n), std::array{&s.q, &s.k, &s.v, &s.q_gate});
    row.output = product(s.output, variants_.output, {m.output, 0, 0, v.output_bias, at_.hidden});
    set_ahead(row.output, s.output);
    row.q_gamma = v.q_norm, row.k_gamma = v.k_norm;
    row.rope = specs_.ropes.at(i);
  }

  void set_delta_net(LayerRow& row, size_t i, uint32_t place) const {
    const DeltaSpecs& s = specs_.deltas[i];
    const LayerAddresses& layer = at_.layers[i];
    const DeltaMatrices<uint64_t>& m = layer.delta_matrices;
    const uint64_t gamma = layer.vectors.attn_norm;
    row.first[0] = product(s.qkv, variants_.normed, {m.qkv, 0, gamma, 0, at_.qkv});
    row.first[1] = product(s.z, variants_.normed, {m.z, 0, gamma, 0, at_.z});
    row.first[2] = product(s.alpha, variants_.normed, {m.alpha, 0, gamma, 0, at_.alpha});
    row.first[3] = product(s.beta, variants_.normed, {m.beta, 0, gamma, 0, at_.beta});
    share(row.first, std::array{&s.qkv, &s.z, &s.alpha, &s.beta});
    row.output = product(specs_.layers[i].output, variants_.output, {layer.matrices.output, 0, 0, 0, at_.hidden});
    set_ahead(row.output, specs_.layers[i].output);
    const DeltaVectors<uint64_t>& v = layer.delta_vectors;
    row.conv = v.conv, row.dt_bias = v.dt_bias, row.decay = v.decay, row.delta_norm = v.norm;
    row.place = place;
  }

  void set_dense(LayerRow& row, size_t i) const {
    const LayerSpecs& s = specs_.layers[i];
    const LayerMatrices<uint64_t>& m = at_.layers[i].matrices;
    const LayerVectors<uint64_t>& v = at_.layers[i].vectors;
    row.gate_up =
        product(s.gate_up, variants_.gate_up, {m.gate, m.up, v.ffn_norm, at_.layers[i].gate_up_bias, at_.inner});
    row.down = product(s.down, variants_.down, {m.down, 0, 0, v.down_bias, at_.hidden});
    set_ahead(row.gate_up, s.gate_up), set_ahead(row.down, s.down);
  }

  void set_experts(LayerRow& row, size_t i) const {
    const ExpertSpecs& s = specs_.experts[i];
    const ExpertMatrices<uint64_t>& m = at_.layers[i].experts;
    const LayerVectors<uint64_t>& v = at_.layers[i].vectors;
    ProductRow normed[] = {product(s.router, variants_.normed, {m.router, 0, v.ffn_norm, 0, at_.scores}),
                           product(s.shared_expert_gate, variants_.normed,
                                   {v.shared_expert_gate, 0, v.ffn_norm, 0, at_.shared_expert_gate})};
    const size_t n = s.sum.has_shared ? 2 : 1;
    share(std::span(normed, n), std::array{&s.router, &s.shared_expert_gate});
    row.router = normed[0], row.shared_expert_gate = normed[1];
    row.gate_up =
        product(s.shared_gate_up, variants_.gate_up, {m.shared_gate, m.shared_up, v.ffn_norm, 0, at_.shared_inner});
    row.expert_gate_up = of_experts(s.gate_up, variants_.gate_up, {m.gate, m.up, v.ffn_norm, 0, at_.expert_inner});
    share_with_shared(row.expert_gate_up, s.gate_up, row.gate_up, s.shared_gate_up);
    row.down = product(s.shared_down, variants_.down, {m.shared_down, 0, 0, 0, at_.shared_output});
    row.expert_down = of_experts(s.down, variants_.down, {m.down, 0, 0, 0, at_.expert_outputs});
    share_with_shared(row.expert_down, s.down, row.down, s.shared_down);
    set_ahead(row.expert_down, s.down.product, s.down.n_used);
    set_ahead(row.gate_up, s.shared_gate_up), set_ahead(row.down, s.shared_down);
  }

  ProductRow of_experts(const ExpertProductSpec& spec, const std::vector<GemvSpec>& of_phase, const Operands& o) const {
    ProductRow row = product(spec.product, of_phase, o);
    row.stride = expert_stride(spec.product.weights, spec.product);
    row.up_stride = expert_stride(spec.product.up.value_or(spec.product.weights), spec.product);
    return row;
  }

  void share_with_shared(ProductRow& row, const ExpertProductSpec& spec, ProductRow& shared,
                         const ProductSpec& shared_spec) const {
    if (!is_present(shared_spec)) return;
    const std::array<ProductRow*, 2> rows = {&row, &shared};
    const std::array<uint64_t, 2> bytes = {spec.n_used * matrix_bytes(spec.product), matrix_bytes(shared_spec)};
    share_blocks(rows, bytes, n_blocks_);
  }

  const DecoderSpecs& specs_;
  const DecoderAddresses& at_;
  uint32_t n_blocks_;
  uint64_t ahead_of_block_;
  ProductVariants variants_;
};

}  // namespace

std::vector<LayerRow> layer_rows(const DecoderSpecs& specs, const DecoderAddresses& at, uint32_t n_blocks,
                                 uint64_t bytes_ahead) {
  return TableWriter(specs, at, n_blocks, bytes_ahead).write();
}

std::vector<uint64_t> activation_arguments(const DecoderSpecs& specs, const DecoderAddresses& at) {
  std::vector<uint64_t> all = {at.hidden, at.q, at.k, at.v, at.mixed, at.inner, at.logits};
  if (std::get<AttentionSpec>(specs.attention).gated) all.push_back(at.q_gate);
  if (specs.delta_net.n_v_heads > 0) all.insert(all.end(), {at.qkv, at.z, at.alpha, at.beta, at.delta_mixed});
  if (!specs.experts.empty()) all.insert(all.end(), {at.scores, at.expert_inner, at.expert_outputs, at.routes});
  if (!specs.experts.empty() && specs.experts[0].sum.has_shared)
    all.insert(all.end(), {at.shared_inner, at.shared_output, at.shared_expert_gate});
  return all;
}

}  // namespace warpchat
