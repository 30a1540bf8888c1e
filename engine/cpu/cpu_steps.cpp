// The decoder's steps on the CPU, in decoder order. Each is one or two parallel loops over the pool.
#include "engine/cpu/cpu_steps.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "engine/cpu/attention.h"
#include "engine/cpu/cores.h"
#include "engine/cpu/delta_net.h"
#include "engine/cpu/experts.h"
#include "engine/cpu/memory_budget.h"
#include "engine/cpu/packed_matrix.h"
#include "engine/cpu/pages.h"
#include "engine/cpu/products.h"
#include "engine/cpu/read_bandwidth.h"
#include "engine/cpu/rope.h"
#include "engine/cpu/simd_level.h"
#include "engine/cpu/thread_pool.h"
#include "engine/file_mappings.h"
#include "engine/profile.h"
#include "models/dequantise.h"

namespace warpchat {
namespace {

using Clock = std::chrono::steady_clock;

struct Layer {
  LayerMatrices<PackedMatrix> matrices;
  LayerVectors<std::vector<float>> vectors;  // empty where the model has none
  LayerExperts experts;
  LayerDeltaNet delta_net;
};

struct Column {
  Token token;
  uint32_t sequence, position;
};

std::vector<float> floats_of(const TensorInfo* tensor) {
  std::vector<float> values(tensor == nullptr ? 0 : tensor->data.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), tensor->data.data(), tensor->data.size());
  return values;
}

const float* bias_of(const std::vector<float>& values) { return values.empty() ? nullptr : values.data(); }

float* floats(Buffer buffer) { return static_cast<float*>(buffer.data); }
float* column_of(Buffer buffer, uint32_t column) { return floats(buffer) + uint64_t{column} * buffer.width; }

const CpuKernels& kernels_for(const CpuOptions& options) {
  const char* wanted = std::getenv("WARPCHAT_SIMD");
  return choose_kernels(options.simd.empty() && wanted != nullptr ? wanted : options.simd);
}

// One prompt chunk beside a token of every other sequence.
uint32_t columns_of(const CpuOptions& options) { return options.max_columns + options.sequences - 1; }
uint32_t states_of(const CpuOptions& options) { return options.sequences + options.state_checkpoints; }

class CpuSteps final : public Steps {
 public:
  CpuSteps(const CpuKernels& kernels, const ModelConfig& config, const ModelTensors& tensors, const CpuOptions& options,
           const MemoryBudget& budget);

  uint32_t max_columns() const override { return max_columns_; }
  uint32_t max_logits_columns() const override { return logits_columns(max_columns_, sequences_); }
  uint32_t max_sequences() const override { return sequences_; }
  uint32_t max_positions() const override { return context_; }
  // Only written parts of the cache are resident, and their size is unknown, so they do not count as reclaimable.
  uint32_t context_that_fits() const override {
    return budget_.largest_context(saturating_sum({available_memory(), budget_.total(0)}));
  }
  const PassState& buffers() const override { return state_; }
  std::string description() const override {
    return "cpu: " + std::to_string(pool_.n_threads()) + (pool_.n_threads() == 1 ? " thread, " : " threads, ") +
           kernels_.shown;
  }
  Profile& profile() override { return profile_; }
  std::vector<MemoryUse> memory() const override;
  uint64_t weight_bytes_per_token() const override {
    const ExpertsConfig& e = config_.experts;  // a token goes through n_used of n experts
    return weights_.n_bytes() - (e.n > 0 ? expert_bytes_ / e.n * (e.n - e.n_used) : 0);
  }

