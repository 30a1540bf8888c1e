// The decoder's steps in the order of its page: each is a kernel or three, with its parameters in the kernel's order. A
// pass of one column, a prompt's and a batch's have kernels of their own. A prompt's are compiled while the weights are
// copied, those of a token while the first prompt is computed, those of a batch when the first one begins.
#include "engine/gpu/gpu_steps.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <future>
#include <utility>

#include "engine/driver/emulator_profile.h"
#include "engine/gpu/gpu_memory.h"
#include "engine/gpu/gpu_sampler.h"
#include "engine/gpu/launch_choice.h"
#include "engine/gpu/launch_timer.h"
#include "engine/gpu/layer_graphs.h"
#include "engine/gpu/measured_tokens.h"
#include "engine/gpu/pass_kernels.h"
#include "engine/gpu/persistent_tokens.h"
#include "engine/gpu/phase_profile.h"
#include "engine/gpu/weight_upload.h"
#include "engine/profile.h"
#include "kernels/error_word.h"
#include "models/message.h"
#include "models/threads.h"

namespace warpchat {
namespace {

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

struct Operands {  // of a product: device addresses; 0 for what it has not
  uint64_t weights, up, gamma, bias;
  Buffer x, y;
};

uint64_t address_of(Buffer buffer) { return reinterpret_cast<uint64_t>(buffer.data); }
Argument at(uint64_t address) { return Argument::address(address); }
Argument at(Buffer buffer) { return at(address_of(buffer)); }
uint64_t column_of(Buffer buffer, uint32_t column) {
  return address_of(buffer) + uint64_t{column} * buffer.width * sizeof(float);
}

// Tokens of one persistent launch where the system ends kernels that run for seconds: 50 ms each would still do.
constexpr uint32_t kTokensUnderWatchdog = 16;

class GpuSteps final : public Steps, private DeviceSampler {
 public:
  GpuSteps(const ModelConfig& config, const ModelTensors& tensors, const GpuOptions& options,
           const MemoryBudget& budget, ContextPointer context);
  ~GpuSteps() override;

  uint32_t max_columns() const override { return sizes_.columns(); }
  uint32_t max_logits_columns() const override { return sizes_.logits_columns(); }
  uint32_t max_sequences() const override { return sizes_.sequences; }
  uint32_t max_positions() const override { return sizes_.context; }
  uint32_t context_that_fits() const override;
  const PassState& buffers() const override { return state_; }
  std::string description() const override;
  Profile& profile() override { return profile_; }
  std::vector<MemoryUse> memory() const override;
  uint64_t weight_bytes_per_token() const override { return weight_bytes_per_token_; }
  std::vector<KernelText> kernels() const override { return texts_.list(); }
  bool is_gpu() const override { return true; }
  void set_measuring(bool on) override;
  void set_launch_mode(LaunchMode mode) override {
    if (mode == LaunchMode::kPersistent) persistent();
    launch_mode_ = mode;
    choice_.reset();
  }
  bool has_settled() const override { return !choice_ || choice_->is_settled(); }
  bool can_launch(LaunchMode mode) const override {
    return mode != LaunchMode::kPersistent || context_->device().can_cooperate;
  }
  bool is_emulated() const override { return context_->device().is_emulated; }
  std::string_view launch_of(uint32_t n_sequences) const override {
    return name_of(n_sequences > 1 && launch_mode_ == LaunchMode::kPersistent ? LaunchMode::kGraph : launch_mode_);
  }

  void begin(std::span<const Column> columns) override;
  void embed(Buffer hidden) override;
  void norm_qkv(uint32_t layer, Buffer hidden, Buffer q, Buffer k, Buffer v) override;
  void rope_scatter(uint32_t layer, Buffer q, Buffer k, Buffer v) override;
  void attention(uint32_t layer, Buffer q, Buffer mixed) override;
  void output_residual(uint32_t layer, Buffer mixed, Buffer hidden) override;
  void norm_gate_up(uint32_t layer, Buffer hidden, Buffer inner) override;
  void down_residual(uint32_t layer, Buffer inner, Buffer hidden) override;
  void norm_logits(Buffer hidden, Logits wanted, Buffer logits) override;
  PassEnd end_pass() override;
  void wait() override;
  std::span<const float> read_logits(uint32_t column) override;
  DeviceSampler* sampler() override { return this; }
  std::unique_ptr<TokenSource> token_source(Decoder& decoder, const TokenRun& run) override;
  bool decode_given(std::span<const Token> tokens, uint32_t position,
                    const std::function<void(std::span<const float>)>& take) override;

