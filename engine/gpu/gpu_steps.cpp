// Members of the GPU steps, and the launch modes: stream, graph, persistent.
#include "engine/gpu/gpu_steps.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/decoder.h"
#include "engine/driver/emulator_library.h"
#include "engine/gpu/gpu_decoder_steps.h"
#include "engine/gpu/measured_tokens.h"
#include "engine/gpu/persistent_tokens.h"
#include "engine/gpu/weight_upload.h"
#include "models/text_format.h"
#include "models/threads.h"

namespace warpchat {
namespace {

// Tokens per persistent launch if a watchdog ends kernels that run for seconds: safe up to 50 ms per token.
constexpr uint32_t kTokensUnderWatchdog = 16;

HostMemory pinned_bytes(const ContextPointer& context, const GpuSizes& sizes) {
  return HostMemory(context, std::max<uint64_t>(pass_bytes(sizes), sizes.pages_per_sequence() * sizeof(uint32_t)),
                    "tokens");
}

// Rejects a launch mode that has no kernels for the cache types, before anything is copied or compiled.
void check_launch(LaunchMode mode, KvTypes cache) {
  if (mode == LaunchMode::kPersistent && cache.has_f32())
    throw ErrorWithRemedy("launch mode persistent takes keys and values in f16 and q8_0, not in f32",
                          Remedy::Kind::kLaunchGraph);
}

}  // namespace

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
                  : DeviceMemory(context, n_states() * config.delta_state_bytes(), "the states of delta nets")),
      launch_mode_(options.launch.value_or(LaunchMode::kStream)),
      graphs_(stream_, timer_),
      network_(text_decoder(config)),
      passes_{compiled_pass(PassKind::kDecode), compiled_pass(PassKind::kPrefill), compiled_pass(PassKind::kSmallBatch),
              compiled_pass(PassKind::kBatch), compiled_pass(PassKind::kVerify)},
      slots_{Slot{pinned_bytes(context, sizes_), GpuEvent(context)},
             Slot{pinned_bytes(context, sizes_), GpuEvent(context)},
             Slot{pinned_bytes(context, sizes_), GpuEvent(context)},
             Slot{pinned_bytes(context, sizes_), GpuEvent(context)}},
      logits_(context, uint64_t{logits_rows(sizes_)} * config.n_vocab * sizeof(float), "logits"),
      error_(context, sizeof(ErrorWord), "errors"),
      sampler_(stream_, timer_, profile_, texts_, config.n_vocab, sizes_.token_columns(), sizes_.context) {
  prepare_first_token();  // overlaps with the upload
  if (!context->device().is_emulated) profile_.set_peak_bandwidth(context->device().peak_bandwidth);
  place_weights(tensors, options);
  place_buffers();
  place_page_tables();
  await_first_token();
  stream_.fill(at_[Buffer::kError], 0, sizeof(ErrorWord));
  // Zeroes scratch memory, which kernels expect and preserve.
  stream_.fill(activations_.address() + plan_[Buffer::kBatchScratch], 0, plan_.n_bytes - plan_[Buffer::kBatchScratch]);
  stream_.wait();
  is_verified_.fill(!options.verifies_modes);
  has_drafts_ = options.drafts;
  loss_listener_ = context->watch()->add_listener([this, report = options.on_failed_mode](const std::string& why) {
    if (report && launch_mode_ != LaunchMode::kStream) report(launch_mode_, why);
  });
  if (options.launch) return;
  choice_ = std::make_unique<LaunchChoice>();
  if (!can_launch(LaunchMode::kPersistent))
    choice_->leave_out(LaunchMode::kPersistent, sizes_.cache.has_f32() ? "it takes no keys and values in f32"
                                                                       : "the GPU has no cooperative launches");
  for (const auto& [mode, why] : options.failed_modes)
    if (mode != LaunchMode::kStream) choice_->leave_out(mode, "it failed before: " + why);
}

GpuSteps::~GpuSteps() {
  context_->watch()->remove_listener(loss_listener_);
  try {
    context_->make_current();  // members free their memory on this thread
    stream_.wait();            // interrupted passes may still use it
  } catch (const Error&) {     // a lost device has nothing left to free
  }
}

