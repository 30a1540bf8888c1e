// The decoder's steps in the order of its page: each is a kernel or three, with its parameters in the kernel's order.
#include "engine/gpu/gpu_steps.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <utility>

#include "engine/driver/emulator_profile.h"
#include "engine/gpu/gpu_memory.h"
#include "engine/gpu/kernel_set.h"
#include "engine/gpu/launch_graph.h"
#include "engine/gpu/launch_timer.h"
#include "engine/gpu/weight_upload.h"
#include "engine/profile.h"
#include "kernels/error_word.h"
#include "kernels/kernel_list.h"
#include "models/message.h"

namespace warpchat {
namespace {

struct Step {  // a kernel and its row in the profile
  const LoadedKernel* kernel;
  uint32_t operation;
};

struct LayerSteps {
  Step q, k, v, output, gate_up, down;
};

struct PassSteps {  // of passes of one column, or of several
  Step embedding, kv_scatter, attention, logits;
  std::vector<LayerSteps> layers;
  AttentionSpec attention_spec;
};

using PassSpecs = std::array<DecoderSpecs, 2>;  // of passes of one column, and of several

struct LayerWeights {  // device addresses; 0 where the model has none
  uint64_t q, k, v, output, gate, up, down;
  uint64_t attn_norm, ffn_norm, q_bias, k_bias, v_bias, q_norm, k_norm;
};

struct Arguments {
  std::array<Argument, 16> items;
  size_t n = 0;
  Arguments(std::initializer_list<Argument> list) {
    for (const Argument& argument : list) add(argument);
  }
  void add(const Argument& argument) { items.at(n++) = argument; }
  void add_unless_null(uint64_t address) {
    if (address != 0) add(Argument::address(address));
  }
};

uint64_t address_of(Buffer buffer) { return reinterpret_cast<uint64_t>(buffer.data); }
Argument at(uint64_t address) { return Argument::address(address); }
Argument at(Buffer buffer) { return at(address_of(buffer)); }

class GpuSteps final : public Steps {
 public:
  GpuSteps(const ModelConfig& config, const ModelTensors& tensors, const GpuOptions& options, ContextPointer context,
           const PassSpecs& specs, std::vector<ptx::Kernel> kernels);
  ~GpuSteps() override;

  uint32_t max_columns() const override { return std::min(kGpuPassColumns, positions_); }
  uint32_t max_positions() const override { return positions_; }
  const PassState& buffers() const override { return state_; }
  Profile& profile() override { return profile_; }
  std::string description() const override;

  void begin(std::span<const Token> tokens, uint32_t position) override;
  void embed(Buffer hidden) override;
  void norm_qkv(uint32_t layer, Buffer hidden, Buffer q, Buffer k, Buffer v) override;
  void rope_scatter(uint32_t layer, Buffer q, Buffer k, Buffer v) override;
  void attention(uint32_t layer, Buffer q, Buffer mixed) override;
  void output_residual(uint32_t layer, Buffer mixed, Buffer hidden) override;
  void norm_gate_up(uint32_t layer, Buffer hidden, Buffer inner) override;
  void down_residual(uint32_t layer, Buffer inner, Buffer hidden) override;
  void norm_logits(Buffer hidden, uint32_t first_column, Buffer logits) override;
  std::span<const float> read_logits(uint32_t column) override;

 private:
  struct Slot {  // of what the host tells a pass
    HostMemory words;
    Event copied;
  };
  const PassSteps& pass() const { return passes_[n_columns_ > 1]; }
  PassSteps find_steps(const DecoderSpecs& specs);
  void place_weights(const ModelTensors& tensors, const GpuOptions& options);
  void fill_cache_table();
  uint64_t cache_table(uint32_t layer, uint32_t values) const;  // 0: keys, 1: values
  void run(const Step& step, const Arguments& arguments) {
    run(step, arguments, step.kernel->kernel().launch.blocks, step.kernel->kernel().cost.bytes, n_columns_);
  }
  void run(const Step& step, Arguments arguments, ptx::Dimensions blocks, uint64_t bytes, uint32_t columns);
  void begin_layers();  // with a graph: from here to end_layers launches are recorded, or have been
  void end_layers();
  void collect_profile();
  void check_error_word();

