// From a model's sizes and formats to the specs of its kernels.
#include "kernels/kernel_list.h"

#include <set>
#include <string>

namespace warpchat {

namespace {

LayerSpecs layer_specs(const ModelConfig& c, const LayerFormats& f, uint32_t columns) {
  const uint32_t q_width = c.n_heads * c.head_dim, kv_width = c.n_kv_heads * c.head_dim;
  const auto product = [&](TensorType weights, uint32_t rows, uint32_t k, GemvPrologue prologue,
                           GemvEpilogue epilogue) {
    return GemvSpec{weights, rows, k, columns, prologue, epilogue, c.rms_eps};
  };
  const auto projection = [&](TensorType weights, uint32_t rows, bool bias) {
    return product(weights, rows, c.hidden, GemvPrologue::kRmsNorm, bias ? GemvEpilogue::kBias : GemvEpilogue::kStore);
  };
  LayerSpecs layer{
      .q = projection(f.q, q_width, f.q_bias),
      .k = projection(f.k, kv_width, f.k_bias),
      .v = projection(f.v, kv_width, f.v_bias),
      .output = product(f.output, c.hidden, q_width, GemvPrologue::kNone, GemvEpilogue::kResidual),
      .gate_up = product(f.gate, c.ffn, c.hidden, GemvPrologue::kRmsNorm, GemvEpilogue::kSwiglu),
      .down = product(f.down, c.hidden, c.ffn, GemvPrologue::kNone, GemvEpilogue::kResidual),
  };
  layer.gate_up.up = f.up;
  return layer;
}

}  // namespace

DecoderFormats formats_of(const ModelTensors& tensors) {
  DecoderFormats formats{tensors.token_embd->type, tensors.output->type, {}};
  for (const LayerTensors& t : tensors.layers)
    formats.layers.push_back({t.attn_q->type, t.attn_k->type, t.attn_v->type, t.attn_output->type, t.ffn_gate->type,
                              t.ffn_up->type, t.ffn_down->type, t.attn_q_bias != nullptr, t.attn_k_bias != nullptr,
                              t.attn_v_bias != nullptr, t.attn_q_norm != nullptr});
  return formats;
}

DecoderSpecs decoder_specs(const ModelConfig& c, const DecoderFormats& formats, uint32_t context, uint32_t columns) {
  const bool qk_norm = formats.layers.at(0).qk_norm;  // an architecture has it in every layer or in none
  DecoderSpecs specs{
      .embedding = {formats.token_embd, c.n_vocab, c.hidden, columns},
      .kv_scatter = {c.n_heads, c.n_kv_heads, c.head_dim, c.rope_dims, c.rope_pairing, context, columns, qk_norm,
                     qk_norm ? c.rms_eps : 0, c.rope_magnitude, c.rope_frequencies},
      .attention = {c.n_heads, c.n_kv_heads, c.head_dim, context, columns},
      .layers = {},
      .logits = {formats.output, c.n_vocab, c.hidden, columns, GemvPrologue::kRmsNorm, GemvEpilogue::kStore, c.rms_eps},
  };
  specs.attention.lengths_are_positions = true;
  for (const LayerFormats& layer : formats.layers) specs.layers.push_back(layer_specs(c, layer, columns));
  return specs;
}

std::vector<ptx::Kernel> decoder_kernels(const DecoderSpecs& specs, ptx::Target target) {
  std::vector<ptx::Kernel> kernels;
  std::set<std::string> names;
  const auto add = [&](ptx::Kernel kernel) {
    if (names.insert(kernel.name).second) kernels.push_back(std::move(kernel));
  };
  const auto add_gemv = [&](const GemvSpec& spec) {
    if (!names.contains(name_of(spec))) add(gemv(spec, target));
  };
  add(embedding(specs.embedding, target));
  add(kv_scatter(specs.kv_scatter, target));
  add(incremental_attention(specs.attention, target));
  for (const LayerSpecs& layer : specs.layers) {
    for (const GemvSpec* spec : {&layer.q, &layer.k, &layer.v}) add_gemv(*spec);
    for (const GemvSpec* spec : {&layer.output, &layer.gate_up, &layer.down}) add_gemv(*spec);
  }
  add_gemv(specs.logits);
  return kernels;
}

}  // namespace warpchat