void GpuSteps::set_launch_mode(LaunchMode mode) {
  check_launch(mode, sizes_.cache);
  if (mode == LaunchMode::kPersistent) persistent();
  launch_mode_ = mode;
  choice_.reset();
}

std::string GpuSteps::description() const {
  const GpuDevice& device = context_->device();
  return (device.is_emulated ? "emulator: " : "cuda: " + device.name + " ") + ptx::spell(device.target()) +
         ", launch " + (choice_ ? choice_->description() : std::string(name_of(launch_mode_))) +
         (launch_mode_ == LaunchMode::kPersistent && sizes_.sequences > 1 ? ", batches by graph" : "");
}

CompiledPass GpuSteps::compiled_pass(PassKind kind) {
  const PassShape shape{kind, sizes_.columns_of(kind), sizes_.context, sizes_.cache};
  return {context_, launch_list(network_, config_, formats_, shape), profile_, texts_};
}

// Starts compiling prefill, logits and sampling kernels.
void GpuSteps::prepare_first_token() {
  if (sizes_.columns() > 1) pass_of(PassKind::kPrefill).prepare();
  pass_of(PassKind::kDecode).prepare_logits();
  sampler_.prepare();
}

void GpuSteps::await_first_token() {
  if (sizes_.columns() > 1) pass_of(PassKind::kPrefill).await_layers();
  pass_of(PassKind::kDecode).await_logits();
  sampler_.await_prepared();
}

void GpuSteps::place_weights(const ModelTensors& tensors, const GpuOptions& options) {
  WeightUpload upload(stream_, weights_bytes(config_, tensors), options.progress);
  at_.weights = warpchat::place_weights(upload, tensors);
  const std::vector<uint32_t> slots = config_.cache_slot_of_layer();
  for (uint32_t layer = 0; layer < config_.n_layers; ++layer) {
    const bool has_cache = config_.layers[layer].mixer == Mixer::kAttention;
    const auto pages = [&](bool values) {
      return has_cache ? cache_.address() + cache_plan_.offset(slots[layer], values) : 0;
    };
    at_.keys.push_back(pages(false)), at_.values.push_back(pages(true));
  }
  weights_ = upload.finish();
  weight_bytes_per_token_ = weights_.n_bytes() - (config_.tied_output ? 0 : matrix_bytes(*tensors.token_embd));
  for (const LayerTensors& t : tensors.layers)
    for_each(
        [&](const TensorInfo* tensor, bool is_of_each) {
          if (tensor == nullptr || !is_of_each) return;
          const ExpertsConfig& e = config_.experts;
          weight_bytes_per_token_ -= matrix_bytes(*tensor) / e.n * (e.n - e.n_used);
        },
        t.experts, kIsPerExpert);
}

void GpuSteps::place_buffers() {
  for (size_t i = 0; i < kBuffers; ++i) {
    const BufferShape shape = shape_of(static_cast<Buffer>(i), config_);
    at_.buffers[i] = activations_.address() + plan_.offsets[i];
    column_bytes_[i] = uint64_t{shape.width} * shape.per_column * sizeof(uint32_t);
  }
  if (config_.hidden % 4 != 0) at_[Buffer::kLogits] = column_of(Buffer::kLogits, 3);  // see run_logits
  at_[Buffer::kAttentionScratch] = activations_.address() + plan_.scratch[static_cast<size_t>(PassKind::kDecode)];
  at_.n_pages = n_pages();
}

void GpuSteps::place_page_tables() {
  for (uint32_t i = 0; i < sizes_.sequences * sizes_.pages_per_sequence(); ++i)
    pages_.push_back(std::min(i, n_pages()));
  stream_.upload(page_table(0), std::as_bytes(std::span(pages_)));
  stream_.fill(cache_.address() + cache_plan_.offset(cache_plan_.layers, false), 0, cache_plan_.v.n_bytes());
}

