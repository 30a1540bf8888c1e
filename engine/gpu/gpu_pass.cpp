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
  const uint32_t most = blocks.y;  // the kernel has at least one block in y per possible column
  if (part_.kind != PassKind::kToken) {
    arguments.add(part_.n_columns);
    blocks.y = part_.n_columns;
  }
  run(step, arguments, blocks, kernel.cost.bytes / most * part_.n_columns);
}

void GpuSteps::make_halves(const GpuStep& step, const Input& input, uint32_t n_columns) {
  const uint32_t k = input.x.width;
  run(step, {at(input.x), at(input.gamma), at(halves()), at(half_factors()), k}, {n_columns},
      half_columns_bytes(k, input.gamma != 0, n_columns));
}

void GpuSteps::make_integers(const GpuStep& step, const Input& input, uint32_t n_columns) {
  const uint32_t k = input.x.width;
  run(step, {at(input.x), at(input.gamma), at(integers()), at(integer_factors()), k, n_columns},
      {integer_column_blocks(n_columns)}, integer_columns_bytes(k, input.gamma != 0, n_columns));
}

void GpuSteps::multiply(PassKernels& kernels, const Input& input, std::initializer_list<Product> products,
                        uint32_t n_columns, const TogetherSteps& together) {
  if (!input.has_halves && std::ranges::any_of(products, [](const Product& p) { return takes_halves(p.step.spec); }))
    make_halves(kernels.steps().half_columns, input, n_columns);
  if (std::ranges::any_of(products, [](const Product& p) { return takes_integers(p.step.spec); }))
    make_integers(kernels.steps().integer_columns, input, n_columns);
  for (const TogetherStep& all : together) multiply_together(all, input, products, n_columns);
  for (const Product& product : products)
    if (is_there(product.step.spec) && !is_part_of_any(together, product.step.spec))
      multiply(product, input, n_columns);
}

void GpuSteps::multiply_together(const TogetherStep& together, const Input& input,
                                 std::initializer_list<Product> products, uint32_t n_columns) {
  std::vector<const Product*> own;
  for (const Product& product : products)
    if (is_part_of(together, product.step.spec)) own.push_back(&product);
  const GpuStep& step = together.step;
  const auto* gemvs = std::get_if<GemvTogether>(&together.spec);
  if (gemvs == nullptr) return multiply_halves(step, input, own, n_columns);
  Arguments arguments{};
  for (const Product* product : own)
    arguments.add(at(product->weights)), arguments.add(at(product->bias)), arguments.add(at(product->y));
  arguments.add(at(integers())), arguments.add(at(integer_factors())), arguments.add(n_columns);
  run(step, arguments, {step.kernel->kernel().launch.blocks.x, ceil_div(n_columns, kGemvColumns)},
      gemv_together_bytes(*gemvs, n_columns));
}

// Runs several products in one kernel.
void GpuSteps::multiply_halves(const GpuStep& step, const Input& input, std::span<const Product* const> products,
                               uint32_t n_columns) {
  Arguments arguments{};
  GemmTogether all;
  for (const Product* product : products) {
    const GemmSpec& spec = all.products.emplace_back(std::get<GemmSpec>(product->step.spec));
    const uint64_t y = address_of(product->y);
    arguments.add(at(product->weights)), arguments.add(at(product->bias));
    arguments.add(at(spec.epilogue == GemvEpilogue::kResidual ? y : 0)), arguments.add(at(y));
  }
  const auto add_numbers = [&](const auto& number_of) {
    for (const GemmSpec& spec : all.products) arguments.add(number_of(spec));
    for (size_t i = all.products.size(); i < kMostGemmProducts; ++i) arguments.add(0u);
  };
  for (size_t i = 4 * all.products.size(); i < 4 * kMostGemmProducts; ++i) arguments.add(at(uint64_t{0}));
  add_halves(arguments, input, n_columns);
  const GemmSpec& first = all.products[0];
  if (first.parts > 1) arguments.add(at(activations_.address() + plan_.batch_scratch));
  add_numbers([](const GemmSpec& spec) { return spec.rows; });
  if (first.formats.size() > 1) add_numbers(format_number);
  arguments.add(first.k), arguments.add(n_columns);
  run(step, arguments, gemm_grid(all, n_columns), gemm_cost(all, n_columns).bytes);
}

