// The decoder's steps in the order of its page: each is a kernel or three, with its parameters in the kernel's order.
// One token, a few, many, and a prompt have kernels of their own, and a pass has a part for each: its single tokens
// together, and every longer run by itself, so that what a token goes through does not depend on the prompts beside it.
// A prompt's kernels are compiled while the weights are copied, those of a token while the first prompt is computed,
// those of several when the first such pass begins.
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
#include "engine/gpu/pass_layout.h"
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

constexpr const char* kNotAtOnce = "the persistent kernel computes neither experts nor delta nets";

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
  uint32_t n_pages() const override { return static_cast<uint32_t>(cache_plan_.pages); }
  void set_pages(uint32_t sequence, std::span<const uint32_t> pages) override;
  void copy_page(uint32_t from, uint32_t to) override;
  uint32_t n_states() const override { return sizes_.n_states(config_); }
  void copy_state(uint32_t from, uint32_t to) override;
  const PassState& buffers() const override { return state_; }
  std::string description() const override;
  Profile& profile() override { return profile_; }
  std::vector<MemoryUse> memory() const override;
  uint64_t weight_bytes_per_token() const override { return weight_bytes_per_token_; }
  std::vector<KernelText> kernels() const override { return texts_.list(); }
  bool is_gpu() const override { return true; }
  void set_measuring(bool on) override;
  void set_launch_mode(LaunchMode mode) override {
    if (!can_launch(mode) && !may_persist(config_)) throw Error(std::string(kNotAtOnce) + "; use --launch graph");
    if (mode == LaunchMode::kPersistent) persistent();
    launch_mode_ = mode;
    choice_.reset();
  }
  bool has_settled() const override { return !choice_ || choice_->is_settled(); }
  bool can_launch(LaunchMode mode) const override {
    return mode != LaunchMode::kPersistent || (context_->device().can_cooperate && may_persist(config_));
  }
  bool is_emulated() const override { return context_->device().is_emulated; }
  std::string_view launch_of(uint32_t n_sequences) const override {
    return name_of(n_sequences > 1 && launch_mode_ == LaunchMode::kPersistent ? LaunchMode::kGraph : launch_mode_);
  }

  void begin(std::span<const Run> runs) override;
  void embed(Buffer hidden) override;
  void norm_qkv(uint32_t layer, Buffer hidden, Buffer q, Buffer k, Buffer v) override;
  void rope_scatter(uint32_t layer, Buffer q, Buffer k, Buffer v) override;
  void attention(uint32_t layer, Buffer q, Buffer mixed) override;
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

  struct Slot {  // of what the host tells a pass, or writes into a page table
    HostMemory bytes;
    GpuEvent copied;
  };
  PassKernels pass_kernels(PassKind kind);
  PassKernels& kernels_of(PassKind kind) { return passes_[static_cast<size_t>(kind)]; }
  const PassKernels::Steps& pass() { return kernels_of(part_.kind).steps(); }
  void prepare_first_token();
  void await_first_token();
  void place_weights(const ModelTensors& tensors, const GpuOptions& options);
  void upload_pass(PassLayout layout);
  void begin_pass();
  template <class Body>
  void each_part(const Body& body);
  Buffer of_part(Buffer buffer) const;
  Buffer buffer(uint64_t offset, uint32_t width) const {
    return {reinterpret_cast<void*>(activations_.address() + offset), width};
  }
  void multiply_uses(const GpuStep& step, const ExpertProductSpec& spec, const Operands& operands, uint64_t experts);
  void end_layer(uint32_t layer);
  void attend(uint32_t layer, Buffer q, Buffer mixed);  // of the part
  void upload(uint64_t to, std::span<const uint32_t> words);
  void place_page_tables();
  void run(const GpuStep& step, const Arguments& arguments, ptx::Dimensions blocks, uint64_t bytes);
  void run(const GpuStep& step, Arguments arguments);  // a launch of all columns of the part
  void run_sequences(const GpuStep& step, Arguments arguments);
  void multiply(const ProductStep& product, const Operands& operands, uint32_t columns);
  uint64_t pass_address() const { return activations_.address() + plan_.pass; }
  uint64_t page_tables() const { return pass_address() + part_.first_sequence * sizeof(uint64_t); }
  uint64_t states() const { return page_tables() + pass_.sequences.size() * sizeof(uint64_t); }
  uint64_t tokens() const {
    return pass_address() + 2 * pass_.sequences.size() * sizeof(uint64_t) + part_.first * sizeof(uint32_t);
  }
  uint64_t positions() const { return tokens() + pass_.n_columns() * sizeof(uint32_t); }
  uint64_t logits_row(uint64_t row) const {  // the first is the fourth where norm_logits needs three before it
    return column_of(state_.logits, static_cast<uint32_t>(row) + (config_.hidden % 4 == 0 ? 0 : 3));
  }
  uint64_t page_table(uint32_t sequence) const {
    return activations_.address() + plan_.page_tables +
           uint64_t{sequence} * sizes_.pages_per_sequence() * sizeof(uint32_t);
  }
  uint64_t error_address() const { return activations_.address() + plan_.error; }
  bool is_of_graphs() const {  // the pass
    return pass_.has_prompts()              ? false
           : part_.kind == PassKind::kToken ? launch_mode_ == LaunchMode::kGraph
           : choice_                        ? choice_->has_worked(LaunchMode::kGraph)
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
  const std::vector<uint32_t> places_ = config_.places();  // of layers in caches and states
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
  DeviceMemory activations_, cache_, states_, weights_;  // states_: [n_states()] of delta nets
  LaunchMode launch_mode_;
  std::unique_ptr<LaunchChoice> choice_;  // where the fastest mode is wanted
  LayerGraphs graphs_;
  std::array<PassKernels, kPassKinds> passes_;
  std::vector<LayerAddresses> layers_;
  uint64_t token_embd_ = 0, output_norm_ = 0, output_ = 0, weight_bytes_per_token_ = 0;
  std::array<Slot, 4> slots_;
  HostMemory logits_, error_;
  GpuSampler sampler_;
  std::future<std::unique_ptr<Module>> persistent_module_;  // being compiled, or compiled
  std::unique_ptr<PersistentLaunch> persistent_;
  std::shared_ptr<GpuEvent> pass_began_;  // of one with prompts; null of others
  PassState state_;
  PassLayout pass_;
  PassLayout::Part part_{};  // of it, in work
  uint32_t next_slot_ = 0;
  std::vector<uint32_t> pages_;  // [sequences, pages_per_sequence]: the page tables
  bool has_arrived_ = false;     // the pass's logits
  std::atomic<bool> counts_ = false;
};