void GpuSteps::set_pages(uint32_t sequence, std::span<const uint32_t> pages) {
  require(sequence < sizes_.sequences && pages.size() <= sizes_.pages_per_sequence(),
          "page table longer than the context");
  for (const uint32_t page : pages) require(page < n_pages(), "KV cache page out of range");
  context_->make_current();
  const auto known = pages_.begin() + uint64_t{sequence} * sizes_.pages_per_sequence();
  for (size_t begin = 0, end; begin < pages.size(); begin = end + 1) {
    for (end = begin; end < pages.size() && pages[end] != known[end]; ++end) known[end] = pages[end];
    if (end > begin) upload(page_table(sequence) + begin * sizeof(uint32_t), pages.subspan(begin, end - begin));
  }
}

void GpuSteps::copy_page(uint32_t from, uint32_t to) {
  require(from < n_pages() && to < n_pages(), "KV cache page out of range");
  context_->make_current();
  const auto copy = [&](uint64_t pages, uint64_t n_bytes) {
    stream_.copy(pages + to * n_bytes, pages + from * n_bytes, n_bytes);
  };
  for (size_t layer = 0; layer < at_.keys.size(); ++layer) {
    if (at_.keys[layer] == 0) continue;
    copy(at_.keys[layer], cache_plan_.k.n_bytes());
    copy(at_.values[layer], cache_plan_.v.n_bytes());
  }
}

void GpuSteps::copy_state(uint32_t from, uint32_t to) {
  require(from < n_states() && to < n_states(), "recurrent state out of range");
  context_->make_current();
  const uint64_t n_bytes = config_.delta_state_bytes();
  stream_.copy(states_.address() + to * n_bytes, states_.address() + from * n_bytes, n_bytes);
}

void GpuSteps::start(std::span<const Start> columns) {
  sampler_.start(columns);
  if (pass_.n_columns() == columns.size() && !pass_.has_prompts()) return;
  // From here on the pass has one column per run with wanted logits.
  require(pass_.logits_columns.size() == columns.size(),
          "sampling after a run that wanted the logits of several tokens");
  upload_pass(lay_out_tokens(pass_.last_sequences, pass_.last_positions));
}

void GpuSteps::sample() {
  require(sampler_.n_columns() == pass_.n_columns(), "sampling for a pass that is not the latest");
  sampler_.sample({at_[Buffer::kLogits], at_[Buffer::kTokens], at_[Buffer::kPositions], at_[Buffer::kError]});
  for (uint32_t& position : pass_.last_positions) ++position;
}

void GpuSteps::begin_next() {
  graphs_.forget();  // drops an interrupted pass
  PassLayout::Segment& segment = pass_.segments.front();
  segment.longest = 0, segment.n_keys = 0;
  for (const uint32_t position : pass_.last_positions) segment.add_position(position);
  segment_ = segment;
  begin_pass();
}

std::span<const Token> GpuSteps::read() {
  const GpuSampler::Sampled sampled = sampler_.read();
  if (counts_) stream_.wait();  // until the counters are complete
  collect_profile();
  check(sampled.error);
  return sampled.tokens;
}

void GpuSteps::stop_persistent_launch() {
  if (PersistentLaunch* launch = launch_to_end_) launch->stop();
}

bool GpuSteps::can_verify_draft() {
  CompiledPass& kernels = pass_of(PassKind::kVerify);
  kernels.prepare();
  kernels.prepare_logits();
  return kernels.is_ready();
}

PersistentSpec GpuSteps::persistent_spec() const {
  return {passes_[static_cast<size_t>(PassKind::kDecode)].list(), sampler_.ring(), /*stamps=*/true};
}

// Kinds of passes between persistent launches, with drafts. Their kernels are compiled early, since a load would end a
// launch.
std::span<const PassKind> GpuSteps::kinds_beside_persistent() const {
  static constexpr std::array kKinds = {PassKind::kDecode, PassKind::kVerify};
  return std::span(kKinds).first(has_drafts_ ? 2 : 1);
}

bool GpuSteps::is_ready(LaunchMode mode) {
  if (mode != LaunchMode::kPersistent || persistent_) return true;
  prepare_persistent();
  return persistent_module_.is_ready() &&
         std::ranges::all_of(kinds_beside_persistent(), [this](PassKind kind) { return pass_of(kind).is_ready(); });
}