  ModelConfig config_;
  uint32_t positions_;
  ContextPointer context_;
  Stream stream_;
  Profile profile_;
  LaunchTimer timer_;
  ActivationPlan plan_;
  DeviceMemory activations_, cache_, weights_;
  KernelSet kernels_;
  LaunchMode launch_mode_;
  LaunchGraph layers_graph_;
  uint32_t graph_operation_;
  std::array<PassSteps, 2> passes_;
  std::vector<LayerWeights> layers_;
  uint64_t token_embd_ = 0, output_norm_ = 0, output_ = 0;
  std::array<Slot, 4> slots_;
  HostMemory logits_, error_;
  PassState state_;
  uint32_t n_columns_ = 0, position_ = 0, first_logits_column_ = 0, next_slot_ = 0;
  bool has_arrived_ = false;   // the pass's logits
  bool is_replaying_ = false;  // the pass's launches are in the graph
  bool counts_;
};

// A model that the kernels cannot compute is refused here.
std::vector<ptx::Kernel> kernels_of(const PassSpecs& passes, ptx::Target target) {
  std::vector<ptx::Kernel> kernels;
  try {
    for (const DecoderSpecs& specs : passes)
      for (ptx::Kernel& kernel : decoder_kernels(specs, target)) kernels.push_back(std::move(kernel));
  } catch (const Error& error) {
    throw Error(std::string("the GPU kernels cannot compute this model: ") + error.what() + "; use --device cpu");
  }
  return kernels;
}

GpuSteps::GpuSteps(const ModelConfig& config, const ModelTensors& tensors, const GpuOptions& options,
                   ContextPointer context, const PassSpecs& specs, std::vector<ptx::Kernel> kernels)
    : config_(config),
      positions_(options.context),
      context_(context),
      stream_(context),
      timer_(stream_, profile_),
      plan_(plan_activations(config, options.context, kGpuPassColumns)),
      activations_(context, plan_.n_bytes, "activations"),
      cache_(context, cache_bytes_per_position(config) * options.context, "the KV cache"),
      kernels_(context, std::move(kernels)),
      launch_mode_(options.launch),
      layers_graph_(context),
      graph_operation_(profile_.operation("layers graph")),
      slots_{Slot{HostMemory(context, 64, "tokens"), Event(context)},
             Slot{HostMemory(context, 64, "tokens"), Event(context)},
             Slot{HostMemory(context, 64, "tokens"), Event(context)},
             Slot{HostMemory(context, 64, "tokens"), Event(context)}},
      logits_(context, uint64_t{kGpuPassColumns} * config.n_vocab * sizeof(float), "logits"),
      error_(context, sizeof(ErrorWord), "errors"),
      counts_(options.count && context->device().is_emulated) {
  if (counts_) count_emulated_launches(true);
  passes_ = {find_steps(specs[0]), find_steps(specs[1])};
  if (!context->device().is_emulated) profile_.set_peak_bandwidth(context->device().peak_bandwidth);
  place_weights(tensors, options);
  stream_.fill(activations_.address() + plan_.error, 0, sizeof(ErrorWord));
  stream_.fill(activations_.address() + plan_.scratch[0], 0, plan_.scratch_bytes);
  fill_cache_table();
  const auto buffer = [&](uint64_t offset, uint32_t width) {
    return Buffer{reinterpret_cast<void*>(activations_.address() + offset), width};
  };
  const uint32_t q_width = config.n_heads * config.head_dim, kv_width = config.n_kv_heads * config.head_dim;
  state_ = {buffer(plan_.hidden, config.hidden), buffer(plan_.q, q_width),     buffer(plan_.k, kv_width),
            buffer(plan_.v, kv_width),           buffer(plan_.mixed, q_width), buffer(plan_.inner, config.ffn),
            buffer(plan_.logits, config.n_vocab)};
  stream_.wait();
}

GpuSteps::~GpuSteps() {
  try {
    context_->make_current();  // the members free their memory on this thread
  } catch (const Error&) {     // a lost device has nothing left to free
  }
}

std::string GpuSteps::description() const {
  const GpuDevice& device = context_->device();
  return (device.is_emulated ? "emulator: " : "cuda: " + device.name + " ") + ptx::spell(device.target()) +
         ", launch " + std::string(name_of(launch_mode_));
}

PassSteps GpuSteps::find_steps(const DecoderSpecs& specs) {
  const auto step = [&](const std::string& name) { return Step{&kernels_[name], profile_.operation(name)}; };
  PassSteps pass{step(name_of(specs.embedding)),
                 step(name_of(specs.kv_scatter)),
                 step(name_of(specs.attention)),
                 step(name_of(specs.logits)),
                 {},
                 specs.attention};
  for (const LayerSpecs& layer : specs.layers)
    pass.layers.push_back({step(name_of(layer.q)), step(name_of(layer.k)), step(name_of(layer.v)),
                           step(name_of(layer.output)), step(name_of(layer.gate_up)), step(name_of(layer.down))});
  return pass;
}

void GpuSteps::place_weights(const ModelTensors& tensors, const GpuOptions& options) {
  WeightUpload upload(stream_, weights_bytes(config_, tensors), options.progress);
  const auto vector = [&](const TensorInfo* tensor) { return tensor == nullptr ? 0 : upload.place_vector(*tensor); };
  const auto matrix = [&](const TensorInfo* tensor) { return upload.place_matrix(*tensor); };
  for (const LayerTensors& t : tensors.layers)
    layers_.push_back({matrix(t.attn_q), matrix(t.attn_k), matrix(t.attn_v), matrix(t.attn_output), matrix(t.ffn_gate),
                       matrix(t.ffn_up), matrix(t.ffn_down), vector(t.attn_norm), vector(t.ffn_norm),
                       vector(t.attn_q_bias), vector(t.attn_k_bias), vector(t.attn_v_bias), vector(t.attn_q_norm),
                       vector(t.attn_k_norm)});
  token_embd_ = matrix(tensors.token_embd);
  output_ = config_.tied_output ? token_embd_ : matrix(tensors.output);
  output_norm_ = vector(tensors.output_norm);
  weights_ = upload.finish();
}

uint64_t GpuSteps::cache_table(uint32_t layer, uint32_t values) const {
  return activations_.address() + plan_.cache_table +
         (uint64_t{layer} * 2 + values) * kGpuPassColumns * sizeof(uint64_t);
}

// All columns are positions of one sequence, so each column's entry is the same cache.
void GpuSteps::fill_cache_table() {
  const uint64_t cache_bytes = cache_bytes_per_position(config_) / config_.n_layers / 2 * positions_;
  std::vector<uint64_t> table;
  for (uint64_t cache = 0; cache < uint64_t{config_.n_layers} * 2; ++cache)
    table.insert(table.end(), kGpuPassColumns, cache_.address() + cache * cache_bytes);
  stream_.upload(cache_table(0, 0), std::as_bytes(std::span(table)));
  stream_.wait();
}

void GpuSteps::run(const Step& step, Arguments arguments, ptx::Dimensions blocks, uint64_t bytes, uint32_t columns) {
  if (is_replaying_) return;
  if (n_columns_ > 1 && columns > 1) arguments.add(columns);
  if (layers_graph_.is_recording()) {  // for every position: with all the blocks there may be, and timed as a whole
    step.kernel->launch(stream_, std::span(arguments.items).first(arguments.n), step.kernel->kernel().launch.blocks);
    return;
  }
  step.kernel->launch(stream_, std::span(arguments.items).first(arguments.n), blocks);
  timer_.launched(step.operation, bytes);
}

void GpuSteps::begin_layers() {
  const bool uses_graph = launch_mode_ == LaunchMode::kGraph && n_columns_ == 1;
  is_replaying_ = uses_graph && layers_graph_.is_recorded();
  if (uses_graph && !is_replaying_) layers_graph_.begin(stream_);
}

void GpuSteps::end_layers() {
  if (layers_graph_.is_recording()) {
    layers_graph_.end(stream_);
    is_replaying_ = true;
  }
  if (!std::exchange(is_replaying_, false)) return;
  layers_graph_.launch(stream_);
  timer_.launched(graph_operation_, weights_.n_bytes());
}

void GpuSteps::begin(std::span<const Token> tokens, uint32_t position) {
  assert(!tokens.empty() && tokens.size() <= max_columns() && uint64_t{position} + tokens.size() <= positions_);
  context_->make_current();
  if (layers_graph_.is_recording()) layers_graph_.abandon(stream_);  // of a pass that was stopped
  n_columns_ = static_cast<uint32_t>(tokens.size());
  position_ = position;
  has_arrived_ = false;
  Slot& slot = slots_[next_slot_++ % slots_.size()];
  slot.copied.wait();
  const std::span<uint32_t> words = slot.words.as<uint32_t>();
  for (uint32_t column = 0; column < n_columns_; ++column) {
    words[column] = static_cast<uint32_t>(tokens[column]);
    words[kGpuPassColumns + column] = position + column;
  }
  stream_.upload(activations_.address() + plan_.pass, std::as_bytes(words));
  stream_.record(slot.copied);
  timer_.begin_pass();
  begin_layers();
}

void GpuSteps::embed(Buffer hidden) {
  const uint64_t tokens = activations_.address() + plan_.pass, error = activations_.address() + plan_.error;
  run(pass().embedding, {at(token_embd_), at(tokens), at(hidden), at(error)});
}

void GpuSteps::norm_qkv(uint32_t index, Buffer hidden, Buffer q, Buffer k, Buffer v) {
  const LayerSteps& step = pass().layers[index];
  const LayerWeights& w = layers_[index];
  const auto project = [&](const Step& product, uint64_t weights, uint64_t bias, Buffer y) {
    Arguments arguments{at(weights), at(hidden), at(w.attn_norm)};
    arguments.add_unless_null(bias);
    arguments.add(at(y));
    run(product, arguments);
  };
  project(step.q, w.q, w.q_bias, q);
  project(step.k, w.k, w.k_bias, k);
  project(step.v, w.v, w.v_bias, v);
}

void GpuSteps::rope_scatter(uint32_t index, Buffer q, Buffer k, Buffer v) {
  const LayerWeights& w = layers_[index];
  Arguments arguments{at(q), at(k), at(v)};
  arguments.add_unless_null(w.q_norm);
  arguments.add_unless_null(w.k_norm);
  arguments.add(at(activations_.address() + plan_.pass + kGpuPassColumns * sizeof(uint32_t)));
  arguments.add(at(cache_table(index, 0)));
  arguments.add(at(cache_table(index, 1)));
  arguments.add(at(activations_.address() + plan_.error));
  run(pass().kv_scatter, arguments);
}

void GpuSteps::attention(uint32_t index, Buffer q, Buffer mixed) {
  const uint64_t base = activations_.address();
  const uint64_t positions = base + plan_.pass + kGpuPassColumns * sizeof(uint32_t);
  const uint32_t longest = position_ + n_columns_;
  const uint64_t keys = uint64_t{n_columns_} * position_ + uint64_t{n_columns_} * (n_columns_ + 1) / 2;
  run(pass().attention,
      {at(q), at(cache_table(index, 0)), at(cache_table(index, 1)), at(positions), at(mixed),
       at(base + plan_.scratch[n_columns_ > 1]), at(base + plan_.error)},
      attention_grid(pass().attention_spec, longest), attention_cost(pass().attention_spec, keys).bytes, n_columns_);
}

void GpuSteps::output_residual(uint32_t index, Buffer mixed, Buffer hidden) {
  run(pass().layers[index].output, {at(layers_[index].output), at(mixed), at(hidden)});
}

void GpuSteps::norm_gate_up(uint32_t index, Buffer hidden, Buffer inner) {
  const LayerWeights& w = layers_[index];
  run(pass().layers[index].gate_up, {at(w.gate), at(w.up), at(hidden), at(w.ffn_norm), at(inner)});
}

void GpuSteps::down_residual(uint32_t index, Buffer inner, Buffer hidden) {
  run(pass().layers[index].down, {at(layers_[index].down), at(inner), at(hidden)});
  if (index + 1 == config_.n_layers) end_layers();
}

void GpuSteps::norm_logits(Buffer hidden, uint32_t first_column, Buffer logits) {
  // The kernel reads from 16-byte boundaries; where the first column wanted is not at one, all are computed.
  first_logits_column_ = hidden.width % 4 == 0 ? first_column : 0;
  const uint32_t columns = n_columns_ - first_logits_column_;
  const uint64_t x = address_of(hidden) + uint64_t{first_logits_column_} * hidden.width * sizeof(float);
  const Step& step = passes_[columns > 1].logits;
  run(step, {at(output_), at(x), at(output_norm_), at(logits)}, step.kernel->kernel().launch.blocks,
      step.kernel->kernel().cost.bytes, columns);
  const uint64_t n_bytes = uint64_t{columns} * config_.n_vocab * sizeof(float);
  stream_.download(logits_.bytes().first(n_bytes), address_of(logits));
  stream_.download(error_.bytes(), activations_.address() + plan_.error);
}

std::span<const float> GpuSteps::read_logits(uint32_t column) {
  assert(column >= first_logits_column_ && column < n_columns_);
  if (!has_arrived_) {
    stream_.wait();
    collect_profile();
    check_error_word();
    has_arrived_ = true;
  }
  return logits_.as<float>().subspan(uint64_t{column - first_logits_column_} * config_.n_vocab, config_.n_vocab);
}

void GpuSteps::collect_profile() {
  timer_.collect();
  if (!counts_) return;
  for (const CountedKernel& kernel : take_emulated_counters())
    profile_.count(profile_.operation(kernel.name), kernel.counters);
}

void GpuSteps::check_error_word() {
  ErrorWord word;
  std::memcpy(&word, error_.bytes().data(), sizeof word);
  if (word.code == KernelError::kNone) return;
  stream_.fill(activations_.address() + plan_.error, 0, sizeof word);
  throw Error("the GPU refuses a pass: " + describe(word));
}

}  // namespace

std::unique_ptr<Steps> make_gpu_steps(const ModelConfig& config, const ModelTensors& tensors,
                                      const GpuOptions& options) {
  assert(options.context > 0 && options.device.table != nullptr);
  const DecoderFormats formats = formats_of(tensors);
  const PassSpecs specs = {decoder_specs(config, formats, options.context, 1),
                           decoder_specs(config, formats, options.context, kGpuPassColumns)};
  std::vector<ptx::Kernel> kernels = kernels_of(specs, options.device.gpu.target());
  const ContextPointer context = Context::open(*options.device.table, options.device.gpu);
  check_memory(gpu_memory_budget(config, tensors, options.context), options.context, context->memory().free_bytes,
               "GPU memory");
  return std::make_unique<GpuSteps>(config, tensors, options, context, specs, std::move(kernels));
}

}  // namespace warpchat