HostMemory pinned_bytes(const ContextPointer& context, const GpuSizes& sizes) {
  return HostMemory(context, std::max<uint64_t>(pass_bytes(sizes), sizes.pages_per_sequence() * sizeof(uint32_t)),
                    "tokens");
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
      cache_(context, cache_plan_.n_bytes(), "the KV cache"),
      states_(n_states() == 0
                  ? DeviceMemory()
                  : DeviceMemory(context, n_states() * delta_state_bytes(config), "the states of delta nets")),
      launch_mode_(options.launch.value_or(LaunchMode::kStream)),
      graphs_(stream_, timer_),
      passes_{pass_kernels(PassKind::kToken), pass_kernels(PassKind::kPrompt), pass_kernels(PassKind::kFew),
              pass_kernels(PassKind::kBatch)},
      slots_{Slot{pinned_bytes(context, sizes_), GpuEvent(context)},
             Slot{pinned_bytes(context, sizes_), GpuEvent(context)},
             Slot{pinned_bytes(context, sizes_), GpuEvent(context)},
             Slot{pinned_bytes(context, sizes_), GpuEvent(context)}},
      logits_(context, uint64_t{logits_rows(sizes_)} * config.n_vocab * sizeof(float), "logits"),
      error_(context, sizeof(ErrorWord), "errors"),
      sampler_(stream_, timer_, profile_, texts_, config.n_vocab, sizes_.sequences, sizes_.context) {
  prepare_first_token();  // during the upload
  if (!context->device().is_emulated) profile_.set_peak_bandwidth(context->device().peak_bandwidth);
  place_weights(tensors, options);
  place_page_tables();
  await_first_token();
  stream_.fill(error_address(), 0, sizeof(ErrorWord));
  stream_.fill(activations_.address() + plan_.scratch[0], 0, plan_.scratch_bytes);
  const uint32_t q_width = config.n_heads * config.head_dim, kv_width = config.n_kv_heads * config.head_dim;
  state_ = {.hidden = buffer(plan_.hidden, config.hidden),
            .q = buffer(plan_.q, q_width),
            .k = buffer(plan_.k, kv_width),
            .v = buffer(plan_.v, kv_width),
            .mixed = buffer(plan_.mixed, q_width),
            .inner = buffer(plan_.inner, config.ffn),
            .scores = buffer(plan_.scores, config.experts.n),
            .delta = {buffer(plan_.qkv, config.delta_net.channels()), buffer(plan_.z, config.delta_net.inner()),
                      buffer(plan_.alpha, config.delta_net.n_v_heads), buffer(plan_.beta, config.delta_net.n_v_heads),
                      buffer(plan_.delta_mixed, config.delta_net.inner())},
            .logits = buffer(plan_.logits, config.n_vocab)};
  stream_.wait();
  if (options.launch) return;
  choice_ = std::make_unique<LaunchChoice>();
  if (!can_launch(LaunchMode::kPersistent))
    choice_->leave_out(LaunchMode::kPersistent,
                       !may_persist(config) ? kNotAtOnce : "the GPU has no cooperative launches");
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
  const auto matrix = [&](const TensorInfo* tensor) { return tensor == nullptr ? 0 : upload.place_matrix(*tensor); };
  for (const LayerTensors& t : tensors.layers) {
    layers_.push_back({.matrices = map(t.matrices, matrix),
                       .vectors = map(t.vectors, vector),
                       .experts = map(t.experts, matrix),
                       .delta_matrices = map(t.delta_matrices, matrix),
                       .delta_vectors = map(t.delta_vectors, vector)});
    layers_.back().vectors.shared_switch = matrix(t.vectors.shared_switch);  // a matrix of one row to the kernels
  }
  for (size_t layer = 0; layer < layers_.size(); ++layer) {
    if (config_.layers[layer].mixer != Mixer::kAttention) continue;
    layers_[layer].k_pages = cache_.address() + cache_plan_.offset(places_[layer], false);
    layers_[layer].v_pages = cache_.address() + cache_plan_.offset(places_[layer], true);
  }
  token_embd_ = matrix(tensors.token_embd);
  output_ = config_.tied_output ? token_embd_ : matrix(tensors.output);
  output_norm_ = vector(tensors.output_norm);
  weights_ = upload.finish();
  weight_bytes_per_token_ = weights_.n_bytes() - (config_.tied_output ? 0 : matrix_bytes(*tensors.token_embd));
  for (const LayerTensors& t : tensors.layers)
    for_each(
        [&](const TensorInfo* tensor, bool is_of_each) {
          if (tensor == nullptr || !is_of_each) return;
          const ExpertsConfig& e = config_.experts;
          weight_bytes_per_token_ -= matrix_bytes(*tensor) / e.n * (e.n - e.n_used);
        },
        t.experts, kIsOfEachExpert);
}

void GpuSteps::place_page_tables() {
  for (uint32_t i = 0; i < sizes_.sequences * sizes_.pages_per_sequence(); ++i)
    pages_.push_back(std::min(i, n_pages()));
  stream_.upload(page_table(0), std::as_bytes(std::span(pages_)));
  stream_.fill(cache_.address() + cache_plan_.offset(cache_plan_.layers, false), 0, cache_plan_.v.n_bytes());
}

void GpuSteps::set_pages(uint32_t sequence, std::span<const uint32_t> pages) {
  require(sequence < sizes_.sequences && pages.size() <= sizes_.pages_per_sequence(),
          "a page table beyond the context");
  for (const uint32_t page : pages) require(page < n_pages(), "a page that the KV cache has not");
  context_->make_current();
  const auto known = pages_.begin() + uint64_t{sequence} * sizes_.pages_per_sequence();
  for (size_t begin = 0, end; begin < pages.size(); begin = end + 1) {
    for (end = begin; end < pages.size() && pages[end] != known[end]; ++end) known[end] = pages[end];
    if (end > begin) upload(page_table(sequence) + begin * sizeof(uint32_t), pages.subspan(begin, end - begin));
  }
}

void GpuSteps::copy_page(uint32_t from, uint32_t to) {
  require(from < n_pages() && to < n_pages(), "a page that the KV cache has not");
  context_->make_current();
  const auto copy = [&](uint64_t pages, uint64_t n_bytes) {
    stream_.copy(pages + to * n_bytes, pages + from * n_bytes, n_bytes);
  };
  for (const LayerAddresses& layer : layers_) {
    if (layer.k_pages == 0) continue;
    copy(layer.k_pages, cache_plan_.k.n_bytes());
    copy(layer.v_pages, cache_plan_.v.n_bytes());
  }
}

void GpuSteps::copy_state(uint32_t from, uint32_t to) {
  require(from < n_states() && to < n_states(), "a state that there is not");
  context_->make_current();
  const uint64_t n_bytes = delta_state_bytes(config_);
  stream_.copy(states_.address() + to * n_bytes, states_.address() + from * n_bytes, n_bytes);
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
  if (part_.kind != PassKind::kToken) {
    arguments.add(part_.n_columns);
    blocks.y = part_.n_columns;
  }
  run(step, arguments, blocks, kernel.cost.bytes / most * part_.n_columns);
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

void GpuSteps::begin(std::span<const Run> runs) {
  uint64_t n_columns = 0;
  for (const Run& run : runs) {
    require(run.position + run.tokens.size() <= sizes_.context && run.sequence < sizes_.sequences,
            "a pass beyond the context or the sequences");
    n_columns += run.tokens.size();
  }
  require(n_columns > 0 && n_columns <= max_columns(), "a pass of more columns than there is room for");
  context_->make_current();
  graphs_.forget();  // of a pass that was stopped
  upload_pass(lay_out(runs));
  require(pass_.logits_columns.size() <= max_logits_columns(), "logits of more columns than there is room for");
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
  for (const uint32_t sequence : pass_.sequences) add(states_.address() + sequence * delta_state_bytes(config_));
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
  if (is_of_graphs()) graphs_.begin(pass_.n_columns());
}

template <class Body>
void GpuSteps::each_part(const Body& body) {
  for (const PassLayout::Part& part : pass_.parts) {
    part_ = part;
    body();
  }
  part_ = pass_.parts.front();
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
    multiply(step.q, {w.q, 0, vectors.attn_norm, vectors.q_bias, of_part(hidden), of_part(q)}, part_.n_columns);
    multiply(step.k, {w.k, 0, vectors.attn_norm, vectors.k_bias, of_part(hidden), of_part(k)}, part_.n_columns);
    multiply(step.v, {w.v, 0, vectors.attn_norm, vectors.v_bias, of_part(hidden), of_part(v)}, part_.n_columns);
    if (config_.gated_attention)
      multiply(step.q_gate,
               {w.q_gate, 0, vectors.attn_norm, 0, of_part(hidden), of_part(buffer(plan_.q_gate, q.width))},
               part_.n_columns);
  });
}