void GpuSteps::prepare_persistent() {
  if (!persistent_module_.is_valid())
    persistent_module_ = {context_->watch(), [context = context_, spec = persistent_spec()] {
                            context->make_current();
                            return PersistentLaunch::compile(context, spec);
                          }};
  for (const PassKind kind : kinds_beside_persistent()) {
    pass_of(kind).prepare();
    pass_of(kind).prepare_logits();
  }
}

PersistentLaunch& GpuSteps::persistent() {
  if (persistent_) return *persistent_;
  prepare_persistent();
  const DeviceTask<std::unique_ptr<Module>> compiled = std::exchange(persistent_module_, {});
  std::unique_ptr<Module> module = std::move(compiled.get());  // moved out, so a retry compiles again
  for (const PassKind kind : kinds_beside_persistent()) pass_of(kind).await_layers(), pass_of(kind).await_logits();
  context_->make_current();
  persistent_ = std::make_unique<PersistentLaunch>(stream_, persistent_spec(), at_, std::move(module));
  launch_to_end_ = persistent_.get();
  texts_.add(persistent_->kernel(), persistent_->n_blocks());
  return *persistent_;
}

std::unique_ptr<TokenSource> GpuSteps::token_source(Decoder& decoder, const TokenRun& run) {
  if (!choice_) {
    verify(launch_mode_, decoder, run);
    return launch_mode_ == LaunchMode::kPersistent ? persistent_tokens(run) : nullptr;
  }
  const auto start = [this, &decoder](LaunchMode mode, const TokenRun& part) {
    verify(mode, decoder, part);
    launch_mode_ = mode;
    return mode == LaunchMode::kPersistent ? persistent_tokens(part) : make_device_token_source(decoder, part);
  };
  const auto is_mode_ready = [this](LaunchMode mode) { return is_ready(mode); };
  const auto set_mode = [this](LaunchMode mode) { launch_mode_ = mode; };
  return std::make_unique<MeasuredTokens>(
      decoder, *choice_, run, MeasuredTokens::Launcher{is_mode_ready, start, set_mode, pass_.last_sequences.front()});
}

// Computes a token at the run's position in the mode and in stream mode, and compares the logits to the bit. Restores
// everything but the position's keys and values, which the run overwrites.
void GpuSteps::verify(LaunchMode mode, Decoder& decoder, const TokenRun& run) {
  if (is_verified_[static_cast<size_t>(mode)] || mode == LaunchMode::kStream) return;
  if (run.recent.empty() || pass_.logits_columns.size() != 1 || run.position >= max_positions()) return;
  const uint64_t state = state_address(pass_.last_sequences.front());
  DeviceMemory saved;
  try {
    saved = DeviceMemory(context_, n_states() > 0 ? config_.delta_state_bytes() : 0, "a copy of a recurrent state");
  } catch (const DriverError&) {  // try again later: without a copy the state cannot be restored
    return;
  }
  const LaunchMode before = launch_mode_;
  const PassLayout pass = pass_;
  std::vector<float> kept(config_.n_vocab);
  const std::span<const float> first = read_logits(pass.logits_columns[0]);
  std::ranges::copy(first, kept.begin());
  stream_.copy(saved.address(), state, saved.n_bytes());
  const auto restore_state = [&] { stream_.copy(state, saved.address(), saved.n_bytes()); };
  const auto restore = [&] {
    restore_state();
    launch_mode_ = before;
    upload_pass(pass);
    stream_.upload(at_[Buffer::kLogits], std::as_bytes(std::span(kept)));
    stream_.wait();
    has_arrived_ = false;
  };
  try {
    const Token token = run.recent.back();
    const std::vector<float> expected = logits_of_token(LaunchMode::kStream, decoder, token, run.position);
    restore_state();
    const std::vector<float> got = logits_of_token(mode, decoder, token, run.position);
    const auto [at, other] = std::ranges::mismatch(got, expected);
    if (at != got.end())
      throw ErrorWithRemedy("the logits of launch mode " + std::string(name_of(mode)) +
                                " differ from those of stream, first in number " + std::to_string(at - got.begin()) +
                                ", which is a fault of warpchat or of the GPU: please report it",
                            mode == LaunchMode::kPersistent ? Remedy::Kind::kLaunchGraph : Remedy::Kind::kUseCpu);
  } catch (...) {
    restore();
    throw;
  }
  restore();
  is_verified_[static_cast<size_t>(mode)] = true;
}