  uint32_t n_pages() const override { return cache_.n_pages(); }
  void set_pages(uint32_t sequence, std::span<const uint32_t> pages) override { cache_.set_pages(sequence, pages); }
  void copy_page(uint32_t from, uint32_t to) override { cache_.copy_page(from, to); }
  uint32_t n_states() const override { return delta_nets_.n_states(); }
  void copy_state(uint32_t from, uint32_t to) override { delta_nets_.copy_state(from, to); }
  void begin(std::span<const Run> runs) override;
  void embed(Buffer hidden) override;
  void norm_qkv(uint32_t layer, Buffer hidden, Buffer q, Buffer k, Buffer v) override;
  void attention(uint32_t layer, Buffer q, Buffer k, Buffer v, Buffer mixed) override;
  bool keep_wanted(Buffer mixed, Buffer hidden) override;
  void output_residual(uint32_t layer, Buffer mixed, Buffer hidden) override;
  void norm_delta(uint32_t layer, Buffer hidden, const DeltaBuffers& x) override;
  void conv_step(uint32_t layer, const DeltaBuffers& x) override;
  void delta_step(uint32_t layer, const DeltaBuffers& x) override;
  void norm_gate_up(uint32_t layer, Buffer hidden, Buffer inner) override;
  void down_residual(uint32_t layer, Buffer inner, Buffer hidden) override;
  void norm_route(uint32_t layer, Buffer hidden, Buffer scores) override;
  void experts_residual(uint32_t layer, Buffer hidden) override;
  void norm_logits(Buffer hidden, Buffer logits) override;
  PassEnd end_pass() override;
  void wait() override {}
  bool read_columns(Buffer buffer, uint32_t first, std::span<float> values) override;
  bool write_columns(Buffer buffer, uint32_t first, std::span<const float> values) override;
  std::span<const float> read_logits(uint32_t column) override;

 private:
  void load(const ModelTensors& tensors, const CpuOptions& options);
  void rope_scatter(uint32_t layer, Buffer q, Buffer k, Buffer v);
  void lay_out_buffers();
  void measure_bandwidth();
  ProductInput normalised(Buffer hidden, uint32_t columns, const std::vector<float>& gain) const;
  ProductInput plain(Buffer x) const { return {floats(x), n_columns(), x.width}; }
  uint64_t column_bytes(uint64_t values) const { return n_columns() * values * sizeof(float); }
  uint32_t n_columns() const { return static_cast<uint32_t>(columns_.size()); }
  float* kept_column(Buffer buffer, uint32_t column) const;  // by column of the pass