void GpuSteps::rope_scatter(uint32_t index, Buffer q, Buffer k, Buffer v) {
  each_part([&] {
    Arguments arguments{at(of_part(q)), at(of_part(k)), at(of_part(v))};
    arguments.add_unless_null(layers_[index].vectors.q_norm);
    arguments.add_unless_null(layers_[index].vectors.k_norm);
    for (const uint64_t address : {positions(), layers_[index].k_pages, layers_[index].v_pages, page_tables()})
      arguments.add(at(address));
    arguments.add(n_pages());
    arguments.add(at(error_address()));
    run(pass().kv_scatters[config_.layers[index].rope], arguments);
  });
}

void GpuSteps::attention(uint32_t index, Buffer q, Buffer mixed) {
  each_part([&] {
    attend(index, of_part(q), of_part(mixed));
    if (config_.gated_attention) run(pass().gate, {at(of_part(mixed)), at(of_part(buffer(plan_.q_gate, mixed.width)))});
  });
}

void GpuSteps::norm_delta(uint32_t index, Buffer hidden, const DeltaBuffers& x) {
  const DeltaMatrices<uint64_t>& w = layers_[index].delta_matrices;
  const uint64_t gamma = layers_[index].vectors.attn_norm;
  each_part([&] {
    const DeltaMatrices<ProductStep>& step = pass().deltas[index];
    for_each(
        [&](const ProductStep& product, uint64_t weights, Buffer y) {
          multiply(product, {weights, 0, gamma, 0, of_part(hidden), of_part(y)}, part_.n_columns);
        },
        step, w, DeltaMatrices<Buffer>{x.qkv, x.z, x.alpha, x.beta});
  });
}