 private:
  void start(std::span<const Start> columns) override;
  void sample() override;
  void begin_next() override;
  std::span<const Token> read() override;

  struct Slot {  // of what the host tells a pass
    HostMemory words;
    GpuEvent copied;
  };
  PassKernels pass_kernels(PassKind kind);
  PassKernels& kernels_of(PassKind kind) { return passes_[static_cast<size_t>(kind)]; }
  const PassKernels::Steps& pass() { return kernels_of(kind_).steps(); }
  void prepare_first_token();
  void await_first_token();
  void place_weights(const ModelTensors& tensors, const GpuOptions& options);
  void begin_pass(uint32_t n_columns, PassKind kind);
  void upload_pass(std::span<const uint32_t> tokens_and_positions);
  void fill_cache_table(std::span<const Column> columns);
  uint64_t cache_table(uint32_t layer, uint32_t values) const;  // 0: keys, 1: values
  void run(const GpuStep& step, const Arguments& arguments, ptx::Dimensions blocks, uint64_t bytes);
  void run(const GpuStep& step, Arguments arguments);  // a launch of all columns
  void multiply(const ProductStep& product, const Operands& operands, uint32_t columns);
  uint64_t tokens() const { return activations_.address() + plan_.pass; }
  uint64_t positions() const { return tokens() + n_columns_ * sizeof(uint32_t); }
  uint64_t cache_of_first(uint64_t layer, bool of_values) const {  // of sequence 0
    return cache_.address() + cache_plan_.offset(layer, of_values);
  }
  uint64_t sequence_offset(uint32_t sequence) const { return sequence * cache_plan_.n_bytes(); }
  uint64_t error_address() const { return activations_.address() + plan_.error; }
  bool is_of_graphs() const {  // the pass
    return kind_ == PassKind::kToken   ? launch_mode_ == LaunchMode::kGraph
           : kind_ != PassKind::kBatch ? false
           : choice_                   ? choice_->has_worked(LaunchMode::kGraph)
                                       : launch_mode_ != LaunchMode::kStream;
  }
  void collect_profile();
  bool is_ready(LaunchMode mode);  // begins to compile what is not
  PersistentSpec persistent_spec() const;
  PersistentLaunch& persistent();
  std::unique_ptr<TokenSource> persistent_tokens(const TokenRun& run);
  uint32_t tokens_per_launch(const PhaseProfile& times, const StampRequest& stamps) const;  // most
  void check(const ErrorWord& word);