  const CpuKernels& kernels_;
  ModelConfig config_;
  const std::vector<uint32_t> cache_slot_of_layer_ =
      config_.cache_slot_of_layer();  // cache or state slot of each layer
  uint32_t context_, max_columns_, sequences_;
  MemoryBudget budget_;
  ThreadPool pool_;
  std::vector<RopeTable> ropes_;  // one per entry of config_.ropes
  ProductRunner products_;
  CachedAttention cache_;
  DeltaNets delta_nets_;
  Arena weights_;
  const uint64_t expert_bytes_;  // part of weights_, packed on demand
  const FileMappings mappings_;  // the file's mapping holds experts until they are packed
  ExpertRunner experts_;
  const TensorInfo* embedding_;  // in the file; with tied embeddings rows are read from output_
  PackedMatrix output_;
  std::vector<Layer> layers_;
  std::vector<float> output_norm_, output_bias_;  // output_bias_: empty if the model has none
  Pages activations_, logits_;
  PassState state_;
  Buffer q_gate_;                         // [columns, n_heads * head_dim], where attention is gated
  std::vector<CachedRun> runs_;           // the pass's runs
  std::vector<Column> columns_;           // remaining columns of the pass
  std::vector<uint32_t> logits_columns_;  // columns with wanted logits, ascending
  Profile profile_;
  Clock::time_point pass_began_;
  uint32_t op_embed_, op_qkv_, op_rope_, op_attention_, op_delta_, op_conv_, op_delta_step_, op_output_, op_gate_up_,
      op_down_, op_route_, op_experts_, op_logits_;
  std::vector<uint32_t> streaming_;  // operations that only read weights; empty once the bandwidth is measured
};

CpuSteps::CpuSteps(const CpuKernels& kernels, const ModelConfig& config, const ModelTensors& tensors,
                   const CpuOptions& options, const MemoryBudget& budget)
    : kernels_(kernels),
      config_(config),
      context_(options.context),
      max_columns_(columns_of(options)),
      sequences_(options.sequences),
      budget_(budget),
      pool_(std::min(options.threads > 0 ? options.threads : fast_cores().n, uint32_t{ThreadPool::kMaxThreads})),
      products_(pool_, kernels, max_columns_, widest_input(config)),
      cache_(pool_, kernels, config, context_, sequences_, options.cache, options.pages),
      delta_nets_(pool_, kernels, config, states_of(options)),
      weights_(memory_budget(kernels, config, tensors, max_columns_).weights_bytes, "weights"),
      expert_bytes_(expert_bytes(kernels, config, tensors)),
      experts_(pool_, kernels, products_, mappings_, weights_, config, max_columns_),
      embedding_(tensors.token_embd),
      output_norm_(floats_of(tensors.output_norm)),
      output_bias_(floats_of(tensors.output_bias)) {
  for (const Rope& rope : config.ropes) ropes_.emplace_back(rope, config.rope_pairing);
  load(tensors, options);
  lay_out_buffers();
  op_embed_ = profile_.operation("embed");
  op_qkv_ = profile_.operation("norm_qkv");
  op_rope_ = profile_.operation("rope_scatter");
  op_attention_ = profile_.operation("attention");
  streaming_ = {op_qkv_};
  if (config.n_layers_with(Mixer::kDeltaNet) > 0) {
    op_delta_ = profile_.operation("norm_delta");
    op_conv_ = profile_.operation("conv_step");
    op_delta_step_ = profile_.operation("delta_step");
    streaming_.push_back(op_delta_);
  }
  op_output_ = profile_.operation("output_residual");
  if (config.experts.n > 0) {
    op_route_ = profile_.operation("norm_route");
    op_experts_ = profile_.operation("experts_residual");
  } else {
    op_gate_up_ = profile_.operation("norm_gate_up");
    op_down_ = profile_.operation("down_residual");
  }
  op_logits_ = profile_.operation("norm_logits");
  streaming_.insert(streaming_.end(), {op_output_, op_logits_});
  if (config.experts.n == 0) streaming_.insert(streaming_.end(), {op_gate_up_, op_down_});
}

// Runs before the first profiled pass; takes as long as reading some 200 MiB.
void CpuSteps::measure_bandwidth() {
  if (streaming_.empty() || !profile_.is_enabled()) return;
  const double bandwidth = read_bandwidth(pool_, {weights_.data(), weights_.n_taken()});
  profile_.set_peak_bandwidth(bandwidth, std::exchange(streaming_, {}));
}

// Packing releases the file's pages, so that no two copies are resident. They are released again at the end, because
// reading a tensor also loads pages of its neighbours.
void CpuSteps::load(const ModelTensors& tensors, const CpuOptions& options) {
  const auto total = static_cast<double>(weights_.n_bytes() - expert_bytes_);
  std::vector<const TensorInfo*> packed_tensors;
  const auto pack = [&](const TensorInfo* tensor) {
    if (tensor == nullptr) return PackedMatrix();
    PackedMatrix packed(pool_, kernels_, *tensor, mappings_, weights_);
    packed_tensors.push_back(tensor);
    if (options.progress) options.progress(static_cast<double>(weights_.n_taken()) / total);
    return packed;
  };
  layers_.reserve(tensors.layers.size());
  for (const LayerTensors& t : tensors.layers) {
    layers_.push_back({map(t.matrices, pack),
                       map(t.vectors, floats_of),
                       experts_.load(t.experts),
                       {map(t.delta_matrices, pack), map(t.delta_vectors, floats_of)}});
    std::vector<float>& conv = layers_.back().delta_net.vectors.conv;
    if (!conv.empty()) conv = by_taps(conv, config_.delta_net.conv_kernel);
  }
  output_ = pack(tensors.output);
  for (const TensorInfo* tensor : packed_tensors) mappings_.release(tensor->data.data(), tensor->data.size());
}

void CpuSteps::lay_out_buffers() {
  const uint32_t q_width = config_.n_heads * config_.head_dim, kv_width = config_.n_kv_heads * config_.head_dim;
  const uint32_t gate_width = config_.gated_attention ? q_width : 0;
  const DeltaNetConfig& net = config_.delta_net;
  const uint64_t widths = uint64_t{config_.hidden} + 2 * uint64_t{q_width} + gate_width + 2 * uint64_t{kv_width} +
                          config_.ffn + config_.experts.n + net.channels() + 2 * uint64_t{net.inner()} +
                          2 * uint64_t{net.n_v_heads};
  activations_ = Pages(max_columns_ * widths * sizeof(float), "activations");
  float* next = activations_.as<float>();
  const auto allocate = [&](uint32_t width) {
    const Buffer buffer{next, width};
    next += uint64_t{max_columns_} * width;
    return buffer;
  };
  state_.hidden = allocate(config_.hidden);
  state_.q = allocate(q_width);
  state_.k = allocate(kv_width);
  state_.v = allocate(kv_width);
  q_gate_ = allocate(gate_width);
  state_.mixed = allocate(q_width);
  state_.inner = allocate(config_.ffn);
  state_.scores = allocate(config_.experts.n);
  state_.delta = {allocate(net.channels()), allocate(net.inner()), allocate(net.n_v_heads), allocate(net.n_v_heads),
                  allocate(net.inner())};
  logits_ = Pages(uint64_t{max_logits_columns()} * config_.n_vocab * sizeof(float), "logits");
  state_.logits = {logits_.as<float>(), config_.n_vocab};
}

ProductInput CpuSteps::normalised(Buffer hidden, uint32_t columns, const std::vector<float>& gain) const {
  return {floats(hidden), columns, hidden.width, gain.data(), config_.rms_eps};
}

void CpuSteps::begin(std::span<const Run> runs) {
  measure_bandwidth();
  pass_began_ = Clock::now();
  runs_.clear(), columns_.clear(), logits_columns_.clear();
  std::vector<uint32_t> positions;
  for (const Run& run : runs) {
    assert(!run.tokens.empty() && run.position + run.n_columns() <= context_ && run.sequence < sequences_);
    assert(run.position + run.n_columns() <= cache_.positions_of(run.sequence));
    runs_.push_back({run.sequence, run.position, run.n_columns()});
    for (uint32_t i = 0; i < run.n_columns(); ++i) {
      if (i >= run.n_columns() - run.n_wanted()) logits_columns_.push_back(n_columns());
      positions.push_back(run.position + i);
      columns_.push_back({run.tokens[i], run.sequence, run.position + i});
    }
  }
  assert(n_columns() <= max_columns_ && logits_columns_.size() <= max_logits_columns());
  for (RopeTable& rope : ropes_) rope.prepare(pool_, positions);
  delta_nets_.begin(runs_);
}

void CpuSteps::embed(Buffer hidden) {
  OperationTimer timer(profile_, op_embed_, column_bytes(hidden.width));
  const TensorType type = config_.tied_output ? output_.type() : embedding_->type;
  const uint64_t row_bytes = bytes_per_row(type, embedding_->k());
  constexpr uint32_t kColumnsPerTask = 8;
  pool_.for_each((n_columns() + kColumnsPerTask - 1) / kColumnsPerTask, [&](uint32_t task) {
    std::vector<std::byte> unpacked(config_.tied_output ? row_bytes : 0);
    const uint32_t end = std::min(n_columns(), (task + 1) * kColumnsPerTask);
    for (uint32_t column = task * kColumnsPerTask; column < end; ++column) {
      const auto token = static_cast<uint32_t>(columns_[column].token);
      if (config_.tied_output) output_.read_row(token, unpacked);
      const auto row = config_.tied_output ? std::span<const std::byte>(unpacked)
                                           : embedding_->data.subspan(token * row_bytes, row_bytes);
      dequantise_row(type, row, std::span<float>(column_of(hidden, column), hidden.width));
    }
  });
}

void CpuSteps::norm_qkv(uint32_t index, Buffer hidden, Buffer q, Buffer k, Buffer v) {
  const LayerMatrices<PackedMatrix>& matrices = layers_[index].matrices;
  const LayerVectors<std::vector<float>>& vectors = layers_[index].vectors;
  OperationTimer timer(profile_, op_qkv_,
                       matrices.q.n_bytes() + matrices.k.n_bytes() + matrices.v.n_bytes() + matrices.q_gate.n_bytes() +
                           column_bytes(uint64_t{hidden.width} + q.width + k.width + v.width + q_gate_.width));
  const Product products[] = {{&matrices.q, floats(q), Epilogue::kStore, bias_of(vectors.q_bias)},
                              {&matrices.k, floats(k), Epilogue::kStore, bias_of(vectors.k_bias)},
                              {&matrices.v, floats(v), Epilogue::kStore, bias_of(vectors.v_bias)},
                              {&matrices.q_gate, floats(q_gate_)}};
  products_.run(normalised(hidden, n_columns(), vectors.attn_norm),
                std::span(products).first(config_.gated_attention ? 4 : 3));
}

void CpuSteps::rope_scatter(uint32_t index, Buffer q, Buffer k, Buffer v) {
  const LayerVectors<std::vector<float>>& vectors = layers_[index].vectors;
  OperationTimer timer(profile_, op_rope_, column_bytes(2 * uint64_t{q.width} + 3 * uint64_t{k.width}));
  const RopeTable& rope = ropes_[config_.layers[index].rope];
  const uint32_t head_dim = config_.head_dim;
  pool_.for_each(n_columns(), [&](uint32_t column) {
    const auto turn = [&](float* heads, uint32_t n_heads, const std::vector<float>& gain) {
      kernels_.norm_and_rope_heads({heads, n_heads, head_dim, gain.empty() ? nullptr : gain.data(), config_.rms_eps,
                                    rope.cosines(column), rope.sines(column), rope.dims(), rope.neox()});
    };
    float *keys = column_of(k, column), *values = column_of(v, column);
    turn(column_of(q, column), config_.n_heads, vectors.q_norm);
    turn(keys, config_.n_kv_heads, vectors.k_norm);
    for (uint32_t h = 0; h < config_.n_kv_heads; ++h)
      cache_.store(cache_slot_of_layer_[index], columns_[column].sequence, h, columns_[column].position,
                   keys + h * head_dim, values + h * head_dim);
  });
}

void CpuSteps::attention(uint32_t index, Buffer q, Buffer k, Buffer v, Buffer mixed) {
  rope_scatter(index, q, k, v);
  uint64_t n_keys = 0;  // read once per run
  for (const CachedRun& run : runs_) n_keys += run.position + run.columns;
  const uint64_t cached = n_keys * config_.n_kv_heads * cache_.bytes_per_key();
  OperationTimer timer(profile_, op_attention_, column_bytes(2 * uint64_t{q.width}) + cached);
  cache_.run(cache_slot_of_layer_[index], runs_, floats(q), floats(mixed));
  if (!config_.gated_attention) return;
  pool_.for_each(n_columns(), [&](uint32_t column) {
    kernels_.apply_gate({column_of(mixed, column), column_of(q_gate_, column), mixed.width, /*silu=*/false});
  });
}

void CpuSteps::norm_delta(uint32_t index, Buffer hidden, const DeltaBuffers& x) {
  const auto& [qkv, z, alpha, beta] = layers_[index].delta_net.matrices;
  OperationTimer timer(
      profile_, op_delta_,
      qkv.n_bytes() + z.n_bytes() + alpha.n_bytes() + beta.n_bytes() +
          column_bytes(uint64_t{hidden.width} + x.qkv.width + x.z.width + 2 * uint64_t{x.alpha.width}));
  const Product products[] = {
      {&qkv, floats(x.qkv)}, {&z, floats(x.z)}, {&alpha, floats(x.alpha)}, {&beta, floats(x.beta)}};
  products_.run(normalised(hidden, n_columns(), layers_[index].vectors.attn_norm), products);
}

void CpuSteps::conv_step(uint32_t index, const DeltaBuffers& x) {
  OperationTimer timer(profile_, op_conv_, column_bytes(2 * uint64_t{x.qkv.width}));
  delta_nets_.convolve(layers_[index].delta_net, cache_slot_of_layer_[index], runs_, x);
}

void CpuSteps::delta_step(uint32_t index, const DeltaBuffers& x) {
  const uint64_t states = runs_.size() * 2 * uint64_t{x.mixed.width} * config_.delta_net.head_dim * sizeof(float);
  OperationTimer timer(profile_, op_delta_step_,
                       states + column_bytes(uint64_t{x.qkv.width} + 3 * uint64_t{x.z.width}));
  delta_nets_.step(layers_[index].delta_net, cache_slot_of_layer_[index], runs_, x);
}

bool CpuSteps::keep_wanted(Buffer mixed, Buffer hidden) {
  for (uint32_t i = 0; i < logits_columns_.size(); ++i) {  // in place: sources never precede targets
    for (const Buffer buffer : {mixed, hidden})
      std::memmove(column_of(buffer, i), column_of(buffer, logits_columns_[i]), buffer.width * sizeof(float));
  }
  columns_.resize(logits_columns_.size());
  return !columns_.empty();
}

void CpuSteps::output_residual(uint32_t index, Buffer mixed, Buffer hidden) {
  const PackedMatrix& matrix = layers_[index].matrices.output;
  OperationTimer timer(profile_, op_output_, matrix.n_bytes() + column_bytes(mixed.width + 2 * uint64_t{hidden.width}));
  const Product product{&matrix, floats(hidden), Epilogue::kAdd, bias_of(layers_[index].vectors.output_bias)};
  products_.run(plain(mixed), {&product, 1});
}

void CpuSteps::norm_gate_up(uint32_t index, Buffer hidden, Buffer inner) {
  const LayerMatrices<PackedMatrix>& matrices = layers_[index].matrices;
  const LayerVectors<std::vector<float>>& vectors = layers_[index].vectors;
  OperationTimer timer(
      profile_, op_gate_up_,
      matrices.gate.n_bytes() + matrices.up.n_bytes() + column_bytes(uint64_t{hidden.width} + inner.width));
  const Product swiglu{.matrix = &matrices.up,
                       .out = floats(inner),
                       .bias = bias_of(vectors.up_bias),
                       .gate = &matrices.gate,
                       .gate_bias = bias_of(vectors.gate_bias)};
  products_.run(normalised(hidden, n_columns(), vectors.ffn_norm), {&swiglu, 1});
}

void CpuSteps::down_residual(uint32_t index, Buffer inner, Buffer hidden) {
  const PackedMatrix& matrix = layers_[index].matrices.down;
  OperationTimer timer(profile_, op_down_, matrix.n_bytes() + column_bytes(inner.width + 2 * uint64_t{hidden.width}));
  const Product product{&matrix, floats(hidden), Epilogue::kAdd, bias_of(layers_[index].vectors.down_bias)};
  products_.run(plain(inner), {&product, 1});
}

void CpuSteps::norm_route(uint32_t index, Buffer hidden, Buffer scores) {
  const PackedMatrix& router = layers_[index].experts.packed.router[0];
  OperationTimer timer(profile_, op_route_, router.n_bytes() + column_bytes(uint64_t{hidden.width} + scores.width));
  const Product product{&router, floats(scores)};
  products_.run(normalised(hidden, n_columns(), layers_[index].vectors.ffn_norm), {&product, 1});
  experts_.choose(floats(scores), n_columns());
}

void CpuSteps::experts_residual(uint32_t index, Buffer hidden) {
  Layer& layer = layers_[index];
  OperationTimer timer(profile_, op_experts_, column_bytes(2 * uint64_t{hidden.width}));
  timer.add_bytes(experts_.run(layer.experts, normalised(hidden, n_columns(), layer.vectors.ffn_norm),
                               layer.vectors.shared_expert_gate, floats(hidden)));
}

void CpuSteps::norm_logits(Buffer hidden, Buffer logits) {
  OperationTimer timer(profile_, op_logits_,
                       output_.n_bytes() + column_bytes(uint64_t{hidden.width} + config_.n_vocab));
  const Product product{&output_, floats(logits), Epilogue::kStore, bias_of(output_bias_)};
  products_.run(normalised(hidden, n_columns(), output_norm_), {&product, 1});
}

PassEnd CpuSteps::end_pass() {
  const double seconds = std::chrono::duration<double>(Clock::now() - pass_began_).count();
  return [seconds](bool) { return seconds; };
}

std::vector<MemoryUse> CpuSteps::memory() const {
  std::vector<MemoryUse> assignments{
      {"weights", weights_.n_bytes()},
      {"KV cache", cache_.n_bytes()},
      {"states of delta nets", delta_nets_.n_bytes()},
      {"activations", activations_.n_bytes() + logits_.n_bytes() + products_.n_bytes() + experts_.n_bytes()}};
  std::erase_if(assignments, [](const MemoryUse& use) { return use.bytes == 0; });
  if (!config_.tied_output) assignments.push_back({"embedding, in the file", embedding_->data.size()});
  return assignments;
}

// Position in the buffers. Also valid before keep_wanted, and if no column was dropped.
float* CpuSteps::kept_column(Buffer buffer, uint32_t column) const {
  if (n_columns() == logits_columns_.size()) {
    const auto kept = std::ranges::lower_bound(logits_columns_, column);
    assert(kept != logits_columns_.end() && *kept == column);
    column = static_cast<uint32_t>(kept - logits_columns_.begin());
  }
  assert(column < n_columns());
  return column_of(buffer, column);
}

bool CpuSteps::read_columns(Buffer buffer, uint32_t first, std::span<float> values) {
  for (size_t i = 0; i < values.size(); i += buffer.width)
    std::copy_n(kept_column(buffer, first++), buffer.width, values.data() + i);
  return true;
}

bool CpuSteps::write_columns(Buffer buffer, uint32_t first, std::span<const float> values) {
  for (size_t i = 0; i < values.size(); i += buffer.width)
    std::copy_n(values.data() + i, buffer.width, kept_column(buffer, first++));
  return true;
}

std::span<const float> CpuSteps::read_logits(uint32_t column) {
  const auto found = std::ranges::lower_bound(logits_columns_, column);
  assert(found != logits_columns_.end() && *found == column);
  return {column_of(state_.logits, static_cast<uint32_t>(found - logits_columns_.begin())), config_.n_vocab};
}

MemoryBudget budget_of(const CpuKernels& kernels, const ModelConfig& config, const ModelTensors& tensors,
                       const CpuOptions& options) {
  MemoryBudget budget = memory_budget(kernels, config, tensors, columns_of(options), options.sequences, options.cache,
                                      states_of(options));
  if (options.pages == 0) return budget;
  budget.cache_bytes_per_position = CachedAttention::cache_bytes_per_position(config, options.cache);
  if (options.pages > pages_of(options.context))
    budget.min_cache_bytes = saturating_product({options.pages, kPagePositions, budget.cache_bytes_per_position});
  return budget;
}

}  // namespace

uint64_t cpu_memory_needed(const ModelConfig& config, const ModelTensors& tensors, const CpuOptions& options) {
  return budget_of(kernels_for(options), config, tensors, options).total(options.context);
}

std::unique_ptr<Steps> make_cpu_steps(const ModelConfig& config, const ModelTensors& tensors,
                                      const CpuOptions& options) {
  assert(options.context > 0 && options.max_columns > 0);
  const CpuKernels& kernels = kernels_for(options);
  const MemoryBudget budget = budget_of(kernels, config, tensors, options);
  check_memory(budget, options.context, available_memory(), "memory", config.context_length);
  return std::make_unique<CpuSteps>(kernels, config, tensors, options, budget);
}

}  // namespace warpchat
