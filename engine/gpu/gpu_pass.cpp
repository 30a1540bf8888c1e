// The decoder's steps in decoder order. Each is one to three kernels, with arguments in the kernel's order. Decode,
// small batches, batches and prefill have separate kernels. A pass has one segment for all single tokens and one per
// longer run, so that a token's computation does not depend on prompts in the same pass. Prefill kernels are compiled
// during the upload of weights, decode kernels during the first prefill, batch kernels when first needed.
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "engine/gpu/gpu_decoder_steps.h"
#include "engine/pass_length.h"
#include "kernels/columns.h"
#include "kernels/delta_chunk.h"
#include "models/half.h"

namespace warpchat {

void GpuSteps::run(const GpuStep& step, const Arguments& arguments, ptx::Dimensions blocks, uint64_t bytes) {
  const auto launch = [&] { step.kernel->launch(stream_, std::span(arguments.items).first(arguments.n), blocks); };
  if (graphs_.is_open()) return graphs_.add({step.operation, bytes}, launch);
  launch();
  timer_.launched(step.operation, bytes);
}

void GpuSteps::run(const GpuStep& step, Arguments arguments) {
  const ptx::Kernel& kernel = step.kernel->kernel();
  ptx::Dimensions blocks = kernel.launch.blocks;
  const uint32_t max = blocks.y;  // the kernel has at least one block in y per possible column
  if (segment_.kind != PassKind::kDecode) {
    arguments.add(segment_.n_columns);
    blocks.y = segment_.n_columns;
  }
  run(step, arguments, blocks, kernel.cost.bytes / max * segment_.n_columns);
}

void GpuSteps::convert_to_f16(const GpuStep& step, const Input& input, uint32_t n_columns) {
  const uint32_t k = input.x.width;
  run(step, {at(input.x), at(input.gamma), at(halves()), at(half_factors()), k}, {n_columns},
      f16_activations_bytes(k, input.gamma != 0, n_columns));
}

void GpuSteps::quantize_activations(const GpuStep& step, const Input& input, uint32_t n_columns) {
  const uint32_t k = input.x.width;
  run(step, {at(input.x), at(input.gamma), at(integers()), at(integer_factors()), k, n_columns},
      {int_activation_blocks(n_columns)}, int_activations_bytes(k, input.gamma != 0, n_columns));
}

void GpuSteps::multiply(PassKernels& kernels, const Input& input, std::initializer_list<Product> products,
                        uint32_t n_columns, const FusedSteps& fused) {
  if (!input.has_f16 && std::ranges::any_of(products, [](const Product& p) { return accepts_f16(p.step.spec); }))
    convert_to_f16(kernels.steps().f16_activations, input, n_columns);
  if (std::ranges::any_of(products, [](const Product& p) { return accepts_int(p.step.spec); }))
    quantize_activations(kernels.steps().int_activations, input, n_columns);
  for (const FusedStep& all : fused) multiply_fused(all, input, products, n_columns);
  for (const Product& product : products)
    if (is_present(product.step.spec) && !is_fused_into_any(fused, product.step.spec))
      multiply(product, input, n_columns);
}

void GpuSteps::multiply_fused(const FusedStep& fused, const Input& input, std::initializer_list<Product> products,
                              uint32_t n_columns) {
  std::vector<const Product*> own;
  for (const Product& product : products)
    if (is_fused_into(fused, product.step.spec)) own.push_back(&product);
  const GpuStep& step = fused.step;
  const auto* gemvs = std::get_if<FusedGemv>(&fused.spec);
  if (gemvs == nullptr) return multiply_halves(step, input, own, n_columns);
  Arguments arguments{};
  for (const Product* product : own)
    arguments.add(at(product->weights)), arguments.add(at(product->bias)), arguments.add(at(product->y));
  arguments.add(at(integers())), arguments.add(at(integer_factors())), arguments.add(n_columns);
  run(step, arguments, {step.kernel->kernel().launch.blocks.x, ceil_div(n_columns, kGemvColumns)},
      fused_gemv_bytes(*gemvs, n_columns));
}

// Runs several products in one kernel.
void GpuSteps::multiply_halves(const GpuStep& step, const Input& input, std::span<const Product* const> products,
                               uint32_t n_columns) {
  Arguments arguments{};
  FusedGemm all;
  for (const Product* product : products) {
    const GemmSpec& spec = all.products.emplace_back(std::get<GemmSpec>(product->step.spec));
    const uint64_t y = address_of(product->y);
    arguments.add(at(product->weights)), arguments.add(at(product->bias));
    arguments.add(at(adds_residual(spec.epilogue) ? y : 0)), arguments.add(at(y));
  }
  const auto add_numbers = [&](const auto& number_of) {
    for (const GemmSpec& spec : all.products) arguments.add(number_of(spec));
    for (size_t i = all.products.size(); i < kMaxGemmProducts; ++i) arguments.add(0u);
  };
  for (size_t i = 4 * all.products.size(); i < 4 * kMaxGemmProducts; ++i) arguments.add(at(uint64_t{0}));
  add_halves(arguments, input, n_columns);
  const GemmSpec& first = all.products[0];
  if (first.split_k > 1) arguments.add(at(activations_.address() + plan_.batch_scratch));
  add_numbers([](const GemmSpec& spec) { return spec.rows; });
  if (first.formats.size() > 1) add_numbers(format_number);
  arguments.add(first.k), arguments.add(n_columns);
  run(step, arguments, gemm_grid(all, n_columns), gemm_cost(all, n_columns).bytes);
}

void GpuSteps::add_halves(Arguments& arguments, const Input& input, uint32_t n_columns) const {
  arguments.add(at(input.has_f16 ? halves_of(input.x, 0) : halves()));
  arguments.add(at(input.has_f16 ? halves_of(input.x, n_columns) : half_factors()));
}

void GpuSteps::multiply(const Product& product, const Input& input, uint32_t n_columns) {
  const ProductStep& step = product.step;
  const auto* gemm = std::get_if<GemmSpec>(&step.spec);
  if (gemm != nullptr && !gemm->formats.empty())
    return multiply_halves(step.step, input, std::array{&product}, n_columns);
  for (uint32_t first = 0; first < n_columns;) {
    const uint32_t columns = std::min(n_columns - first, step.columns_at_once());
    Arguments arguments{at(product.weights)};
    arguments.add_unless_null(product.up);
    const uint64_t y = column_of(product.y, first);
    if (accepts_int(step.spec)) {
      arguments.add(at(integers())), arguments.add(at(integer_factors()));
      arguments.add_unless_null(product.bias);
    } else if (gemm == nullptr) {
      arguments.add(at(column_of(input.x, first)));
      arguments.add_unless_null(input.gamma), arguments.add_unless_null(product.bias);
    } else {
      add_halves(arguments, input, n_columns);
      if (has_addends(*gemm))
        arguments.add(at(product.bias)), arguments.add(at(adds_residual(gemm->epilogue) ? y : 0));
      else
        arguments.add_unless_null(product.bias);
      if (gemm->split_k > 1) arguments.add(at(activations_.address() + plan_.batch_scratch));
    }
    arguments.add(at(y));
    if (gemm != nullptr) arguments.add(gemm->rows), arguments.add(gemm->k);
    if (step.takes_columns()) arguments.add(columns);
    run(step.step, arguments, step.blocks(columns), step.bytes(columns));
    first += columns;
  }
}

void GpuSteps::begin(std::span<const Run> runs) {
  uint64_t n_columns = 0;
  for (const Run& run : runs) {
    require(run.position + run.tokens.size() <= sizes_.context && run.sequence < sizes_.sequences,
            "pass with a position or sequence out of range");
    require(!run.verify_draft || (runs.size() == 1 && run.tokens.size() <= kMaxVerifyTokens),
            "draft verification of too many tokens, or beside another run");
    n_columns += run.tokens.size();
  }
  require(n_columns > 0 && n_columns <= max_columns(), "pass with no columns or too many");
  context_->make_current();
  graphs_.forget();  // drops an interrupted pass
  upload_pass(lay_out(runs));
  require(pass_.logits_columns.size() <= max_logits_columns(), "pass that wants too many logits");
  begin_pass();
  pass_began_.reset();
  if (!pass_.has_prompts()) return;
  pass_began_ = std::make_shared<GpuEvent>(context_, GpuEvent::Timing::kOn);
  stream_.record(*pass_began_);
}

PassEnd GpuSteps::end_pass() {
  const auto ended = std::make_shared<GpuEvent>(context_, GpuEvent::Timing::kOn);
  stream_.record(*ended);
  return [began = pass_began_, ended](bool wait) -> std::optional<double> {
    if (wait) ended->wait();
    if (!wait && !ended->has_come()) return std::nullopt;
    return began ? ended->seconds_since(*began) : 0;
  };
}

void GpuSteps::upload_pass(PassLayout layout) {
  pass_ = std::move(layout);
  segment_ = pass_.segments.front();
  std::vector<uint32_t> words;
  const auto add = [&](uint64_t address) {
    words.insert(words.end(), {static_cast<uint32_t>(address), static_cast<uint32_t>(address >> 32)});
  };
  for (const uint32_t sequence : pass_.sequences) add(page_table(sequence));
  for (const uint32_t sequence : pass_.sequences) add(state_address(sequence));
  words.insert(words.end(), pass_.words.begin(), pass_.words.end());
  upload(pass_address(), words);
}

void GpuSteps::upload(uint64_t to, std::span<const uint32_t> words) {
  Slot& slot = slots_[next_slot_++ % slots_.size()];
  slot.copied.wait();
  const std::span<uint32_t> pinned = slot.bytes.as<uint32_t>().first(words.size());
  std::copy(words.begin(), words.end(), pinned.begin());
  stream_.upload(to, std::as_bytes(pinned));
  stream_.record(slot.copied);
}

void GpuSteps::begin_pass() {
  for (const PassLayout::Segment& segment : pass_.segments) kernels_of(segment.kind).steps();
  has_arrived_ = false;
  timer_.begin();
  if (is_of_graphs()) graphs_.begin(pass_.n_columns(), segment_.kind == PassKind::kVerify);
}

template <class Body>
void GpuSteps::each_part(const Body& body) {
  for (const PassLayout::Segment& segment : pass_.segments) {
    segment_ = segment;
    body();
  }
  segment_ = pass_.segments.front();
}

// Columns of a draft verification share a recurrent state, so they run one after the other.
template <class Body>
void GpuSteps::for_each_state_column(const Body& body) {
  each_part([&] {
    if (segment_.kind != PassKind::kVerify) return body();
    const PassLayout::Segment run = segment_;
    for (uint32_t i = 0; i < run.n_columns; ++i) {
      segment_ = {.kind = run.kind, .first = run.first + i, .n_columns = 1, .first_sequence = run.first_sequence + i};
      body();
    }
  });
}

Buffer GpuSteps::segment_view(Buffer buffer) const {
  return {reinterpret_cast<void*>(column_of(buffer, segment_.first)), buffer.width};
}

void GpuSteps::embed(Buffer hidden) {
  each_part([&] {
    run(pass().embedding, {at(token_embd_), at(tokens()), at(segment_view(hidden)), at(error_address())});
  });
}

void GpuSteps::norm_qkv(uint32_t index, Buffer hidden, Buffer q, Buffer k, Buffer v) {
  const LayerMatrices<uint64_t>& w = layers_[index].matrices;
  const LayerVectors<uint64_t>& vectors = layers_[index].vectors;
  each_part([&] {
    const LayerSteps& step = pass().layers[index];
    multiply({segment_view(hidden), vectors.attn_norm},
             {{step.q, w.q, 0, vectors.q_bias, segment_view(q)},
              {step.k, w.k, 0, vectors.k_bias, segment_view(k)},
              {step.v, w.v, 0, vectors.v_bias, segment_view(v)},
              {step.q_gate, w.q_gate, 0, 0, segment_view(buffer(plan_.q_gate, q.width))}},
             pass().fused_layers[index]);
  });
}

void GpuSteps::attention(uint32_t index, Buffer q, Buffer k, Buffer v, Buffer mixed) {
  each_part([&] {
    const Projections x{segment_view(q), segment_view(k), segment_view(v)};
    if (!pass().kv_scatters.empty()) rope_scatter(index, x);
    attend(index, x, segment_view(mixed));
  });
}

void GpuSteps::add_projections(Arguments& arguments, uint32_t index, const Projections& x, uint32_t first) const {
  for (const Buffer& rows : {x.q, x.k, x.v}) arguments.add(at(column_of(rows, first)));
  arguments.add_unless_null(layers_[index].vectors.q_norm);
  arguments.add_unless_null(layers_[index].vectors.k_norm);
}

void GpuSteps::rope_scatter(uint32_t index, const Projections& x) {
  Arguments arguments{};
  add_projections(arguments, index, x, 0);
  for (const uint64_t address : {positions(), layers_[index].k_pages, layers_[index].v_pages, page_tables()})
    arguments.add(at(address));
  arguments.add(n_pages());
  arguments.add(at(error_address()));
  run(pass().kv_scatters[config_.layers[index].rope], arguments);
}

void GpuSteps::norm_delta(uint32_t index, Buffer hidden, const DeltaBuffers& x) {
  const DeltaMatrices<uint64_t>& w = layers_[index].delta_matrices;
  const uint64_t gamma = layers_[index].vectors.attn_norm;
  each_part([&] {
    const DeltaMatrices<ProductStep>& step = pass().deltas[index];
    multiply({segment_view(hidden), gamma},
             {{step.qkv, w.qkv, 0, 0, segment_view(x.qkv)},
              {step.z, w.z, 0, 0, segment_view(x.z)},
              {step.alpha, w.alpha, 0, 0, segment_view(x.alpha)},
              {step.beta, w.beta, 0, 0, segment_view(x.beta)}},
             pass().fused_deltas[index]);
  });
}

void GpuSteps::run_prompt(const GpuStep& step, Arguments arguments, ptx::Dimensions blocks) {
  arguments.add(segment_.n_columns);
  run(step, arguments, blocks,
      step.kernel->kernel().cost.bytes / sizes_.columns_of(segment_.kind) * segment_.n_columns);
}

void GpuSteps::conv_step(uint32_t index, const DeltaBuffers& x) {
  for_each_state_column([&] {
    const GpuStep& step = pass().conv;
    const Arguments arguments{at(segment_view(x.qkv)), at(layers_[index].delta_vectors.conv), at(states()),
                              at(positions()), cache_slot_of_layer_[index]};
    if (segment_.kind == PassKind::kPrefill) return run_prompt(step, arguments, step.kernel->kernel().launch.blocks);
    run(step, arguments);
  });
}

void GpuSteps::delta_step(uint32_t index, const DeltaBuffers& x) {
  const DeltaVectors<uint64_t>& v = layers_[index].delta_vectors;
  for_each_state_column([&] {
    if (segment_.kind == PassKind::kPrefill) return delta_chunks(index, x);
    run(pass().delta, {at(segment_view(x.qkv)), at(segment_view(x.z)), at(segment_view(x.alpha)),
                       at(segment_view(x.beta)), at(v.dt_bias), at(v.decay), at(v.norm), at(states()), at(positions()),
                       cache_slot_of_layer_[index], at(segment_view(x.mixed))});
  });
}

// PassLength splits prompts at ends of chunks.
static_assert(PassLength::kChunk % kDeltaChunk == 0);

void GpuSteps::delta_chunks(uint32_t index, const DeltaBuffers& x) {
  const DeltaVectors<uint64_t>& v = layers_[index].delta_vectors;
  const DeltaNetSpec& spec = kernels_of(segment_.kind).specs().delta_net;
  const Argument qkv = at(segment_view(x.qkv)), mixed = at(segment_view(x.mixed));
  const Argument scratch = at(activations_.address() + plan_.delta_chunks);
  run_prompt(pass().delta_prepare,
             {qkv, at(segment_view(x.alpha)), at(segment_view(x.beta)), at(v.dt_bias), at(v.decay), scratch},
             delta_prepare_grid(spec, segment_.n_columns));
  const GpuStep& scan = pass().delta_scan;
  run_prompt(scan, {qkv, at(states()), at(positions()), cache_slot_of_layer_[index], scratch, mixed},
             scan.kernel->kernel().launch.blocks);
  run_prompt(pass().delta_finish, {at(segment_view(x.z)), at(v.norm), mixed},
             delta_finish_grid(spec, segment_.n_columns));
}

void GpuSteps::attend(uint32_t index, const Projections& x, Buffer mixed) {
  const GpuStep& step = pass().attention;
  const uint32_t n_columns = segment_.n_columns;
  const uint64_t keys = layers_[index].k_pages, values = layers_[index].v_pages, tables = page_tables();
  const auto gate_of = [&](uint32_t first) {
    return config_.gated_attention ? column_of(segment_view(buffer(plan_.q_gate, mixed.width)), first) : 0;
  };
  if (const auto* flash = std::get_if<FlashAttentionSpec>(&kernels_of(segment_.kind).specs().attention)) {
    Arguments arguments{at(x.q), at(keys), at(values), at(tables), at(positions()), at(mixed)};
    arguments.add_unless_null(gate_of(0));
    arguments.add(at(error_address())), arguments.add(n_columns);
    run(step, arguments, flash_attention_grid(*flash, n_columns),
        flash_attention_cost(*flash, n_columns, segment_.longest - n_columns).bytes);
    return;
  }
  const auto& spec = std::get<AttentionSpec>(kernels_of(segment_.kind).specs().attention);
  const uint32_t longest = graphs_.is_open() ? sizes_.context : segment_.longest;  // a graph must serve every position
  const uint64_t scratch = activations_.address() + plan_.scratch[static_cast<size_t>(segment_.kind)];
  for (uint32_t first = 0; first < n_columns; first += spec.columns) {
    const uint32_t columns = std::min(spec.columns, n_columns - first);
    Arguments arguments{};
    const bool turns = !spec.scatters.empty();
    turns ? add_projections(arguments, index, x, first) : arguments.add(at(column_of(x.q, first)));
    for (const uint64_t address : {keys, values, tables}) arguments.add(at(address));
    if (turns) arguments.add(n_pages());
    if (spec.scatters.size() > 1) arguments.add(config_.layers[index].rope);
    arguments.add(at(positions() + first * sizeof(uint32_t)));
    arguments.add(at(spec.writes_f16 ? halves_of(mixed, first) : column_of(mixed, first)));
    if (spec.writes_f16) arguments.add(at(halves_of(mixed, n_columns) + first * sizeof(float)));
    arguments.add_unless_null(gate_of(first));
    arguments.add(at(scratch)), arguments.add(at(error_address()));
    if (spec.columns > 1) arguments.add(columns);
    run(step, arguments, attention_grid(spec, longest),
        attention_cost(spec, segment_.n_keys * columns / n_columns).bytes);
  }
}

// Columns stay in place.
bool GpuSteps::keep_wanted(Buffer mixed, Buffer hidden) {
  const uint32_t widths = mixed.width | hidden.width | config_.ffn | config_.experts.ffn | config_.experts.shared_ffn;
  pass_.keep_wanted(widths % kAlignedColumns == 0 ? 1 : kAlignedColumns);
  return !pass_.segments.empty();
}

void GpuSteps::output_residual(uint32_t index, Buffer mixed, Buffer hidden) {
  const bool is_attention = config_.layers[index].mixer == Mixer::kAttention;
  each_part([&] {
    const bool has_f16 = is_attention && writes_f16(kernels_of(segment_.kind).specs().attention);
    multiply({segment_view(mixed), 0, has_f16}, {{pass().layers[index].output, layers_[index].matrices.output, 0,
                                                  layers_[index].vectors.output_bias, segment_view(hidden)}});
  });
}

void GpuSteps::norm_gate_up(uint32_t index, Buffer hidden, Buffer inner) {
  const LayerMatrices<uint64_t>& w = layers_[index].matrices;
  each_part([&] {
    multiply({segment_view(hidden), layers_[index].vectors.ffn_norm},
             {{pass().layers[index].gate_up, w.gate, w.up, layers_[index].gate_up_bias, segment_view(inner)}});
  });
}

void GpuSteps::down_residual(uint32_t index, Buffer inner, Buffer hidden) {
  each_part([&] {
    multiply({segment_view(inner), 0}, {{pass().layers[index].down, layers_[index].matrices.down, 0,
                                         layers_[index].vectors.down_bias, segment_view(hidden)}});
  });
  end_layer(index);
}

void GpuSteps::end_layer(uint32_t index) {
  if (index + 1 == config_.n_layers && graphs_.is_open()) graphs_.end();
}

void GpuSteps::norm_route(uint32_t index, Buffer hidden, Buffer scores) {
  const uint64_t gamma = layers_[index].vectors.ffn_norm;
  const uint32_t n_used = config_.experts.n_used;
  each_part([&] {
    const ExpertSteps& step = pass().experts[index];
    multiply({segment_view(hidden), gamma}, {{step.router, layers_[index].experts.router, 0, 0, segment_view(scores)}});
    run(step.route, {at(segment_view(scores)), at(segment_view(buffer(plan_.experts, n_used))),
                     at(segment_view(buffer(plan_.expert_weights, n_used)))});
  });
}

// Launches up to spec.columns columns at a time, with one block in y per assignment.
void GpuSteps::multiply_routed(const GpuStep& step, const ExpertProductSpec& spec, const RoutedProduct& o,
                               uint64_t experts) {
  const ptx::Kernel& kernel = step.kernel->kernel();
  for (uint32_t first = 0; first < segment_.n_columns; first += spec.columns) {
    const uint32_t columns = std::min(spec.columns, segment_.n_columns - first), first_assignment = first * spec.n_used;
    Arguments arguments{at(o.weights)};
    arguments.add_unless_null(o.up);
    arguments.add(at(column_of(o.input.x, spec.by_column ? first : first_assignment)));
    arguments.add_unless_null(o.input.gamma);
    arguments.add(at(experts + first_assignment * sizeof(uint32_t)));
    arguments.add(at(column_of(o.y, first_assignment)));
    if (spec.columns > 1) arguments.add(columns);
    run(step, arguments, {kernel.launch.blocks.x, columns * spec.n_used}, kernel.cost.bytes / spec.columns * columns);
  }
}

void GpuSteps::order_assignments(const GpuStep& step, const ExpertOrderSpec& spec, uint64_t experts) {
  const ptx::Kernel& kernel = step.kernel->kernel();
  Arguments arguments{at(experts), at(activations_.address() + plan_.expert_order),
                      at(activations_.address() + plan_.expert_tiles)};
  if (spec.columns > 1) arguments.add(segment_.n_columns);
  run(step, arguments, kernel.launch.blocks, kernel.cost.bytes / spec.columns * segment_.n_columns);
}

// Grouped GEMM over all assignments of the part, in sorted order. The input must be in f16 already.
void GpuSteps::multiply_grouped(const GpuStep& step, const GemmSpec& spec, const RoutedProduct& o) {
  Arguments arguments{at(o.weights)};
  arguments.add_unless_null(o.up);
  arguments.add(at(halves())), arguments.add(at(half_factors()));
  arguments.add(at(activations_.address() + plan_.expert_order));
  arguments.add(at(activations_.address() + plan_.expert_tiles));
  arguments.add(at(o.y)), arguments.add(spec.rows), arguments.add(spec.k);
  const uint32_t n_assignments = segment_.n_columns * config_.experts.n_used;
  run(step, arguments, gemm_grid(spec, n_assignments), gemm_cost(spec, n_assignments).bytes);
}

void GpuSteps::experts_residual(uint32_t index, Buffer hidden) {
  const LayerAddresses& layer = layers_[index];
  const ExpertMatrices<uint64_t>& w = layer.experts;
  const uint64_t gamma = layer.vectors.ffn_norm;
  const ExpertsConfig& e = config_.experts;
  each_part([&] {
    const ExpertSteps& step = pass().experts[index];
    const ExpertSpecs& specs = kernels_of(segment_.kind).specs().experts[index];
    const auto of_assignments = [&](uint64_t offset, uint32_t width) {
      return Buffer{segment_view(buffer(offset, e.n_used * width)).data, width};
    };
    const uint64_t experts = address_of(of_assignments(plan_.experts, 1));
    const Buffer inner = of_assignments(plan_.expert_inner, e.ffn),
                 outputs = of_assignments(plan_.expert_outputs, config_.hidden);
    const Buffer shared_inner = segment_view(buffer(plan_.shared_inner, e.shared_ffn));
    const Buffer output = segment_view(buffer(plan_.shared_output, config_.hidden));
    const Buffer switches = segment_view(buffer(plan_.shared_expert_gate, 1));
    const Input normed{segment_view(hidden), gamma};
    const RoutedProduct gate_up{w.gate, w.up, normed, inner}, down{w.down, 0, {inner, 0}, outputs};
    if (specs.has_order()) order_assignments(step.order, specs.order, experts);
    // Shared expert first: the next f16 conversion overwrites its input.
    multiply(normed, {{step.shared_gate_up, w.shared_gate, w.shared_up, 0, shared_inner},
                      {step.shared_expert_gate, layer.vectors.shared_expert_gate, 0, 0, switches}});
    if (specs.grouped_gate_up) {
      if (!accepts_f16(step.shared_gate_up.spec)) convert_to_f16(pass().f16_activations, normed, segment_.n_columns);
      multiply_grouped(step.gate_up, *specs.grouped_gate_up, gate_up);
    } else {
      multiply_routed(step.gate_up, specs.gate_up, gate_up, experts);
    }
    if (specs.grouped_down) {
      convert_to_f16(pass().f16_activations, down.input, segment_.n_columns * e.n_used);
      multiply_grouped(step.down, *specs.grouped_down, down);
    } else {
      multiply_routed(step.down, specs.down, down, experts);
    }
    multiply({shared_inner, 0}, {{step.shared_down, w.shared_down, 0, 0, output}});
    Arguments sum{at(outputs), at(of_assignments(plan_.expert_weights, 1))};
    if (e.shared_ffn > 0) sum.add(at(output)), sum.add(at(switches));
    sum.add(at(segment_view(hidden)));
    run(step.sum, sum);
  });
  end_layer(index);
}

// Kernels read from 16-byte boundaries, and only every fourth column is aligned for sure. So up to three columns before
// the wanted ones are computed as well. Their rows belong to earlier groups, which are computed later and overwrite
// them.
void GpuSteps::norm_logits(Buffer hidden, Buffer logits) {
  for (auto wanted = pass_.wanted.rbegin(); wanted != pass_.wanted.rend(); ++wanted) {
    const uint32_t before = hidden.width % 4 == 0 ? 0 : wanted->column % 4, columns = before + wanted->n;
    const Buffer x{reinterpret_cast<void*>(column_of(hidden, wanted->column - before)), hidden.width};
    const Buffer y{reinterpret_cast<void*>(logits_row(wanted->row) - uint64_t{before} * logits.width * sizeof(float)),
                   logits.width};
    PassKernels& kernels = kernels_of(columns == 1 ? PassKind::kDecode : wanted->kind);
    multiply(kernels, {x, output_norm_}, {{kernels.logits(), output_, 0, output_bias_, y}}, columns);
    if (wanted->kind == PassKind::kPrefill && wanted->n == 1)
      kernels_of(PassKind::kDecode).prepare();  // overlaps with a prefill
  }
}

void GpuSteps::wait() {
  stream_.download(error_.bytes(), error_address());
  stream_.wait();
  collect_profile();
  ErrorWord word;
  std::memcpy(&word, error_.bytes().data(), sizeof word);
  check(word);
}

std::vector<GpuSteps::ColumnRange> GpuSteps::stretches(uint32_t first, uint64_t n_columns) const {
  std::vector<ColumnRange> all;
  for (const uint32_t column : std::span(pass_.buffer_columns).subspan(first, n_columns)) {
    const PassLayout::Segment& segment = pass_.segment_of(column);
    const bool goes_on =
        !all.empty() && &all.back().segment == &segment && column == all.back().first + all.back().n_columns;
    if (!goes_on) all.push_back({segment, column, 0});
    ++all.back().n_columns;
  }
  return all;
}

bool GpuSteps::read_columns(Buffer buffer, uint32_t first, std::span<float> values) {
  if (graphs_.is_open()) return false;
  context_->make_current();
  for (const ColumnRange& stretch : stretches(first, values.size() / buffer.width)) {
    const std::span<float> to = values.first(uint64_t{stretch.n_columns} * buffer.width);
    values = values.subspan(to.size());
    if (has_f16(buffer, stretch.segment))
      for (uint32_t i = 0; i < stretch.n_columns; ++i)
        read_f16(stretch.segment, buffer, stretch.first + i, to.subspan(uint64_t{i} * buffer.width, buffer.width));
    else
      stream_.download(std::as_writable_bytes(to), column_of(buffer, stretch.first));
  }
  wait();
  return true;
}

bool GpuSteps::write_columns(Buffer buffer, uint32_t first, std::span<const float> values) {
  if (graphs_.is_open()) return false;
  context_->make_current();
  const std::vector<ColumnRange> all = stretches(first, values.size() / buffer.width);
  if (std::ranges::any_of(all, [&](const ColumnRange& s) { return has_f16(buffer, s.segment); })) return false;
  for (const ColumnRange& stretch : all) {
    const std::span<const float> from = values.first(uint64_t{stretch.n_columns} * buffer.width);
    values = values.subspan(from.size());
    stream_.upload(column_of(buffer, stretch.first), std::as_bytes(from));
  }
  stream_.wait();  // `values` belongs to the caller
  return true;
}

// Reverses the order of kernels/f16_activations.h.
void GpuSteps::read_f16(const PassLayout::Segment& segment, Buffer buffer, uint32_t column, std::span<float> values) {
  const Buffer own{reinterpret_cast<void*>(column_of(buffer, segment.first)), buffer.width};
  const uint32_t index = column - segment.first;
  std::vector<f16> halves(f16_activation_values(buffer.width));
  float factor = 0;
  stream_.download(std::as_writable_bytes(std::span(halves)), halves_of(own, index));
  stream_.download(std::as_writable_bytes(std::span(&factor, 1)),
                   halves_of(own, segment.n_columns) + index * sizeof(float));
  wait();
  for (uint32_t i = 0; i < values.size(); ++i) {
    const uint32_t in_unit = i % 32, octet = in_unit / 4 % 4, place = octet * 8 + in_unit / 16 * 4 + in_unit % 4;
    values[i] = factor * to_float(halves[i - in_unit + place]);
  }
}

std::span<const float> GpuSteps::read_logits(uint32_t column) {
  const auto found = std::ranges::lower_bound(pass_.logits_columns, column);
  require(found != pass_.logits_columns.end() && *found == column, "reading logits that the pass did not compute");
  if (!has_arrived_) {
    const uint64_t n_bytes = pass_.logits_columns.size() * config_.n_vocab * sizeof(float);
    stream_.download(logits_.bytes().first(n_bytes), logits_row(0));
    wait();
    has_arrived_ = true;
  }
  const auto row = static_cast<uint64_t>(found - pass_.logits_columns.begin());
  return logits_.as<float>().subspan(row * config_.n_vocab, config_.n_vocab);
}

}  // namespace warpchat