std::vector<float> GpuSteps::logits_of_token(LaunchMode mode, Decoder& decoder, Token token, uint32_t position) {
  launch_mode_ = mode;
  const uint32_t sequence = pass_.last_sequences.front();
  std::vector<float> logits;
  const auto keep = [&](std::span<const float> row) { logits.assign(row.begin(), row.end()); };
  if (mode == LaunchMode::kPersistent) {
    PersistentLaunch& launch = persistent();
    launch.start({.token = token,
                  .position = position,
                  .max_tokens = 1,
                  .returns_rows = true,
                  .page_table = page_table(sequence),
                  .delta_state = state_address(sequence)});
    while (launch.next()) keep(launch.row());
  } else {
    decoder.forward({&token, 1}, position, Logits::kLast, nullptr, sequence);
    keep(read_logits(0));
  }
  return logits;
}

std::unique_ptr<TokenSource> GpuSteps::persistent_tokens(const TokenRun& run) {
  PersistentLaunch& launch = persistent();
  const Start sampling{run.sampling, run.recent};
  start({&sampling, 1});
  sample();
  const uint32_t sequence = pass_.sequences.front();
  PersistentTokens::Start start{read()[0], page_table(sequence), state_address(sequence)};
  StampProfile times(profile_, pass_of(PassKind::kDecode), launch);
  start.stamps = times.stamps();
  start.tokens_per_launch = tokens_per_launch(times, start.stamps);
  start.ended = [this, times](uint32_t position) mutable {
    times.record(position);
    collect_profile();
  };
  return std::make_unique<PersistentTokens>(launch, run, std::move(start));
}

uint32_t GpuSteps::tokens_per_launch(const StampProfile& times, const StampRequest& stamps) const {
  const uint32_t max = times.tokens_per_launch(stamps);
  return context_->device().has_watchdog ? std::min(max, kTokensUnderWatchdog) : max;
}

bool GpuSteps::teacher_force(std::span<const Token> tokens, uint32_t position,
                             const std::function<void(std::span<const float>)>& on_row) {
  if (launch_mode_ != LaunchMode::kPersistent) return false;
  context_->make_current();
  PersistentLaunch& launch = persistent();
  StampProfile times(profile_, pass_of(PassKind::kDecode), launch);
  PersistentLaunch::Request request;
  request.returns_rows = true;
  request.page_table = page_table(0);
  request.delta_state = state_address(0);
  request.stamps = times.stamps();
  for (const uint32_t max = tokens_per_launch(times, request.stamps); !tokens.empty();) {
    request.token = tokens.front();
    request.position = position;
    request.max_tokens = std::min<uint32_t>(max, static_cast<uint32_t>(tokens.size()));
    request.forced = tokens;
    launch.start(request);
    uint32_t n = 0;  // may end early if another thread needs the device
    try {
      for (; launch.next(); ++n) on_row(launch.row());
    } catch (...) {
      launch.cut();  // after an error of `take`; after an error of next() it has ended
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

// If the GPU is lost, the next pass reports it.
uint32_t GpuSteps::context_that_fits() const {
  try {
    context_->make_current();
    return budget_.largest_context(
        saturating_sum({context_->free_bytes_without_load(), budget_.total(sizes_.context)}));
  } catch (const Error&) {
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
  stream_.fill(at_[Buffer::kError], 0, sizeof word);
  throw Error("the GPU refuses a pass: " + describe(word));
}

std::unique_ptr<Steps> make_gpu_steps(const ModelConfig& config, const ModelTensors& tensors,
                                      const GpuOptions& options) {
  require(options.sizes.context > 0 && options.device.table != nullptr,
          "GPU decoder without a context size or a device");
  if (options.launch) check_launch(*options.launch, options.sizes.cache);
  const ContextPointer context = Context::open(*options.device.table, options.device.gpu);
  const MemoryBudget budget = gpu_memory_budget(config, tensors, options.sizes);
  check_memory(budget, options.sizes.context, context->memory().free_bytes, "GPU memory", config.context_length);
  return std::make_unique<GpuSteps>(config, tensors, options, budget, context);
}

}  // namespace warpchat
