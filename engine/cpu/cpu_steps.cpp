// The operations of a pass on the CPU, a function for each kind. Each is one or two parallel loops over the pool.
#include "engine/cpu/cpu_steps.h"

#include <algorithm>
#include <array>
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
#include "engine/decoder.h"
#include "engine/file_mappings.h"
#include "engine/profile.h"
#include "models/dequantise.h"

namespace warpchat {
namespace {

using Clock = std::chrono::steady_clock;

struct Layer {
  PerWeight<PackedMatrix> matrices;       // but for the experts'
  PerWeight<std::vector<float>> vectors;  // empty where the model has none
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
  bool run(const Operation& operation) override;
  PassEnd end_pass() override;
  void wait() override {}
  bool read_columns(Buffer buffer, uint32_t first, std::span<float> values) override;
  bool write_columns(Buffer buffer, uint32_t first, std::span<const float> values) override;
  std::span<const float> read_logits(uint32_t column) override;

 private:
  void load(const ModelTensors& tensors, const CpuOptions& options);
  void run(const Operation& operation, const Embedding& o);
  void run(const Operation& operation, const Products& o);
  void run(const Operation& operation, const Attention& o);
  void run(const Operation& operation, const Convolution& o);
  void run(const Operation& operation, const Recurrence& o);
  void run(const Operation& operation, const WantedColumns& o);
  void run(const Operation& operation, const Routing& o);
  void run(const Operation& operation, const Experts& o);
  void rope_scatter(uint32_t layer, const Attention& o);
  void lay_out_buffers();
  void measure_bandwidth();
  ProductInput input_of(uint32_t layer, Buffer input, Weight norm) const;
  uint64_t multiply(uint32_t layer, const Products& o);  // returns the bytes that move
  const FloatColumns& at(Buffer buffer) const { return buffers_[static_cast<size_t>(buffer)]; }
  const PackedMatrix* matrix(uint32_t layer, Weight weight) const;
  const std::vector<float>& vector(uint32_t layer, Weight weight) const { return layers_[layer].vectors[weight]; }
  const float* vector_or_null(uint32_t layer, Weight weight) const;
  uint32_t profile_row(const Operation& operation) const { return profile_rows_[operation.index]; }
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
  std::vector<Layer> layers_;    // [n_layers + 1]: the last has the weights outside the layers
  Pages activations_, logits_;
  std::array<FloatColumns, kBuffers> buffers_;
  std::vector<CachedRun> runs_;           // the pass's runs
  std::vector<Column> columns_;           // remaining columns of the pass
  std::vector<uint32_t> logits_columns_;  // columns with wanted logits, ascending
  Profile profile_;
  Clock::time_point pass_began_;
  std::vector<uint32_t> profile_rows_;  // [operations]
  uint32_t scatter_row_;
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
      embedding_(tensors.token_embd) {
  for (const Rope& rope : config.ropes) ropes_.emplace_back(rope, config.rope_pairing);
  load(tensors, options);
  lay_out_buffers();
  for (const Operation& operation : text_decoder(config)) {
    if (std::holds_alternative<Attention>(operation.what)) scatter_row_ = profile_.operation("rope_scatter");
    profile_rows_.push_back(std::holds_alternative<WantedColumns>(operation.what) ? 0
                                                                                  : profile_.operation(operation.name));
    if (std::holds_alternative<Products>(operation.what)) streaming_.push_back(profile_rows_.back());
  }
  std::ranges::sort(streaming_);
  streaming_.erase(std::ranges::unique(streaming_).begin(), streaming_.end());
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
  layers_.reserve(tensors.layers.size() + 1);
  for (const LayerTensors& t : tensors.layers) {
    Layer& layer = layers_.emplace_back();
    layer.matrices =
        by_weight<PackedMatrix>(map(t.matrices, pack), map(t.delta_matrices, pack), ExpertMatrices<PackedMatrix>(),
                                LayerVectors<PackedMatrix>(), DeltaVectors<PackedMatrix>());
    layer.experts = experts_.load(t.experts);
    layer.delta_net = map(t.delta_vectors, floats_of);
    using Floats = std::vector<float>;
    layer.vectors = by_weight<Floats>(LayerMatrices<Floats>(), DeltaMatrices<Floats>(), ExpertMatrices<Floats>(),
                                      map(t.vectors, floats_of), DeltaVectors<Floats>());
    Floats& conv = layer.delta_net.conv;
    if (!conv.empty()) conv = by_taps(conv, config_.delta_net.conv_kernel);
  }
  Layer& outside = layers_.emplace_back();
  outside.matrices[Weight::kLogits] = pack(tensors.output);
  outside.vectors[Weight::kLogitsNorm] = floats_of(tensors.output_norm);
  outside.vectors[Weight::kLogitsBias] = floats_of(tensors.output_bias);
  for (const TensorInfo* tensor : packed_tensors) mappings_.release(tensor->data.data(), tensor->data.size());
}

void CpuSteps::lay_out_buffers() {
  uint64_t widths = 0;
  for (const Buffer buffer : kActivations) widths += shape_of(buffer, config_).width;
  activations_ = Pages(max_columns_ * widths * sizeof(float), "activations");
  float* next = activations_.as<float>();
  for (const Buffer buffer : kActivations) {
    const uint32_t width = shape_of(buffer, config_).width;
    buffers_[static_cast<size_t>(buffer)] = {next, width};
    next += uint64_t{max_columns_} * width;
  }
  logits_ = Pages(uint64_t{max_logits_columns()} * config_.n_vocab * sizeof(float), "logits");
  buffers_[static_cast<size_t>(Buffer::kLogits)] = {logits_.as<float>(), config_.n_vocab};
}

const PackedMatrix* CpuSteps::matrix(uint32_t layer, Weight weight) const {
  if (weight == Weight::kNone) return nullptr;
  return weight == Weight::kRouter ? &layers_[layer].experts.packed.router[0] : &layers_[layer].matrices[weight];
}

const float* CpuSteps::vector_or_null(uint32_t layer, Weight weight) const {
  return weight == Weight::kNone || vector(layer, weight).empty() ? nullptr : vector(layer, weight).data();
}

ProductInput CpuSteps::input_of(uint32_t layer, Buffer input, Weight norm) const {
  return {at(input).data, n_columns(), at(input).width, vector_or_null(layer, norm), config_.rms_eps};
}

bool CpuSteps::run(const Operation& operation) {
  std::visit([&](const auto& what) { run(operation, what); }, operation.what);
  return !columns_.empty();
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

void CpuSteps::run(const Operation& operation, const Embedding& o) {
  const FloatColumns& hidden = at(o.output);
  OperationTimer timer(profile_, profile_row(operation), column_bytes(hidden.width));
  const PackedMatrix& output = *matrix(config_.n_layers, Weight::kLogits);
  const TensorType type = config_.tied_output ? output.type() : embedding_->type;
  const uint64_t row_bytes = bytes_per_row(type, embedding_->k());
  constexpr uint32_t kColumnsPerTask = 8;
  pool_.for_each((n_columns() + kColumnsPerTask - 1) / kColumnsPerTask, [&](uint32_t task) {
    std::vector<std::byte> unpacked(config_.tied_output ? row_bytes : 0);
    const uint32_t end = std::min(n_columns(), (task + 1) * kColumnsPerTask);
    for (uint32_t column = task * kColumnsPerTask; column < end; ++column) {
      const auto token = static_cast<uint32_t>(columns_[column].token);
      if (config_.tied_output) output.read_row(token, unpacked);
      const auto row = config_.tied_output ? std::span<const std::byte>(unpacked)
                                           : embedding_->data.subspan(token * row_bytes, row_bytes);
      dequantise_row(type, row, std::span<float>(hidden.column(column), hidden.width));
    }
  });
}

uint64_t CpuSteps::multiply(uint32_t layer, const Products& o) {
  std::vector<Product> products;
  uint64_t n_bytes = column_bytes(at(o.input).width);
  for (const MatrixProduct& product : o.products) {
    const FloatColumns& out = at(product.output);
    const PackedMatrix *weights = matrix(layer, product.weights), *up = matrix(layer, product.up);
    n_bytes += weights->n_bytes() + column_bytes(uint64_t{out.width} * (product.adds ? 2 : 1));
    products.push_back({.matrix = weights,
                        .out = out.data,
                        .epilogue = product.adds ? Epilogue::kAdd : Epilogue::kStore,
                        .bias = vector_or_null(layer, product.bias)});
    if (up == nullptr) continue;
    Product& swiglu = products.back();
    swiglu.gate = std::exchange(swiglu.matrix, up);
    swiglu.gate_bias = std::exchange(swiglu.bias, vector_or_null(layer, product.up_bias));
    n_bytes += up->n_bytes();
  }
  products_.run(input_of(layer, o.input, o.norm), products);
  return n_bytes;
}

void CpuSteps::run(const Operation& operation, const Products& o) {
  OperationTimer timer(profile_, profile_row(operation), 0);
  timer.add_bytes(multiply(operation.layer, o));
}

void CpuSteps::rope_scatter(uint32_t layer, const Attention& o) {
  const FloatColumns &q = at(o.q), &k = at(o.k), &v = at(o.v);
  OperationTimer timer(profile_, scatter_row_, column_bytes(2 * uint64_t{q.width} + 3 * uint64_t{k.width}));
  const RopeTable& rope = ropes_[config_.layers[layer].rope];
  const uint32_t head_dim = config_.head_dim;
  pool_.for_each(n_columns(), [&](uint32_t column) {
    const auto turn = [&](float* heads, uint32_t n_heads, Weight gain) {
      kernels_.norm_and_rope_heads({heads, n_heads, head_dim, vector_or_null(layer, gain), config_.rms_eps,
                                    rope.cosines(column), rope.sines(column), rope.dims(), rope.neox()});
    };
    float *keys = k.column(column), *values = v.column(column);
    turn(q.column(column), config_.n_heads, Weight::kQNorm);
    turn(keys, config_.n_kv_heads, Weight::kKNorm);
    for (uint32_t h = 0; h < config_.n_kv_heads; ++h)
      cache_.store(cache_slot_of_layer_[layer], columns_[column].sequence, h, columns_[column].position,
                   keys + h * head_dim, values + h * head_dim);
  });
}

void CpuSteps::run(const Operation& operation, const Attention& o) {
  rope_scatter(operation.layer, o);
  const FloatColumns &q = at(o.q), &mixed = at(o.output);
  uint64_t n_keys = 0;  // read once per run
  for (const CachedRun& run : runs_) n_keys += run.position + run.columns;
  const uint64_t cached = n_keys * config_.n_kv_heads * cache_.bytes_per_key();
  OperationTimer timer(profile_, profile_row(operation), column_bytes(2 * uint64_t{q.width}) + cached);
  cache_.run(cache_slot_of_layer_[operation.layer], runs_, q.data, mixed.data);
  if (!o.gate) return;
  pool_.for_each(n_columns(), [&](uint32_t column) {
    kernels_.apply_gate({mixed.column(column), at(*o.gate).column(column), mixed.width, /*silu=*/false});
  });
}

void CpuSteps::run(const Operation& operation, const Convolution& o) {
  OperationTimer timer(profile_, profile_row(operation), column_bytes(2 * uint64_t{at(o.qkv).width}));
  delta_nets_.convolve(layers_[operation.layer].delta_net, cache_slot_of_layer_[operation.layer], runs_,
                       {.qkv = at(o.qkv), .alpha = at(o.alpha), .beta = at(o.beta)});
}

void CpuSteps::run(const Operation& operation, const Recurrence& o) {
  const DeltaBuffers x{at(o.qkv), at(o.z), at(o.alpha), at(o.beta), at(o.output)};
  const uint64_t states = runs_.size() * 2 * uint64_t{x.mixed.width} * config_.delta_net.head_dim * sizeof(float);
  OperationTimer timer(profile_, profile_row(operation),
                       states + column_bytes(uint64_t{x.qkv.width} + 3 * uint64_t{x.z.width}));
  delta_nets_.step(layers_[operation.layer].delta_net, cache_slot_of_layer_[operation.layer], runs_, x);
}

void CpuSteps::run(const Operation&, const WantedColumns& o) {
  for (uint32_t i = 0; i < logits_columns_.size(); ++i) {  // in place: sources never precede targets
    for (const Buffer buffer : o.buffers)
      std::memmove(at(buffer).column(i), at(buffer).column(logits_columns_[i]), at(buffer).width * sizeof(float));
  }
  columns_.resize(logits_columns_.size());
}

// The shared expert's gate is computed with its output.
void CpuSteps::run(const Operation& operation, const Routing& o) {
  OperationTimer timer(profile_, profile_row(operation), 0);
  const MatrixProduct& scores = o.scores.products[0];
  timer.add_bytes(multiply(operation.layer, {o.scores.input, o.scores.norm, {scores}}));
  experts_.choose(at(scores.output).data, n_columns());
}

void CpuSteps::run(const Operation& operation, const Experts& o) {
  OperationTimer timer(profile_, profile_row(operation), column_bytes(2 * uint64_t{at(o.output).width}));
  timer.add_bytes(experts_.run(layers_[operation.layer].experts, input_of(operation.layer, o.input, o.norm),
                               vector(operation.layer, Weight::kSharedExpertGate), at(o.output).data));
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

// Position in the buffers. Also valid before WantedColumns, and if no column was dropped.
float* CpuSteps::kept_column(Buffer buffer, uint32_t column) const {
  if (n_columns() == logits_columns_.size()) {
    const auto kept = std::ranges::lower_bound(logits_columns_, column);
    assert(kept != logits_columns_.end() && *kept == column);
    column = static_cast<uint32_t>(kept - logits_columns_.begin());
  }
  assert(column < n_columns());
  return at(buffer).column(column);
}

bool CpuSteps::read_columns(Buffer buffer, uint32_t first, std::span<float> values) {
  for (size_t i = 0; i < values.size(); i += at(buffer).width)
    std::copy_n(kept_column(buffer, first++), at(buffer).width, values.data() + i);
  return true;
}

bool CpuSteps::write_columns(Buffer buffer, uint32_t first, std::span<const float> values) {
  for (size_t i = 0; i < values.size(); i += at(buffer).width)
    std::copy_n(values.data() + i, at(buffer).width, kept_column(buffer, first++));
  return true;
}

std::span<const float> CpuSteps::read_logits(uint32_t column) {
  const auto found = std::ranges::lower_bound(logits_columns_, column);
  assert(found != logits_columns_.end() && *found == column);
  return {at(Buffer::kLogits).column(static_cast<uint32_t>(found - logits_columns_.begin())), config_.n_vocab};
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