// A prompt is one sequence, whose positions a block goes through; else each column has blocks of its own.
void GpuSteps::run_sequences(const GpuStep& step, Arguments arguments) {
  const ptx::Kernel& kernel = step.kernel->kernel();
  const bool is_prompt = part_.kind == PassKind::kPrompt;
  if (part_.kind != PassKind::kToken) arguments.add(part_.n_columns);
  run(step, arguments, {kernel.launch.blocks.x, is_prompt ? 1 : part_.n_columns},
      kernel.cost.bytes / sizes_.columns_of(part_.kind) * part_.n_columns);
}

void GpuSteps::conv_step(uint32_t index, const DeltaBuffers& x) {
  each_part([&] {
    run_sequences(pass().conv, {at(of_part(x.qkv)), at(layers_[index].delta_vectors.conv), at(states()),
                                at(positions()), places_[index]});
  });
}

void GpuSteps::delta_step(uint32_t index, const DeltaBuffers& x) {
  const DeltaVectors<uint64_t>& v = layers_[index].delta_vectors;
  each_part([&] {
    run_sequences(pass().delta,
                  {at(of_part(x.qkv)), at(of_part(x.z)), at(of_part(x.alpha)), at(of_part(x.beta)), at(v.dt_bias),
                   at(v.decay), at(v.norm), at(states()), at(positions()), places_[index], at(of_part(x.mixed))});
  });
}