void GpuSteps::add_halves(Arguments& arguments, const Input& input, uint32_t n_columns) const {
  arguments.add(at(input.has_halves ? halves_of(input.x, 0) : halves()));
  arguments.add(at(input.has_halves ? halves_of(input.x, n_columns) : half_factors()));
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
    if (takes_integers(step.spec)) {
      arguments.add(at(integers())), arguments.add(at(integer_factors()));
      arguments.add_unless_null(product.bias);
    } else if (gemm == nullptr) {
      arguments.add(at(column_of(input.x, first)));
      arguments.add_unless_null(input.gamma), arguments.add_unless_null(product.bias);
    } else {
      add_halves(arguments, input, n_columns);
      if (takes_addends(*gemm))
        arguments.add(at(product.bias)), arguments.add(at(gemm->epilogue == GemvEpilogue::kResidual ? y : 0));
      if (gemm->parts > 1) arguments.add(at(activations_.address() + plan_.batch_scratch));
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
    require(!run.one_by_one || (runs.size() == 1 && run.tokens.size() <= kMostOneByOne),
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
  part_ = pass_.parts.front();
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
  for (const PassLayout::Part& part : pass_.parts) kernels_of(part.kind).steps();
  has_arrived_ = false;
  timer_.begin();
  if (is_of_graphs()) graphs_.begin(pass_.n_columns(), part_.kind == PassKind::kRun);
}

template <class Body>
void GpuSteps::each_part(const Body& body) {
  for (const PassLayout::Part& part : pass_.parts) {
    part_ = part;
    body();
  }
  part_ = pass_.parts.front();
}

// Columns of a draft verification share a recurrent state, so they run one after the other.
template <class Body>
void GpuSteps::each_state(const Body& body) {
  each_part([&] {
    if (part_.kind != PassKind::kRun) return body();
    const PassLayout::Part run = part_;
    for (uint32_t i = 0; i < run.n_columns; ++i) {
      part_ = {.kind = run.kind, .first = run.first + i, .n_columns = 1, .first_sequence = run.first_sequence + i};
      body();
    }
  });
}

Buffer GpuSteps::of_part(Buffer buffer) const {
  return {reinterpret_cast<void*>(column_of(buffer, part_.first)), buffer.width};
}

void GpuSteps::embed(Buffer hidden) {
  each_part([&] { run(pass().embedding, {at(token_embd_), at(tokens()), at(of_part(hidden)), at(error_address())}); });
}

void GpuSteps::norm_qkv(uint32_t index, Buffer hidden, Buffer q, Buffer k, Buffer v) {
  const LayerMatrices<uint64_t>& w = layers_[index].matrices;
  const LayerVectors<uint64_t>& vectors = layers_[index].vectors;
  each_part([&] {
    const LayerSteps& step = pass().layers[index];
    multiply({of_part(hidden), vectors.attn_norm},
             {{step.q, w.q, 0, vectors.q_bias, of_part(q)},
              {step.k, w.k, 0, vectors.k_bias, of_part(k)},
              {step.v, w.v, 0, vectors.v_bias, of_part(v)},
              {step.q_gate, w.q_gate, 0, 0, of_part(buffer(plan_.q_gate, q.width))}},
             pass().layers_together[index]);
  });
}

void GpuSteps::attention(uint32_t index, Buffer q, Buffer k, Buffer v, Buffer mixed) {
  each_part([&] {
    const Projections x{of_part(q), of_part(k), of_part(v)};
    if (!pass().kv_scatters.empty()) rope_scatter(index, x);
    attend(index, x, of_part(mixed));
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
    multiply({of_part(hidden), gamma},
             {{step.qkv, w.qkv, 0, 0, of_part(x.qkv)},
              {step.z, w.z, 0, 0, of_part(x.z)},
              {step.alpha, w.alpha, 0, 0, of_part(x.alpha)},
              {step.beta, w.beta, 0, 0, of_part(x.beta)}},
             pass().deltas_together[index]);
  });
}

void GpuSteps::run_prompt(const GpuStep& step, Arguments arguments, ptx::Dimensions blocks) {
  arguments.add(part_.n_columns);
  run(step, arguments, blocks, step.kernel->kernel().cost.bytes / sizes_.columns_of(part_.kind) * part_.n_columns);
}

void GpuSteps::conv_step(uint32_t index, const DeltaBuffers& x) {
  each_state([&] {
    const GpuStep& step = pass().conv;
    const Arguments arguments{at(of_part(x.qkv)), at(layers_[index].delta_vectors.conv), at(states()), at(positions()),
                              places_[index]};
    if (part_.kind == PassKind::kPrompt) return run_prompt(step, arguments, step.kernel->kernel().launch.blocks);
    run(step, arguments);
  });
}

void GpuSteps::delta_step(uint32_t index, const DeltaBuffers& x) {
  const DeltaVectors<uint64_t>& v = layers_[index].delta_vectors;
  each_state([&] {
    if (part_.kind == PassKind::kPrompt) return delta_chunks(index, x);
    run(pass().delta, {at(of_part(x.qkv)), at(of_part(x.z)), at(of_part(x.alpha)), at(of_part(x.beta)), at(v.dt_bias),
                       at(v.decay), at(v.norm), at(states()), at(positions()), places_[index], at(of_part(x.mixed))});
  });
}

// PassLength splits prompts at ends of chunks.
static_assert(PassLength::kChunk % kDeltaChunk == 0);

void GpuSteps::delta_chunks(uint32_t index, const DeltaBuffers& x) {
  const DeltaVectors<uint64_t>& v = layers_[index].delta_vectors;
  const DeltaNetSpec& spec = kernels_of(part_.kind).specs().delta_net;
  const Argument qkv = at(of_part(x.qkv)), mixed = at(of_part(x.mixed));
  const Argument scratch = at(activations_.address() + plan_.delta_chunks);
  run_prompt(pass().delta_prepare,
             {qkv, at(of_part(x.alpha)), at(of_part(x.beta)), at(v.dt_bias), at(v.decay), scratch},
             delta_prepare_grid(spec, part_.n_columns));
  const GpuStep& scan = pass().delta_scan;
  run_prompt(scan, {qkv, at(states()), at(positions()), places_[index], scratch, mixed},
             scan.kernel->kernel().launch.blocks);
  run_prompt(pass().delta_finish, {at(of_part(x.z)), at(v.norm), mixed}, delta_finish_grid(spec, part_.n_columns));
}

void GpuSteps::attend(uint32_t index, const Projections& x, Buffer mixed) {
  const GpuStep& step = pass().attention;
  const uint32_t n_columns = part_.n_columns;
  const uint64_t keys = layers_[index].k_pages, values = layers_[index].v_pages, tables = page_tables();
  const auto gate_of = [&](uint32_t first) {
    return config_.gated_attention ? column_of(of_part(buffer(plan_.q_gate, mixed.width)), first) : 0;
  };
  if (const auto* flash = std::get_if<FlashAttentionSpec>(&kernels_of(part_.kind).specs().attention)) {
    Arguments arguments{at(x.q), at(keys), at(values), at(tables), at(positions()), at(mixed)};
    arguments.add_unless_null(gate_of(0));
    arguments.add(at(error_address())), arguments.add(n_columns);
    run(step, arguments, flash_attention_grid(*flash, n_columns),
        flash_attention_cost(*flash, n_columns, part_.longest - n_columns).bytes);
    return;
  }
  const auto& spec = std::get<AttentionSpec>(kernels_of(part_.kind).specs().attention);
  const uint32_t longest = graphs_.is_open() ? sizes_.context : part_.longest;  // a graph must serve every position
  const uint64_t scratch = activations_.address() + plan_.scratch[static_cast<size_t>(part_.kind)];
  for (uint32_t first = 0; first < n_columns; first += spec.columns) {
    const uint32_t columns = std::min(spec.columns, n_columns - first);
    Arguments arguments{};
    const bool turns = !spec.scatters.empty();
    turns ? add_projections(arguments, index, x, first) : arguments.add(at(column_of(x.q, first)));
    for (const uint64_t address : {keys, values, tables}) arguments.add(at(address));
    if (turns) arguments.add(n_pages());
    if (spec.scatters.size() > 1) arguments.add(config_.layers[index].rope);
    arguments.add(at(positions() + first * sizeof(uint32_t)));
    arguments.add(at(spec.writes_halves ? halves_of(mixed, first) : column_of(mixed, first)));
    if (spec.writes_halves) arguments.add(at(halves_of(mixed, n_columns) + first * sizeof(float)));
    arguments.add_unless_null(gate_of(first));
    arguments.add(at(scratch)), arguments.add(at(error_address()));
    if (spec.columns > 1) arguments.add(columns);
    run(step, arguments, attention_grid(spec, longest), attention_cost(spec, part_.n_keys * columns / n_columns).bytes);
  }
}

// Columns stay in place.
bool GpuSteps::keep_wanted(Buffer mixed, Buffer hidden) {
  const uint32_t widths = mixed.width | hidden.width | config_.ffn | config_.experts.ffn | config_.experts.shared_ffn;
  pass_.keep_wanted(widths % kAlignedColumns == 0 ? 1 : kAlignedColumns);
  return !pass_.parts.empty();
}

void GpuSteps::output_residual(uint32_t index, Buffer mixed, Buffer hidden) {
  const bool is_attention = config_.layers[index].mixer == Mixer::kAttention;
  each_part([&] {
    const bool has_halves = is_attention && writes_halves(kernels_of(part_.kind).specs().attention);
    multiply({of_part(mixed), 0, has_halves},
             {{pass().layers[index].output, layers_[index].matrices.output, 0, 0, of_part(hidden)}});
  });
}

void GpuSteps::norm_gate_up(uint32_t index, Buffer hidden, Buffer inner) {
  const LayerMatrices<uint64_t>& w = layers_[index].matrices;
  each_part([&] {
    multiply({of_part(hidden), layers_[index].vectors.ffn_norm},
             {{pass().layers[index].gate_up, w.gate, w.up, 0, of_part(inner)}});
  });
}

void GpuSteps::down_residual(uint32_t index, Buffer inner, Buffer hidden) {
  each_part([&] {
    multiply({of_part(inner), 0}, {{pass().layers[index].down, layers_[index].matrices.down, 0, 0, of_part(hidden)}});
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
    multiply({of_part(hidden), gamma}, {{step.router, layers_[index].experts.router, 0, 0, of_part(scores)}});
    run(step.route, {at(of_part(scores)), at(of_part(buffer(plan_.experts, n_used))),
                     at(of_part(buffer(plan_.expert_weights, n_used)))});
  });
}

// Launches up to spec.columns columns at a time, with one block in y per assignment.
void GpuSteps::multiply_uses(const GpuStep& step, const ExpertProductSpec& spec, const UsesProduct& o,
                             uint64_t experts) {
  const ptx::Kernel& kernel = step.kernel->kernel();
  for (uint32_t first = 0; first < part_.n_columns; first += spec.columns) {
    const uint32_t columns = std::min(spec.columns, part_.n_columns - first), first_use = first * spec.n_used;
    Arguments arguments{at(o.weights)};
    arguments.add_unless_null(o.up);
    arguments.add(at(column_of(o.input.x, spec.by_column ? first : first_use)));
    arguments.add_unless_null(o.input.gamma);
    arguments.add(at(experts + first_use * sizeof(uint32_t)));
    arguments.add(at(column_of(o.y, first_use)));
    if (spec.columns > 1) arguments.add(columns);
    run(step, arguments, {kernel.launch.blocks.x, columns * spec.n_used}, kernel.cost.bytes / spec.columns * columns);
  }
}

void GpuSteps::order_uses(const GpuStep& step, const ExpertOrderSpec& spec, uint64_t experts) {
  const ptx::Kernel& kernel = step.kernel->kernel();
  Arguments arguments{at(experts), at(activations_.address() + plan_.expert_order),
                      at(activations_.address() + plan_.expert_tiles)};
  if (spec.columns > 1) arguments.add(part_.n_columns);
  run(step, arguments, kernel.launch.blocks, kernel.cost.bytes / spec.columns * part_.n_columns);
}

// Grouped GEMM over all assignments of the part, in sorted order. The input must be in f16 already.
void GpuSteps::multiply_grouped(const GpuStep& step, const GemmSpec& spec, const UsesProduct& o) {
  Arguments arguments{at(o.weights)};
  arguments.add_unless_null(o.up);
  arguments.add(at(halves())), arguments.add(at(half_factors()));
  arguments.add(at(activations_.address() + plan_.expert_order));
  arguments.add(at(activations_.address() + plan_.expert_tiles));
  arguments.add(at(o.y)), arguments.add(spec.rows), arguments.add(spec.k);
  const uint32_t n_uses = part_.n_columns * config_.experts.n_used;
  run(step, arguments, gemm_grid(spec, n_uses), gemm_cost(spec, n_uses).bytes);
}

void GpuSteps::experts_residual(uint32_t index, Buffer hidden) {
  const LayerAddresses& layer = layers_[index];
  const ExpertMatrices<uint64_t>& w = layer.experts;
  const uint64_t gamma = layer.vectors.ffn_norm;
  const ExpertsConfig& e = config_.experts;
  each_part([&] {
    const ExpertSteps& step = pass().experts[index];
    const ExpertSpecs& specs = kernels_of(part_.kind).specs().experts[index];
    const auto of_uses = [&](uint64_t offset, uint32_t width) {
      return Buffer{of_part(buffer(offset, e.n_used * width)).data, width};
    };
    const uint64_t experts = address_of(of_uses(plan_.experts, 1));
    const Buffer inner = of_uses(plan_.expert_inner, e.ffn), outputs = of_uses(plan_.expert_outputs, config_.hidden);
    const Buffer shared_inner = of_part(buffer(plan_.shared_inner, e.shared_ffn));
    const Buffer output = of_part(buffer(plan_.shared_output, config_.hidden));
    const Buffer switches = of_part(buffer(plan_.shared_switch, 1));
    const Input normed{of_part(hidden), gamma};
    const UsesProduct gate_up{w.gate, w.up, normed, inner}, down{w.down, 0, {inner, 0}, outputs};
    if (specs.has_order()) order_uses(step.order, specs.order, experts);
    // Shared expert first: the next f16 conversion overwrites its input.
    multiply(normed, {{step.shared_gate_up, w.shared_gate, w.shared_up, 0, shared_inner},
                      {step.shared_switch, layer.vectors.shared_switch, 0, 0, switches}});
    if (specs.grouped_gate_up) {
      if (!takes_halves(step.shared_gate_up.spec)) make_halves(pass().half_columns, normed, part_.n_columns);
      multiply_grouped(step.gate_up, *specs.grouped_gate_up, gate_up);
    } else {
      multiply_uses(step.gate_up, specs.gate_up, gate_up, experts);
    }
    if (specs.grouped_down) {
      make_halves(pass().half_columns, down.input, part_.n_columns * e.n_used);
      multiply_grouped(step.down, *specs.grouped_down, down);
    } else {
      multiply_uses(step.down, specs.down, down, experts);
    }
    multiply({shared_inner, 0}, {{step.shared_down, w.shared_down, 0, 0, output}});
    Arguments sum{at(outputs), at(of_uses(plan_.expert_weights, 1))};
    if (e.shared_ffn > 0) sum.add(at(output)), sum.add(at(switches));
    sum.add(at(of_part(hidden)));
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
    PassKernels& kernels = kernels_of(columns == 1 ? PassKind::kToken : wanted->kind);
    multiply(kernels, {x, output_norm_}, {{kernels.logits(), output_, 0, 0, y}}, columns);
    if (wanted->kind == PassKind::kPrompt && wanted->n == 1)
      kernels_of(PassKind::kToken).prepare();  // overlaps with a prefill
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

std::vector<GpuSteps::Stretch> GpuSteps::stretches(uint32_t first, uint64_t n_columns) const {
  std::vector<Stretch> all;
  for (const uint32_t column : std::span(pass_.buffer_columns).subspan(first, n_columns)) {
    const PassLayout::Part& part = pass_.part_of(column);
    const bool goes_on = !all.empty() && &all.back().part == &part && column == all.back().first + all.back().n_columns;
    if (!goes_on) all.push_back({part, column, 0});
    ++all.back().n_columns;
  }
  return all;
}

bool GpuSteps::read_columns(Buffer buffer, uint32_t first, std::span<float> values) {
  if (graphs_.is_open()) return false;
  context_->make_current();
  for (const Stretch& stretch : stretches(first, values.size() / buffer.width)) {
    const std::span<float> to = values.first(uint64_t{stretch.n_columns} * buffer.width);
    values = values.subspan(to.size());
    if (has_halves(buffer, stretch.part))
      for (uint32_t i = 0; i < stretch.n_columns; ++i)
        read_halves(stretch.part, buffer, stretch.first + i, to.subspan(uint64_t{i} * buffer.width, buffer.width));
    else
      stream_.download(std::as_writable_bytes(to), column_of(buffer, stretch.first));
  }
  wait();
  return true;
}

bool GpuSteps::write_columns(Buffer buffer, uint32_t first, std::span<const float> values) {
  if (graphs_.is_open()) return false;
  context_->make_current();
  const std::vector<Stretch> all = stretches(first, values.size() / buffer.width);
  if (std::ranges::any_of(all, [&](const Stretch& s) { return has_halves(buffer, s.part); })) return false;
  for (const Stretch& stretch : all) {
    const std::span<const float> from = values.first(uint64_t{stretch.n_columns} * buffer.width);
    values = values.subspan(from.size());
    stream_.upload(column_of(buffer, stretch.first), std::as_bytes(from));
  }
  stream_.wait();  // `values` belongs to the caller
  return true;
}

// Reverses the order of kernels/half_columns.h.
void GpuSteps::read_halves(const PassLayout::Part& part, Buffer buffer, uint32_t column, std::span<float> values) {
  const Buffer own{reinterpret_cast<void*>(column_of(buffer, part.first)), buffer.width};
  const uint32_t index = column - part.first;
  std::vector<f16> halves(half_column_values(buffer.width));
  float factor = 0;
  stream_.download(std::as_writable_bytes(std::span(halves)), halves_of(own, index));
  stream_.download(std::as_writable_bytes(std::span(&factor, 1)),
                   halves_of(own, part.n_columns) + index * sizeof(float));
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
