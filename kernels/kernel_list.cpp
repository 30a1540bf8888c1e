// From a model's sizes and formats to the specs of its kernels.
#include "kernels/kernel_list.h"

#include <algorithm>
#include <set>
#include <string>

#include "kernels/columns.h"
#include "kernels/conv_prompt.h"
#include "kernels/delta_chunk.h"
#include "kernels/gemm_plan.h"
#include "kernels/token_functions.h"
#include "kernels/weight_unit.h"
#include "models/kernel_type.h"

namespace warpchat {

namespace {

constexpr uint32_t kMinGemmRows = 16, kMaxGemmColumns = 64;  // columns per block
// Split-K for a batch's products, tuned for a GPU of about this many multiprocessors. A single-matrix product is split
// until nearly all multiprocessors have a block, with a minimum of tiles per split because partial sums must be added;
// or in two, if a warp would go over many tiles.
constexpr uint32_t kBatchProcessors = 132, kBatchWarps = 4, kBatchBlocks = 128, kMinPartTiles = 2, kManyPartTiles = 9;

uint32_t batch_row_blocks(uint32_t rows) { return ceil_div(rows, kBatchWarps * 16); }

uint32_t split_k_of(uint32_t n_blocks, uint32_t k) {
  const uint32_t n_tiles = ceil_div(k, kGemmTileK);
  const uint32_t of_two = std::min(ceil_div(2 * kBatchBlocks, n_blocks), ceil_div(n_tiles, kManyPartTiles));
  const uint32_t wanted = std::max(ceil_div(kBatchBlocks, n_blocks), of_two);
  return std::clamp(std::min(wanted, n_tiles / kMinPartTiles), 1u, kMaxSplitK);
}

// Pages per block such that, in contexts of about this length, the blocks of all columns run at once, two per
// multiprocessor.
uint32_t pages_per_block(const AttentionSpec& spec) {
  constexpr uint32_t kPages = 16;
  if (!takes_several_pages(spec)) return 1;
  const uint32_t caches = std::min(spec.columns, kMaxGemmColumns) * spec.n_kv_heads;
  return ceil_div(kPages, std::clamp(2 * kBatchProcessors / caches, 1u, kPages));
}

// With two matrices: the warps per block that minimise the rows of the busiest multiprocessor.
uint32_t swiglu_warps(uint32_t rows) {
  const auto busiest = [&](uint32_t warps) {
    return ceil_div(ceil_div(rows, warps / 2 * 16), kBatchProcessors) * warps;
  };
  return std::ranges::min({16u, 12u, 8u}, {}, busiest);
}

bool gemm_takes(const GemvSpec& spec) {
  const auto takes = [&](TensorType type) { return has_gemm(type); };
  return spec.rows >= kMinGemmRows && takes(spec.weights) && takes(spec.up.value_or(spec.weights));
}

ProductSpec product_of(GemvSpec gemv, PassKind kind, uint32_t columns) {
  if (kind == PassKind::kDecode) return gemv;
  if ((kind == PassKind::kPrefill || kind == PassKind::kBatch) && gemm_takes(gemv)) {
    GemmSpec gemm{gemv.weights, gemv.rows, gemv.k, gemv.epilogue, gemv.up};
    if (kind == PassKind::kBatch) {
      gemm.columns_per_block = std::min(kMaxGemmColumns, ceil_div(columns, 8) * 8);
      const bool has_two = is_swiglu(gemm.epilogue);
      gemm.warps = has_two ? swiglu_warps(gemm.rows) : kBatchWarps;
      if (!has_two) gemm.split_k = split_k_of(batch_row_blocks(gemm.rows), gemm.k);
    }
    return gemm;
  }
  gemv.columns = std::min(columns, kGemvColumns);
  return gemv;
}

// Fused products of one input: split-K for the blocks of all of them together.
void share_parts(std::initializer_list<ProductSpec*> of_one_input) {
  uint32_t n_blocks = 0;
  const auto for_each_split_k = [&](const auto& visit) {
    for (ProductSpec* product : of_one_input)
      if (auto* gemm = std::get_if<GemmSpec>(product); gemm != nullptr && gemm->split_k > 0) visit(*gemm);
  };
  for_each_split_k([&](const GemmSpec& gemm) { n_blocks += batch_row_blocks(gemm.rows); });
  for_each_split_k([&](GemmSpec& gemm) { gemm.split_k = split_k_of(n_blocks, gemm.k); });
}

LayerSpecs layer_specs(const ModelConfig& c, const LayerConfig& layer, const LayerFormats& f, PassKind kind,
                       uint32_t columns) {
  const LayerMatrices<TensorType>& m = f.matrices;
  const uint32_t q_width = c.n_heads * c.head_dim, kv_width = c.n_kv_heads * c.head_dim;
  const auto product = [&](TensorType weights, uint32_t rows, uint32_t k, GemvPrologue prologue,
                           GemvEpilogue epilogue) {
    return GemvSpec{weights, rows, k, 1, prologue, epilogue, c.rms_eps};
  };
  const auto projection = [&](TensorType weights, uint32_t rows, bool bias) {
    const GemvEpilogue epilogue = bias ? GemvEpilogue::kBias : GemvEpilogue::kStore;
    return product_of(product(weights, rows, c.hidden, GemvPrologue::kRmsNorm, epilogue), kind, columns);
  };
  const auto residual = [&](TensorType weights, uint32_t k, bool bias) {
    const GemvEpilogue epilogue = bias ? GemvEpilogue::kBiasResidual : GemvEpilogue::kResidual;
    return product_of(product(weights, c.hidden, k, GemvPrologue::kNone, epilogue), kind, columns);
  };
  LayerSpecs specs;
  switch (layer.mixer) {
    case Mixer::kDeltaNet:
      specs.output = residual(m.output, c.delta_net.inner(), false);
      break;
    case Mixer::kAttention:
      if (c.gated_attention) specs.q_gate = projection(m.q_gate, q_width, false);
      specs.q = projection(m.q, q_width, f.has.q_bias);
      specs.k = projection(m.k, kv_width, f.has.k_bias);
      specs.v = projection(m.v, kv_width, f.has.v_bias);
      share_parts({&specs.q, &specs.k, &specs.v, &specs.q_gate});
      specs.output = residual(m.output, q_width, f.has.output_bias);
      break;
  }
  switch (layer.ffn) {
    case Ffn::kExperts:
      break;  // see expert_specs
    case Ffn::kDense:
      const bool bias = f.has.gate_bias || f.has.up_bias;
      const GemvEpilogue epilogue = bias ? GemvEpilogue::kBiasSwiglu : GemvEpilogue::kSwiglu;
      GemvSpec gate_up = product(m.gate, c.ffn, c.hidden, GemvPrologue::kRmsNorm, epilogue);
      gate_up.up = m.up;
      specs.gate_up = product_of(gate_up, kind, columns);
      specs.down = residual(m.down, c.ffn, f.has.down_bias);
      break;
  }
  return specs;
}

// For normalised columns; avoids f16 tensor cores, which would round the weights.
ProductSpec exact_product(const ModelConfig& c, TensorType weights, uint32_t rows, uint32_t columns) {
  return GemvSpec{
      weights,  rows, c.hidden, std::min(columns, kGemvColumns), GemvPrologue::kRmsNorm, GemvEpilogue::kStore,
      c.rms_eps};
}

DeltaSpecs delta_specs(const ModelConfig& c, const LayerConfig& layer, const LayerFormats& f, PassKind kind,
                       uint32_t columns) {
  if (layer.mixer != Mixer::kDeltaNet) return {};
  const DeltaNetConfig& net = c.delta_net;
  const auto product = [&](TensorType weights, uint32_t rows) {
    return product_of({weights, rows, c.hidden, 1, GemvPrologue::kRmsNorm, GemvEpilogue::kStore, c.rms_eps}, kind,
                      columns);
  };
  // So few rows that a block of a batch GEMM would run alone, for longer than gemv takes.
  const auto of_heads = [&](TensorType weights) {
    return kind == PassKind::kPrefill ? product(weights, net.n_v_heads)
                                      : exact_product(c, weights, net.n_v_heads, columns);
  };
  DeltaSpecs specs{.qkv = product(f.delta.qkv, net.channels()),
                   .z = product(f.delta.z, net.inner()),
                   .alpha = of_heads(f.delta.alpha),
                   .beta = of_heads(f.delta.beta)};
  share_parts({&specs.qkv, &specs.z, &specs.alpha, &specs.beta});
  return specs;
}

ExpertSpecs expert_specs(const ModelConfig& c, const LayerFormats& f, PassKind kind, uint32_t columns) {
  const ExpertsConfig& e = c.experts;
  const ExpertMatrices<TensorType>& m = f.experts;
  const uint32_t at_once = std::min(columns, std::max(1u, ExpertSpecs::kMaxAssignments / e.n_used));
  using enum GemvPrologue;
  using enum GemvEpilogue;
  const auto product = [&](TensorType weights, uint32_t rows, uint32_t k, GemvPrologue prologue,
                           GemvEpilogue epilogue) {
    return GemvSpec{weights, rows, k, 1, prologue, epilogue, c.rms_eps};
  };
  const auto gate_up = [&](TensorType gate, TensorType up, uint32_t ffn) {
    GemvSpec spec = product(gate, ffn, c.hidden, kRmsNorm, kSwiglu);
    spec.up = up;
    return spec;
  };
  ExpertSpecs specs;
  specs.router = exact_product(c, m.router, e.n, columns);
  specs.route = {e.n, e.n_used, e.normalises, e.scale, columns};
  specs.gate_up = {gate_up(m.gate, m.up, e.ffn), e.n_used, /*by_column=*/true, at_once};
  specs.down = {product(m.down, c.hidden, e.ffn, kNone, kStore), e.n_used, /*by_column=*/false, at_once};
  specs.order = decoder_expert_order(e, columns);
  const auto grouped = [&](const ExpertProductSpec& assignments) -> std::optional<GemmSpec> {
    const ProductSpec of_many = product_of(assignments.product, kind, columns);
    if (!std::holds_alternative<GemmSpec>(of_many)) return {};
    GemmSpec gemm = std::get<GemmSpec>(of_many);
    gemm.columns_per_block = specs.order.tile;
    gemm.warps = gemm.split_k = 0;
    gemm.experts = e.n;
    gemm.assignments_per_input = assignments.by_column ? e.n_used : 1;
    return gemm;
  };
  specs.grouped_gate_up = grouped(specs.gate_up), specs.grouped_down = grouped(specs.down);
  specs.sum = {c.hidden, e.n_used, e.shared_ffn > 0, columns};
  if (e.shared_ffn == 0) return specs;
  specs.shared_gate_up = product_of(gate_up(m.shared_gate, m.shared_up, e.shared_ffn), kind, columns);
  specs.shared_down = product_of(product(m.shared_down, c.hidden, e.shared_ffn, kNone, kStore), kind, columns);
  specs.shared_expert_gate = exact_product(c, TensorType::kF32, 1, columns);
  return specs;
}

// Calls visit(gemm) for each GEMM of the specs.
template <class Visit>
void for_each_gemm(const DecoderSpecs& specs, const Visit& visit) {
  const auto visit_if_gemm = [&](const ProductSpec& product) {
    if (accepts_f16(product)) visit(std::get<GemmSpec>(product));
  };
  for_each_product(specs, visit_if_gemm);
  visit_if_gemm(specs.logits);
  for (const ExpertSpecs& e : specs.experts)
    for (const std::optional<GemmSpec>* grouped : {&e.grouped_gate_up, &e.grouped_down})
      if (*grouped) visit(**grouped);
}

// Gives single-matrix products one kernel that supports all their formats, so that products of one input can be fused.
// Formats that need many registers get a second kernel. The logits use the shared kernel too, if they differ only in
// format.
void join_formats(DecoderSpecs& specs) {
  const auto for_each_of_one_matrix = [&](const auto& visit) {
    for_each_product(specs, [&](ProductSpec& product) {
      if (auto* gemm = std::get_if<GemmSpec>(&product); gemm != nullptr && has_addends(*gemm)) visit(*gemm);
    });
  };
  std::vector<TensorType> few_registers, many_registers;
  const auto formats_beside = [&](TensorType format) -> std::vector<TensorType>& {
    return has_two_small_scales(format) ? many_registers : few_registers;
  };
  for_each_of_one_matrix([&](const GemmSpec& gemm) {
    std::vector<TensorType>& formats = formats_beside(gemm.weights);
    if (std::ranges::find(formats, gemm.weights) == formats.end()) formats.push_back(gemm.weights);
  });
  std::set<std::string> names;
  for_each_of_one_matrix([&](GemmSpec& gemm) {
    gemm.formats = formats_beside(gemm.weights);
    names.insert(name_of(gemm));
  });
  auto* logits = std::get_if<GemmSpec>(&specs.logits);
  if (logits == nullptr) return;
  GemmSpec joined = *logits;
  joined.formats = formats_beside(logits->weights);
  const bool is_taken = std::ranges::find(joined.formats, joined.weights) != joined.formats.end();
  if (is_taken && names.contains(name_of(joined))) *logits = joined;
}

std::optional<IntActivationsSpec> int_activations_of(const DecoderSpecs& specs, float eps) {
  bool is_needed = accepts_int(specs.logits);
  for_each_product(specs, [&](const ProductSpec& product) { is_needed |= accepts_int(product); });
  return is_needed ? std::optional(IntActivationsSpec{eps}) : std::nullopt;
}

std::optional<F16ActivationsSpec> f16_activations_of(const DecoderSpecs& specs, float eps) {
  std::optional<F16ActivationsSpec> f16_activations;
  for_each_gemm(specs, [&](const GemmSpec& gemm) {
    if (!f16_activations) f16_activations.emplace(eps);
    f16_activations->has_quads &= gemm.k % 4 == 0;
  });
  return f16_activations;
}

// Whether attention can write f16 for every product that reads its output.
bool attention_writes_f16(const ModelConfig& c, const DecoderSpecs& specs) {
  if (specs.kind != PassKind::kBatch || !can_write_f16(std::get<AttentionSpec>(specs.attention))) return false;
  for (size_t i = 0; i < specs.layers.size(); ++i)
    if (c.layers.at(i).mixer == Mixer::kAttention && !accepts_f16(specs.layers[i].output)) return false;
  return true;
}

}  // namespace

// Tiles hold twice an expert's average number of assignments: few experts then need a second tile, and few columns of a
// block are empty.
ExpertOrderSpec decoder_expert_order(const ExpertsConfig& e, uint32_t columns) {
  const uint64_t twice_average = (2 * uint64_t{columns} * e.n_used + e.n - 1) / e.n;
  const uint64_t tile = std::min<uint64_t>(kMaxGemmColumns, (twice_average + 7) / 8 * 8);
  return {e.n, e.n_used, static_cast<uint32_t>(tile), columns};
}

bool is_present(const ProductSpec& product) {
  return std::visit([](const auto& spec) { return spec.rows > 0; }, product);
}

bool accepts_f16(const ProductSpec& product) { return std::holds_alternative<GemmSpec>(product); }

bool accepts_int(const ProductSpec& product) {
  const auto* gemv = std::get_if<GemvSpec>(&product);
  return gemv != nullptr && gemv->columns > 1 && !is_float(gemv->weights);
}

bool writes_f16(const DecoderAttentionSpec& attention) {
  const auto* incremental = std::get_if<AttentionSpec>(&attention);
  return incremental != nullptr && incremental->writes_f16;
}

std::vector<FusedProducts> fuse(const std::vector<const ProductSpec*>& of_one_input) {
  FusedGemv gemvs;
  std::vector<FusedGemm> gemms;  // one per kernel
  for (const ProductSpec* product : of_one_input) {
    if (const auto* gemv = std::get_if<GemvSpec>(product)) {
      if (can_fuse(*gemv)) gemvs.products.push_back(*gemv);
      continue;
    }
    const GemmSpec& gemm = std::get<GemmSpec>(*product);
    if (gemm.formats.empty()) continue;
    const auto own = std::ranges::find(gemms, name_of(gemm), [](const FusedGemm& all) { return name_of(all); });
    own != gemms.end() ? own->products.push_back(gemm) : gemms.push_back({{gemm}});
  }
  std::vector<FusedProducts> launches;
  if (gemvs.products.size() > 1) launches.emplace_back(std::move(gemvs));
  for (FusedGemm& all : gemms)
    if (all.products.size() > 1) launches.emplace_back(std::move(all));
  return launches;
}

bool is_fused_into(const FusedProducts& all, const ProductSpec& product) {
  const auto* gemms = std::get_if<FusedGemm>(&all);
  if (const auto* gemv = std::get_if<GemvSpec>(&product)) return gemms == nullptr && can_fuse(*gemv);
  return gemms != nullptr && name_of(std::get<GemmSpec>(product)) == name_of(*gemms);
}

PassKind kind_of_tokens(uint32_t n_sequences) {
  return n_sequences == 1 ? PassKind::kDecode : n_sequences <= kFewSequences ? PassKind::kSmallBatch : PassKind::kBatch;
}

DecoderFormats formats_of(const ModelTensors& tensors) {
  const auto type_of = [](const TensorInfo* matrix) { return matrix ? kernel_type(matrix->type) : TensorType::kF32; };
  DecoderFormats formats{type_of(tensors.token_embd), type_of(tensors.output), {}, tensors.output_bias != nullptr};
  for (const LayerTensors& t : tensors.layers)
    formats.layers.push_back({map(t.matrices, type_of),
                              map(t.vectors, [](const TensorInfo* vector) { return vector != nullptr; }),
                              map(t.experts, type_of), map(t.delta_matrices, type_of)});
  return formats;
}

DecoderAttentionSpec decoder_attention(const ModelConfig& c, uint32_t context, PassKind kind, uint32_t columns,
                                       KvTypes cache) {
  const bool flash_takes_heads = c.head_dim >= 64 && c.head_dim % 16 == 0;
  if (kind == PassKind::kPrefill && flash_takes_heads)
    return FlashAttentionSpec{c.n_heads, c.n_kv_heads, c.head_dim, context,          true,
                              0,         cache.k,      cache.v,    c.gated_attention};
  // It writes the keys that the next column of a draft reads.
  AttentionSpec spec{c.n_heads, c.n_kv_heads, c.head_dim, context, kind == PassKind::kVerify ? 1 : columns};
  spec.lengths_are_positions = true;
  spec.k_type = cache.k, spec.v_type = cache.v;
  spec.gated = c.gated_attention;
  if (kind == PassKind::kBatch) spec.pages_per_block = pages_per_block(spec);
  if (kind != PassKind::kPrefill) return spec;
  spec.columns = kGemvColumns;
  spec.one_sequence = true;
  return spec;
}

DecoderSpecs decoder_specs(const ModelConfig& c, const DecoderFormats& formats, uint32_t context, PassKind kind,
                           uint32_t columns, KvTypes cache) {
  // An architecture has QK norm in every attention layer or in none.
  const bool qk_norm = std::ranges::any_of(formats.layers, [](const LayerFormats& f) { return f.has.q_norm; });
  const GemvEpilogue of_logits = formats.has_output_bias ? GemvEpilogue::kBias : GemvEpilogue::kStore;
  const GemvSpec logits{formats.output, c.n_vocab, c.hidden, 1, GemvPrologue::kRmsNorm, of_logits, c.rms_eps};
  DecoderSpecs specs{
      .kind = kind,
      .embedding = {formats.token_embd, c.n_vocab, c.hidden, columns},
      .attention = decoder_attention(c, context, kind, columns, cache),
      .kv_scatters = {},
      .ropes = {},
      .layers = {},
      .experts = {},
      .deltas = {},
      .delta_net = {c.delta_net, c.rms_eps, columns, kind == PassKind::kPrefill},
      .logits = product_of(logits, kind, columns),
  };
  auto* tokens = kind == PassKind::kPrefill ? nullptr : &std::get<AttentionSpec>(specs.attention);
  std::vector<KvScatterSpec>& scatters = tokens ? tokens->scatters : specs.kv_scatters;
  for (const Rope& rope : c.ropes)
    scatters.push_back({c.n_heads, c.n_kv_heads, c.head_dim, c.rope_dims, c.rope_pairing, context,
                        tokens ? tokens->columns : columns, kind == PassKind::kPrefill, qk_norm,
                        qk_norm ? c.rms_eps : 0, rope.magnitude, rope.frequencies, cache.k, cache.v});
  for (size_t i = 0; i < formats.layers.size(); ++i) {
    const LayerConfig& layer = c.layers.at(i);
    specs.ropes.push_back(layer.rope);
    specs.layers.push_back(layer_specs(c, layer, formats.layers[i], kind, columns));
    if (c.gated_attention) specs.deltas.push_back(delta_specs(c, layer, formats.layers[i], kind, columns));
    if (c.experts.n > 0) specs.experts.push_back(expert_specs(c, formats.layers[i], kind, columns));
  }
  if (attention_writes_f16(c, specs)) std::get<AttentionSpec>(specs.attention).writes_f16 = true;
  join_formats(specs);
  specs.f16_activations = f16_activations_of(specs, c.rms_eps);
  specs.int_activations = int_activations_of(specs, c.rms_eps);
  return specs;
}

std::vector<ptx::Kernel> decoder_kernels(const DecoderSpecs& specs, ptx::Target target) {
  if (specs.kind == PassKind::kDecode)
    return token_kernels(specs, TokenFunctions(specs, /*loads_ahead=*/false, target), target);
  std::vector<ptx::Kernel> kernels;
  std::set<std::string> names;
  const auto add_product = [&](const ProductSpec& product) {
    if (!names.insert(name_of(product)).second) return;
    const auto* one = std::get_if<GemvSpec>(&product);
    kernels.push_back(one ? gemv(*one, target) : gemm(std::get<GemmSpec>(product), target));
  };
  kernels.push_back(embedding(specs.embedding, target));
  for (const KvScatterSpec& spec : specs.kv_scatters) kernels.push_back(kv_scatter(spec, target));
  const auto* one = std::get_if<AttentionSpec>(&specs.attention);
  kernels.push_back(one ? incremental_attention(*one, target)
                        : flash_attention(std::get<FlashAttentionSpec>(specs.attention), target));
  for_each_launch(specs, add_product, [&](const FusedProducts& all) {
    const auto* gemms = std::get_if<FusedGemm>(&all);
    if (gemms) return add_product(gemms->products[0]);
    if (names.insert(name_of(all)).second) kernels.push_back(fused_gemv(std::get<FusedGemv>(all), target));
  });
  add_product(specs.logits);
  if (specs.f16_activations) kernels.push_back(f16_activations(*specs.f16_activations, target));
  if (specs.int_activations) kernels.push_back(int_activations(*specs.int_activations, target));
  using Generate = ptx::Kernel (*)(const DeltaNetSpec&, ptx::Target);
  const auto add_delta_net = [&](std::initializer_list<Generate> all) {
    for (const Generate generate : all) kernels.push_back(generate(specs.delta_net, target));
  };
  if (takes_chunks(specs.delta_net))
    add_delta_net({conv_prompt, delta_prepare, delta_scan, delta_finish});
  else if (specs.delta_net.n_v_heads > 0)
    add_delta_net({conv_step, delta_step});
  const auto add = [&](const auto& spec, auto generate) {
    if (names.insert(name_of(spec)).second) kernels.push_back(generate(spec, target));
  };
  const auto add_assignments = [&](const ExpertProductSpec& assignments, const std::optional<GemmSpec>& grouped) {
    grouped ? add(*grouped, gemm) : add(assignments, expert_product);
  };
  for (const ExpertSpecs& e : specs.experts) {
    add(e.route, route), add(e.sum, expert_sum);
    if (e.has_order()) add(e.order, expert_order);
    add_assignments(e.gate_up, e.grouped_gate_up), add_assignments(e.down, e.grouped_down);
  }
  return kernels;
}

uint64_t batch_scratch_bytes(uint32_t columns) {
  const uint64_t of_block = uint64_t{kBatchWarps} * 16 * kMaxGemmColumns * sizeof(float);
  return kGemmArrivalsBytes + of_block * (4 * kBatchBlocks) * ceil_div(columns, kMaxGemmColumns);
}

std::string name_of(const ProductSpec& spec) {
  return std::visit([](const auto& s) { return name_of(s); }, spec);
}

std::string name_of(const FusedProducts& all) {
  return std::visit([](const auto& a) { return name_of(a); }, all);
}

std::string name_of(const DecoderAttentionSpec& spec) {
  return std::visit([](const auto& s) { return name_of(s); }, spec);
}

}  // namespace warpchat