void GpuSteps::attend(uint32_t index, Buffer q, Buffer mixed) {
  const GpuStep& step = pass().attention;
  const uint32_t n_columns = part_.n_columns;
  const uint64_t keys = layers_[index].k_pages, values = layers_[index].v_pages, tables = page_tables();
  if (const auto* flash = std::get_if<FlashAttentionSpec>(&kernels_of(part_.kind).specs().attention)) {
    run(step, {at(q), at(keys), at(values), at(tables), at(positions()), at(mixed), at(error_address()), n_columns},
        flash_attention_grid(*flash, n_columns),
        flash_attention_cost(*flash, n_columns, part_.longest - n_columns).bytes);
    return;
  }
  const auto& spec = std::get<AttentionSpec>(kernels_of(part_.kind).specs().attention);
  const uint32_t longest = graphs_.is_open() ? sizes_.context : part_.longest;  // a graph is for every position
  const uint64_t scratch = activations_.address() + plan_.scratch[static_cast<size_t>(part_.kind)];
  for (uint32_t first = 0; first < n_columns; first += spec.columns) {
    const uint32_t columns = std::min(spec.columns, n_columns - first);
    Arguments arguments{at(column_of(q, first)),
                        at(keys),
                        at(values),
                        at(tables),
                        at(positions() + first * sizeof(uint32_t)),
                        at(column_of(mixed, first)),
                        at(scratch),
                        at(error_address())};
    if (spec.columns > 1) arguments.add(columns);
    run(step, arguments, attention_grid(spec, longest), attention_cost(spec, part_.n_keys * columns / n_columns).bytes);
  }
}