  ModelConfig config_;
  DecoderFormats formats_;
  GpuSizes sizes_;
  MemoryBudget budget_;
  ContextPointer context_;
  Stream stream_;
  Profile profile_;
  KernelTexts texts_;
  LaunchTimer timer_;
  ActivationPlan plan_;
  CachePlan cache_plan_;
  DeviceMemory activations_, cache_, weights_;
  LaunchMode launch_mode_;
  std::unique_ptr<LaunchChoice> choice_;  // where the fastest mode is wanted
  LayerGraphs graphs_;
  std::array<PassKernels, kPassKinds> passes_;
  std::vector<LayerAddresses> layers_;  // with the caches of sequence 0
  uint64_t token_embd_ = 0, output_norm_ = 0, output_ = 0, weight_bytes_per_token_ = 0;
  std::array<Slot, 4> slots_;
  HostMemory logits_, error_;
  GpuSampler sampler_;
  std::future<std::unique_ptr<Module>> persistent_module_;  // being compiled, or compiled
  std::unique_ptr<PersistentLaunch> persistent_;
  std::shared_ptr<GpuEvent> pass_began_;  // of a prompt; null of others
  PassState state_;
  PassKind kind_ = PassKind::kToken;
  uint32_t n_columns_ = 0, first_logits_column_ = 0, next_slot_ = 0;
  std::vector<uint32_t> column_positions_;
  uint32_t longest_ = 0;             // keys of the pass's last position
  uint64_t n_keys_ = 0;              // summed over the columns
  std::vector<uint32_t> sequences_;  // in the cache table
  uint64_t wanted_logits_ = 0;       // device address of the first that is wanted
  bool has_arrived_ = false;         // the pass's logits
  std::atomic<bool> counts_ = false;
};

HostMemory pinned_words(const ContextPointer& context, const GpuSizes& sizes) {
  return HostMemory(context, uint64_t{sizes.columns()} * 2 * sizeof(uint32_t), "tokens");
}

GpuSteps::GpuSteps(const ModelConfig& config, const ModelTensors& tensors, const GpuOptions& options,
                   const MemoryBudget& budget, ContextPointer context)
    : config_(config),
      formats_(formats_of(tensors)),
      sizes_(options.sizes),
      budget_(budget),
      context_(context),
      stream_(context),
      timer_(stream_, profile_),
      plan_(plan_activations(config, sizes_)),
      cache_plan_(config, sizes_),
      activations_(context, plan_.n_bytes, "activations"),
      cache_(context, cache_plan_.n_bytes() * sizes_.sequences, "the KV cache"),
      launch_mode_(options.launch.value_or(LaunchMode::kStream)),
      graphs_(stream_, timer_),
      passes_{pass_kernels(PassKind::kToken), pass_kernels(PassKind::kPrompt), pass_kernels(PassKind::kBatch)},
      slots_{Slot{pinned_words(context, sizes_), GpuEvent(context)},
             Slot{pinned_words(context, sizes_), GpuEvent(context)},
             Slot{pinned_words(context, sizes_), GpuEvent(context)},
             Slot{pinned_words(context, sizes_), GpuEvent(context)}},
      logits_(context, uint64_t{logits_rows(sizes_)} * config.n_vocab * sizeof(float), "logits"),
      error_(context, sizeof(ErrorWord), "errors"),
      sampler_(stream_, timer_, profile_, texts_, config.n_vocab, sizes_.sequences, sizes_.context) {
  prepare_first_token();  // during the upload
  if (!context->device().is_emulated) profile_.set_peak_bandwidth(context->device().peak_bandwidth);
  place_weights(tensors, options);
  await_first_token();
  stream_.fill(error_address(), 0, sizeof(ErrorWord));
  stream_.fill(activations_.address() + plan_.scratch[0], 0, plan_.scratch_bytes);
  const auto buffer = [&](uint64_t offset, uint32_t width) {
    return Buffer{reinterpret_cast<void*>(activations_.address() + offset), width};
  };
  const uint32_t q_width = config.n_heads * config.head_dim, kv_width = config.n_kv_heads * config.head_dim;
  state_ = {buffer(plan_.hidden, config.hidden), buffer(plan_.q, q_width),     buffer(plan_.k, kv_width),
            buffer(plan_.v, kv_width),           buffer(plan_.mixed, q_width), buffer(plan_.inner, config.ffn),
            buffer(plan_.logits, config.n_vocab)};
  stream_.wait();
  if (options.launch) return;
  choice_ = std::make_unique<LaunchChoice>();
  if (!can_launch(LaunchMode::kPersistent))
    choice_->leave_out(LaunchMode::kPersistent, "the GPU has no cooperative launches");
}

GpuSteps::~GpuSteps() {
  try {
    context_->make_current();  // the members free their memory on this thread
    stream_.wait();            // which passes that were stopped may still use
  } catch (const Error&) {     // a lost device has nothing left to free
  }
}

std::string GpuSteps::description() const {
  const GpuDevice& device = context_->device();
  return (device.is_emulated ? "emulator: " : "cuda: " + device.name + " ") + ptx::spell(device.target()) +
         ", launch " + (choice_ ? choice_->description() : std::string(name_of(launch_mode_))) +
         (launch_mode_ == LaunchMode::kPersistent && sizes_.sequences > 1 ? ", batches by graph" : "");
}

PassKernels GpuSteps::pass_kernels(PassKind kind) {
  return {context_, decoder_specs(config_, formats_, sizes_.context, kind, sizes_.columns_of(kind), sizes_.cache),
          profile_, texts_};
}

// A prompt, the logits of its last token, and the choice among them.
void GpuSteps::prepare_first_token() {
  if (sizes_.columns() > 1) kernels_of(PassKind::kPrompt).prepare();
  kernels_of(PassKind::kToken).prepare_logits();
  sampler_.prepare();
}

void GpuSteps::await_first_token() {
  if (sizes_.columns() > 1) kernels_of(PassKind::kPrompt).steps();
  kernels_of(PassKind::kToken).logits();
  sampler_.await_prepared();
}

void GpuSteps::place_weights(const ModelTensors& tensors, const GpuOptions& options) {
  WeightUpload upload(stream_, weights_bytes(config_, tensors), options.progress);
  const auto vector = [&](const TensorInfo* tensor) { return tensor == nullptr ? 0 : upload.place_vector(*tensor); };
  const auto matrix = [&](const TensorInfo* tensor) { return upload.place_matrix(*tensor); };
  for (const LayerTensors& t : tensors.layers) layers_.push_back({map(t.matrices, matrix), map(t.vectors, vector)});
  for (size_t layer = 0; layer < layers_.size(); ++layer) {
    layers_[layer].k_cache = cache_of_first(layer, false);
    layers_[layer].v_cache = cache_of_first(layer, true);
  }
  token_embd_ = matrix(tensors.token_embd);
  output_ = config_.tied_output ? token_embd_ : matrix(tensors.output);
  output_norm_ = vector(tensors.output_norm);
  weights_ = upload.finish();
  weight_bytes_per_token_ = weights_.n_bytes() - (config_.tied_output ? 0 : matrix_bytes(*tensors.token_embd));
}

uint64_t GpuSteps::cache_table(uint32_t layer, uint32_t values) const {
  return activations_.address() + plan_.cache_table +
         (uint64_t{layer} * 2 + values) * sizes_.sequences * sizeof(uint64_t);
}

// The table stays as it is while passes are of the same sequences, and where it is: a graph holds its address.
void GpuSteps::fill_cache_table(std::span<const Column> columns) {
  std::vector<uint32_t> sequences;
  for (const Column& column : columns) {
    if (sequences.empty() || sequences.back() != column.sequence) sequences.push_back(column.sequence);
  }
  if (sequences == sequences_) return;
  const uint64_t n_caches = uint64_t{config_.n_layers} * 2;  // of a sequence
  std::vector<uint64_t> table(n_caches * sizes_.sequences);
  for (uint64_t cache = 0; cache < n_caches; ++cache)
    for (size_t i = 0; i < sequences.size(); ++i)
      table[cache * sizes_.sequences + i] = sequence_offset(sequences[i]) + cache_of_first(cache / 2, cache % 2 == 1);
  stream_.upload(cache_table(0, 0), std::as_bytes(std::span(table)));
  stream_.wait();
  sequences_ = std::move(sequences);
}

void GpuSteps::run(const GpuStep& step, const Arguments& arguments, ptx::Dimensions blocks, uint64_t bytes) {
  const auto launch = [&] { step.kernel->launch(stream_, std::span(arguments.items).first(arguments.n), blocks); };
  if (graphs_.is_open()) return graphs_.add({step.operation, bytes}, launch);
  launch();
  timer_.launched(step.operation, bytes);
}

void GpuSteps::run(const GpuStep& step, Arguments arguments) {
  const ptx::Kernel& kernel = step.kernel->kernel();
  ptx::Dimensions blocks = kernel.launch.blocks;
  const uint32_t most = blocks.y;  // a block or more for each column there may be
  if (kind_ != PassKind::kToken) {
    arguments.add(n_columns_);
    blocks.y = n_columns_;
  }
  run(step, arguments, blocks, kernel.cost.bytes / most * n_columns_);
}

void GpuSteps::multiply(const ProductStep& product, const Operands& o, uint32_t n_columns) {
  const auto* gemm = std::get_if<GemmSpec>(&product.spec);
  for (uint32_t first = 0; first < n_columns;) {
    const uint32_t columns = std::min(n_columns - first, product.columns_at_once());
    Arguments arguments{at(o.weights)};
    arguments.add_unless_null(o.up);
    arguments.add(at(column_of(o.x, first)));
    arguments.add_unless_null(o.gamma);
    if (gemm != nullptr && takes_bias(*gemm))
      arguments.add(at(o.bias));
    else
      arguments.add_unless_null(o.bias);
    arguments.add(at(column_of(o.y, first)));
    if (gemm != nullptr) arguments.add(gemm->rows), arguments.add(gemm->k);
    if (product.takes_columns()) arguments.add(columns);
    run(product.step, arguments, product.blocks(columns), product.bytes(columns));
    first += columns;
  }
}

void GpuSteps::begin(std::span<const Column> columns) {
  require(!columns.empty() && columns.size() <= max_columns(), "a pass of more columns than there is room for");
  context_->make_current();
  graphs_.forget();  // of a pass that was stopped
  std::vector<uint32_t> words;
  column_positions_.clear();
  for (const Column& column : columns) {
    require(column.position < sizes_.context && column.sequence < sizes_.sequences,
            "a pass beyond the context or the sequences");
    words.push_back(static_cast<uint32_t>(column.token));
    column_positions_.push_back(column.position);
  }
  words.insert(words.end(), column_positions_.begin(), column_positions_.end());
  fill_cache_table(columns);
  upload_pass(words);
  begin_pass(static_cast<uint32_t>(columns.size()), columns.size() == 1 ? PassKind::kToken
                                                    : is_batch(columns) ? PassKind::kBatch
                                                                        : PassKind::kPrompt);
  pass_began_.reset();
  if (kind_ != PassKind::kPrompt) return;
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

void GpuSteps::upload_pass(std::span<const uint32_t> tokens_and_positions) {
  Slot& slot = slots_[next_slot_++ % slots_.size()];
  slot.copied.wait();
  const std::span<uint32_t> words = slot.words.as<uint32_t>().first(tokens_and_positions.size());
  std::copy(tokens_and_positions.begin(), tokens_and_positions.end(), words.begin());
  stream_.upload(tokens(), std::as_bytes(words));
  stream_.record(slot.copied);
}

void GpuSteps::begin_pass(uint32_t n_columns, PassKind kind) {
  n_columns_ = n_columns;
  kind_ = kind;
  pass();
  has_arrived_ = false;
  longest_ = 0, n_keys_ = 0;
  for (const uint32_t position : column_positions_) {
    longest_ = std::max(longest_, position + 1);
    n_keys_ += position + 1;
  }
  timer_.begin();
  if (is_of_graphs()) graphs_.begin(n_columns);
}

void GpuSteps::embed(Buffer hidden) {
  run(pass().embedding, {at(token_embd_), at(tokens()), at(hidden), at(error_address())});
}

void GpuSteps::norm_qkv(uint32_t index, Buffer hidden, Buffer q, Buffer k, Buffer v) {
  const LayerSteps& step = pass().layers[index];
  const LayerMatrices<uint64_t>& w = layers_[index].matrices;
  const LayerVectors<uint64_t>& vectors = layers_[index].vectors;
  multiply(step.q, {w.q, 0, vectors.attn_norm, vectors.q_bias, hidden, q}, n_columns_);
  multiply(step.k, {w.k, 0, vectors.attn_norm, vectors.k_bias, hidden, k}, n_columns_);
  multiply(step.v, {w.v, 0, vectors.attn_norm, vectors.v_bias, hidden, v}, n_columns_);
}

void GpuSteps::rope_scatter(uint32_t index, Buffer q, Buffer k, Buffer v) {
  Arguments arguments{at(q), at(k), at(v)};
  arguments.add_unless_null(layers_[index].vectors.q_norm);
  arguments.add_unless_null(layers_[index].vectors.k_norm);
  for (const uint64_t address : {positions(), cache_table(index, 0), cache_table(index, 1), error_address()})
    arguments.add(at(address));
  run(pass().kv_scatter, arguments);
}

void GpuSteps::attention(uint32_t index, Buffer q, Buffer mixed) {
  const GpuStep& step = pass().attention;
  const uint64_t keys = cache_table(index, 0), values = cache_table(index, 1);
  if (const auto* flash = std::get_if<FlashAttentionSpec>(&kernels_of(kind_).specs().attention)) {
    run(step, {at(q), at(keys), at(values), at(positions()), at(mixed), at(error_address()), n_columns_},
        flash_attention_grid(*flash, n_columns_),
        flash_attention_cost(*flash, n_columns_, longest_ - n_columns_).bytes);
    return;
  }
  const auto& spec = std::get<AttentionSpec>(kernels_of(kind_).specs().attention);
  const uint32_t longest = graphs_.is_open() ? sizes_.context : longest_;  // a graph is for every position
  const uint64_t scratch = activations_.address() + plan_.scratch[static_cast<size_t>(kind_)];
  for (uint32_t first = 0; first < n_columns_; first += spec.columns) {
    const uint32_t columns = std::min(spec.columns, n_columns_ - first);
    Arguments arguments{
        at(column_of(q, first)),     at(keys),    at(values),         at(positions() + first * sizeof(uint32_t)),
        at(column_of(mixed, first)), at(scratch), at(error_address())};
    if (spec.columns > 1) arguments.add(columns);
    run(step, arguments, attention_grid(spec, longest), attention_cost(spec, n_keys_ * columns / n_columns_).bytes);
  }
}

void GpuSteps::output_residual(uint32_t index, Buffer mixed, Buffer hidden) {
  multiply(pass().layers[index].output, {layers_[index].matrices.output, 0, 0, 0, mixed, hidden}, n_columns_);
}

void GpuSteps::norm_gate_up(uint32_t index, Buffer hidden, Buffer inner) {
  const LayerMatrices<uint64_t>& w = layers_[index].matrices;
  multiply(pass().layers[index].gate_up, {w.gate, w.up, layers_[index].vectors.ffn_norm, 0, hidden, inner}, n_columns_);
}

void GpuSteps::down_residual(uint32_t index, Buffer inner, Buffer hidden) {
  multiply(pass().layers[index].down, {layers_[index].matrices.down, 0, 0, 0, inner, hidden}, n_columns_);
  if (index + 1 == config_.n_layers && graphs_.is_open()) graphs_.end();
}

void GpuSteps::norm_logits(Buffer hidden, Logits wanted, Buffer logits) {
  const uint32_t first_wanted = wanted == Logits::kAll ? 0 : n_columns_ - 1;
  // The kernels read from 16-byte boundaries, which every fourth column is at.
  first_logits_column_ = hidden.width % 4 == 0 ? first_wanted : first_wanted / 4 * 4;
  const uint32_t columns = n_columns_ - first_logits_column_;
  require(columns <= logits_rows(sizes_), "logits of more columns than there is room for");
  hidden.data = reinterpret_cast<void*>(column_of(hidden, first_logits_column_));
  const ProductStep& product = kernels_of(columns == 1 ? PassKind::kToken : kind_).logits();
  multiply(product, {output_, 0, output_norm_, 0, hidden, logits}, columns);
  if (wanted == Logits::kLast) kernels_of(PassKind::kToken).prepare();  // while a prompt is computed
  wanted_logits_ = column_of(logits, first_wanted - first_logits_column_);
}

void GpuSteps::wait() {
  stream_.download(error_.bytes(), error_address());
  stream_.wait();
  collect_profile();
  ErrorWord word;
  std::memcpy(&word, error_.bytes().data(), sizeof word);
  check(word);
}

std::span<const float> GpuSteps::read_logits(uint32_t column) {
  require(column >= first_logits_column_ && column < n_columns_, "reading of logits that were not asked for");
  if (!has_arrived_) {
    const uint64_t n_bytes = uint64_t{n_columns_ - first_logits_column_} * config_.n_vocab * sizeof(float);
    stream_.download(logits_.bytes().first(n_bytes), address_of(state_.logits));
    wait();
    has_arrived_ = true;
  }
  return logits_.as<float>().subspan(uint64_t{column - first_logits_column_} * config_.n_vocab, config_.n_vocab);
}

void GpuSteps::start(std::span<const Start> columns) {
  sampler_.start(columns);
  if (kind_ != PassKind::kPrompt) return;
  // From here on the pass is of one column, the prompt's last.
  column_positions_ = {column_positions_.back()};
  const uint32_t token_and_position[] = {0, column_positions_[0]};
  upload_pass(token_and_position);
  n_columns_ = 1;
  kind_ = PassKind::kToken;
}

void GpuSteps::sample() {
  require(sampler_.n_columns() == n_columns_, "sampling of another pass than the last");
  sampler_.sample({wanted_logits_, tokens(), positions(), error_address()});
  for (uint32_t& position : column_positions_) ++position;
}

void GpuSteps::begin_next() {
  graphs_.forget();  // of a pass that was stopped
  begin_pass(n_columns_, kind_);
}

std::span<const Token> GpuSteps::read() {
  const GpuSampler::Sampled sampled = sampler_.read();
  if (counts_) stream_.wait();  // for the counters to be whole
  collect_profile();
  check(sampled.error);
  return sampled.tokens;
}

PersistentSpec GpuSteps::persistent_spec() const {
  return {passes_[static_cast<size_t>(PassKind::kToken)].specs(), sampler_.ring(), /*stamps=*/true};
}

bool GpuSteps::is_ready(LaunchMode mode) {
  if (mode != LaunchMode::kPersistent || persistent_) return true;
  if (!persistent_module_.valid())
    persistent_module_ = compute_aside([context = context_, spec = persistent_spec()] {
      context->make_current();
      return PersistentLaunch::compile(context, spec);
    });
  return persistent_module_.wait_for(std::chrono::seconds(0)) != std::future_status::timeout;
}

PersistentLaunch& GpuSteps::persistent() {
  if (is_ready(LaunchMode::kPersistent) && persistent_) return *persistent_;
  DecoderAddresses at{layers_, token_embd_, output_, output_norm_};
  at.hidden = address_of(state_.hidden), at.logits = address_of(state_.logits);
  at.q = address_of(state_.q), at.k = address_of(state_.k), at.v = address_of(state_.v);
  at.mixed = address_of(state_.mixed), at.inner = address_of(state_.inner);
  at.scratch = activations_.address() + plan_.scratch[static_cast<size_t>(PassKind::kToken)];
  at.error = error_address();
  std::unique_ptr<Module> module = persistent_module_.get();
  context_->make_current();
  persistent_ = std::make_unique<PersistentLaunch>(stream_, persistent_spec(), at, std::move(module));
  texts_.add(persistent_->kernel(), persistent_->n_blocks());
  return *persistent_;
}

std::unique_ptr<TokenSource> GpuSteps::token_source(Decoder& decoder, const TokenRun& run) {
  if (!choice_) return launch_mode_ == LaunchMode::kPersistent ? persistent_tokens(run) : nullptr;
  const auto start = [this, &decoder](LaunchMode mode, const TokenRun& part) {
    launch_mode_ = mode;
    return mode == LaunchMode::kPersistent ? persistent_tokens(part) : make_device_token_source(decoder, part);
  };
  const auto is_mode_ready = [this](LaunchMode mode) { return is_ready(mode); };
  const auto set_mode = [this](LaunchMode mode) { launch_mode_ = mode; };
  return std::make_unique<MeasuredTokens>(decoder, *choice_, run,
                                          MeasuredTokens::Launcher{is_mode_ready, start, set_mode, sequences_.front()});
}

std::unique_ptr<TokenSource> GpuSteps::persistent_tokens(const TokenRun& run) {
  PersistentLaunch& launch = persistent();
  const Start sampling{run.sampling, run.recent};
  start({&sampling, 1});
  sample();
  PersistentTokens::Start start{read()[0], sequence_offset(sequences_.front())};
  PhaseProfile times(profile_, kernels_of(PassKind::kToken), launch);
  start.stamps = times.stamps();
  start.tokens_per_launch = tokens_per_launch(times, start.stamps);
  start.ended = [this, times](uint32_t position) mutable {
    times.record(position);
    collect_profile();
  };
  return std::make_unique<PersistentTokens>(launch, run, std::move(start));
}

uint32_t GpuSteps::tokens_per_launch(const PhaseProfile& times, const StampRequest& stamps) const {
  const uint32_t most = times.tokens_per_launch(stamps);
  return context_->device().has_watchdog ? std::min(most, kTokensUnderWatchdog) : most;
}

bool GpuSteps::decode_given(std::span<const Token> tokens, uint32_t position,
                            const std::function<void(std::span<const float>)>& take) {
  if (launch_mode_ != LaunchMode::kPersistent) return false;
  context_->make_current();
  PersistentLaunch& launch = persistent();
  PhaseProfile times(profile_, kernels_of(PassKind::kToken), launch);
  PersistentLaunch::Request request;
  request.returns_rows = true;
  request.stamps = times.stamps();
  for (const uint32_t most = tokens_per_launch(times, request.stamps); !tokens.empty();) {
    const auto n = static_cast<uint32_t>(std::min<size_t>(tokens.size(), most));
    request.token = tokens.front();
    request.position = position;
    request.most_tokens = n;
    request.forced = tokens.first(n);
    launch.start(request);
    try {
      while (launch.next()) take(launch.row());
    } catch (...) {
      launch.cut();  // of a taker's error; after its own it is not running
      throw;
    }
    times.record(position);
    collect_profile();
    tokens = tokens.subspan(n);
    position += n;
  }
  return true;
}

std::vector<MemoryUse> GpuSteps::memory() const {
  const uint64_t logits = uint64_t{logits_rows(sizes_)} * config_.n_vocab * sizeof(float);
  return {{"weights", weights_.n_bytes()},
          {"KV cache", cache_.n_bytes()},
          {"activations", plan_.n_bytes - plan_.scratch_bytes - logits},
          {"attention's scratch", plan_.scratch_bytes},
          {"logits", logits},
          {"sampler", sampler_bytes(config_, sizes_)},
          {"kernels, about", kModuleBytes}};
}

// Of a GPU that does not answer any more the next pass says so.
uint32_t GpuSteps::context_that_fits() const {
  try {
    context_->make_current();
    return budget_.largest_context(saturating_sum({context_->memory().free_bytes, budget_.total(sizes_.context)}));
  } catch (const DriverError&) {
    return sizes_.context;
  }
}

void GpuSteps::set_measuring(bool on) {
  profile_.set_enabled(on);
  if (!is_emulated()) return;
  counts_ = on;
  count_emulated_launches(on);
}

void GpuSteps::collect_profile() {
  timer_.collect();
  if (!counts_) return;
  for (const CountedKernel& kernel : take_emulated_counters())
    profile_.count(profile_.operation(kernel.name), kernel.counters);
}

void GpuSteps::check(const ErrorWord& word) {
  if (word.code == KernelError::kNone) return;
  stream_.fill(error_address(), 0, sizeof word);
  throw Error("the GPU refuses a pass: " + describe(word));
}

}  // namespace

std::unique_ptr<Steps> make_gpu_steps(const ModelConfig& config, const ModelTensors& tensors,
                                      const GpuOptions& options) {
  require(options.sizes.context > 0 && options.device.table != nullptr, "a GPU decoder without context or device");
  const ContextPointer context = Context::open(*options.device.table, options.device.gpu);
  const MemoryBudget budget = gpu_memory_budget(config, tensors, options.sizes);
  check_memory(budget, options.sizes.context, context->memory().free_bytes, "GPU memory");
  return std::make_unique<GpuSteps>(config, tensors, options, budget, context);
}

}  // namespace warpchat