void GpuSteps::output_residual(uint32_t index, Buffer mixed, Buffer hidden) {
  each_part([&] {
    multiply(pass().layers[index].output, {layers_[index].matrices.output, 0, 0, 0, of_part(mixed), of_part(hidden)},
             part_.n_columns);
  });
}

void GpuSteps::norm_gate_up(uint32_t index, Buffer hidden, Buffer inner) {
  const LayerMatrices<uint64_t>& w = layers_[index].matrices;
  each_part([&] {
    multiply(pass().layers[index].gate_up,
             {w.gate, w.up, layers_[index].vectors.ffn_norm, 0, of_part(hidden), of_part(inner)}, part_.n_columns);
  });
}

void GpuSteps::down_residual(uint32_t index, Buffer inner, Buffer hidden) {
  each_part([&] {
    multiply(pass().layers[index].down, {layers_[index].matrices.down, 0, 0, 0, of_part(inner), of_part(hidden)},
             part_.n_columns);
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
    multiply(step.router, {layers_[index].experts.router, 0, gamma, 0, of_part(hidden), of_part(scores)},
             part_.n_columns);
    run(step.route, {at(of_part(scores)), at(of_part(buffer(plan_.experts, n_used))),
                     at(of_part(buffer(plan_.expert_weights, n_used)))});
  });
}

// As many columns in a launch as there are blocks in y for their uses. x: of columns, or of uses; y: of uses.
void GpuSteps::multiply_uses(const GpuStep& step, const ExpertProductSpec& spec, const Operands& o, uint64_t experts) {
  const ptx::Kernel& kernel = step.kernel->kernel();
  for (uint32_t first = 0; first < part_.n_columns; first += spec.columns) {
    const uint32_t columns = std::min(spec.columns, part_.n_columns - first), first_use = first * spec.n_used;
    Arguments arguments{at(o.weights)};
    arguments.add_unless_null(o.up);
    arguments.add(at(column_of(o.x, spec.by_column ? first : first_use)));
    arguments.add_unless_null(o.gamma);
    arguments.add(at(experts + first_use * sizeof(uint32_t)));
    arguments.add(at(column_of(o.y, first_use)));
    if (spec.columns > 1) arguments.add(columns);
    run(step, arguments, {kernel.launch.blocks.x, columns * spec.n_used}, kernel.cost.bytes / spec.columns * columns);
  }
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
    multiply_uses(step.gate_up, specs.gate_up, {w.gate, w.up, gamma, 0, of_part(hidden), inner}, experts);
    multiply_uses(step.down, specs.down, {w.down, 0, 0, 0, inner, outputs}, experts);
    Arguments sum{at(outputs), at(of_uses(plan_.expert_weights, 1))};
    if (e.shared_ffn > 0) {
      const Buffer shared_inner = of_part(buffer(plan_.shared_inner, e.shared_ffn));
      const Buffer output = of_part(buffer(plan_.shared_output, config_.hidden));
      const Buffer switches = of_part(buffer(plan_.shared_switch, 1));
      multiply(step.shared_gate_up, {w.shared_gate, w.shared_up, gamma, 0, of_part(hidden), shared_inner},
               part_.n_columns);
      multiply(step.shared_down, {w.shared_down, 0, 0, 0, shared_inner, output}, part_.n_columns);
      multiply(step.shared_switch, {layer.vectors.shared_switch, 0, gamma, 0, of_part(hidden), switches},
               part_.n_columns);
      sum.add(at(output)), sum.add(at(switches));
    }
    sum.add(at(of_part(hidden)));
    run(step.sum, sum);
  });
  end_layer(index);
}

// The kernels read from 16-byte boundaries, which every fourth column is at: up to three before the wanted ones are
// computed as well. What they write is written over where it is another's, for the last rows are computed first.
void GpuSteps::norm_logits(Buffer hidden, Buffer logits) {
  for (auto wanted = pass_.wanted.rbegin(); wanted != pass_.wanted.rend(); ++wanted) {
    const uint32_t before = hidden.width % 4 == 0 ? 0 : wanted->column % 4, columns = before + wanted->n;
    const Buffer x{reinterpret_cast<void*>(column_of(hidden, wanted->column - before)), hidden.width};
    const Buffer y{reinterpret_cast<void*>(logits_row(wanted->row) - uint64_t{before} * logits.width * sizeof(float)),
                   logits.width};
    multiply(kernels_of(columns == 1 ? PassKind::kToken : wanted->kind).logits(), {output_, 0, output_norm_, 0, x, y},
             columns);
    if (wanted->kind == PassKind::kPrompt && wanted->n == 1)
      kernels_of(PassKind::kToken).prepare();  // while a prompt is computed
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

std::span<const float> GpuSteps::read_logits(uint32_t column) {
  const auto found = std::ranges::lower_bound(pass_.logits_columns, column);
  require(found != pass_.logits_columns.end() && *found == column, "reading of logits that were not asked for");
  if (!has_arrived_) {
    const uint64_t n_bytes = pass_.logits_columns.size() * config_.n_vocab * sizeof(float);
    stream_.download(logits_.bytes().first(n_bytes), logits_row(0));
    wait();
    has_arrived_ = true;
  }
  const auto row = static_cast<uint64_t>(found - pass_.logits_columns.begin());
  return logits_.as<float>().subspan(row * config_.n_vocab, config_.n_vocab);
}

void GpuSteps::start(std::span<const Start> columns) {
  sampler_.start(columns);
  if (pass_.n_columns() == columns.size() && !pass_.has_prompts()) return;
  // From here on the pass is of one column for each run whose logits were wanted.
  require(pass_.logits_columns.size() == columns.size(), "sampling after a run with the logits of several tokens");
  upload_pass(lay_out_tokens(pass_.last_sequences, pass_.last_positions));
}

void GpuSteps::sample() {
  require(sampler_.n_columns() == pass_.n_columns(), "sampling of another pass than the last");
  sampler_.sample({logits_row(0), tokens(), positions(), error_address()});
  for (uint32_t& position : pass_.last_positions) ++position;
}

void GpuSteps::begin_next() {
  graphs_.forget();  // of a pass that was stopped
  PassLayout::Part& part = pass_.parts.front();
  part.longest = 0, part.n_keys = 0;
  for (const uint32_t position : pass_.last_positions) part.add_position(position);
  part_ = part;
  begin_pass();
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
  at.n_pages = n_pages();
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
  return std::make_unique<MeasuredTokens>(
      decoder, *choice_, run, MeasuredTokens::Launcher{is_mode_ready, start, set_mode, pass_.last_sequences.front()});
}

std::unique_ptr<TokenSource> GpuSteps::persistent_tokens(const TokenRun& run) {
  PersistentLaunch& launch = persistent();
  const Start sampling{run.sampling, run.recent};
  start({&sampling, 1});
  sample();
  PersistentTokens::Start start{read()[0], page_table(pass_.sequences.front())};
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
  request.page_table = page_table(0);
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
  std::vector<MemoryUse> uses{{"weights", weights_.n_bytes()},
                              {"KV cache", cache_.n_bytes()},
                              {"activations", plan_.n_bytes - plan_.scratch_bytes - logits},
                              {"attention's scratch", plan_.scratch_bytes},
                              {"logits", logits},
                              {"sampler", sampler_bytes(config_, sizes_)},
                              {"kernels, about", kModuleBytes}};
  if (n_states() > 0) uses.push_back({"states of delta nets", states_.n_bytes()});
  return uses;
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
  check_memory(budget, options.sizes.context, context->memory().free_bytes, "GPU memory", config.context_length);
  return std::make_unique<GpuSteps>(config, tensors, options, budget, context);
}

}  // namespace warpchat
