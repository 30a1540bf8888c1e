#include "engine/gpu/gpu_sampler.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

#include "engine/gpu/sampler_state.h"
#include "models/error.h"
#include "models/message.h"

namespace warpchat {

namespace {

bool has_penalties(const SamplingParams& p) {
  return p.repeat_penalty != 1 || p.presence_penalty != 0 || p.frequency_penalty != 0;
}

// Recent tokens that the ring must hold.
uint32_t ring_for(std::span<const DeviceSampler::Start> columns) {
  uint32_t window = GpuSampler::kLeastRing;
  for (const DeviceSampler::Start& column : columns)
    if (has_penalties(column.params)) window = std::max(window, column.params.penalty_window);
  if (window > kLargestSampleRing)
    throw Error("--repeat-last-n is " + grouped(window) + ", a GPU's sampler looks back at most " +
                grouped(kLargestSampleRing) + " tokens; lower it");
  return std::bit_ceil(window);
}

}  // namespace

GpuSampler::GpuSampler(const Stream& stream, LaunchTimer& timer, Profile& profile, KernelTexts& texts, uint32_t n_vocab,
                       uint32_t sequences)
    : stream_(stream), timer_(timer), profile_(profile), texts_(texts), spec_{n_vocab, sequences} {
  spec_.ring = 0;
  spec_.advances = true;
  for (uint32_t i = 0; i < kSlots; ++i)
    slots_.push_back({HostMemory(stream.context(), uint64_t{sequences} * sizeof(Token), "tokens"),
                      HostMemory(stream.context(), sizeof(ErrorWord), "errors"), GpuEvent(stream.context())});
}

// One kernel, for the longest window that was asked for. What fails leaves the one before.
void GpuSampler::compile(uint32_t ring) {
  SampleSpec spec = spec_;
  spec.ring = ring;
  std::vector<ptx::Kernel> kernels;
  kernels.push_back(warpchat::sample(spec, stream_.context()->device().target()));
  auto compiled = std::make_unique<KernelSet>(stream_.context(), std::move(kernels));
  const LoadedKernel& kernel = (*compiled)[name_of(spec)];
  DeviceMemory states(stream_.context(), spec.columns * sampler_state_stride(spec), "the sampler");
  stream_.wait();  // the kernel and the states before may be in use
  operation_ = profile_.operation(name_of(spec));
  texts_.add(kernel, {spec.columns});
  kernels_ = std::move(compiled);
  kernel_ = &kernel;
  states_ = std::move(states);
  spec_ = spec;
}

void GpuSampler::start(std::span<const DeviceSampler::Start> columns) {
  assert(!columns.empty() && columns.size() <= spec_.columns);
  const uint32_t ring = ring_for(columns);
  if (ring > spec_.ring) compile(ring);
  std::vector<uint8_t> states;
  for (const DeviceSampler::Start& column : columns) {
    const std::vector<uint32_t> recent(column.recent.begin(), column.recent.end());
    const std::vector<uint8_t> state = packed_sampler_state(spec_, sampler_state(column.params), recent);
    states.insert(states.end(), state.begin(), state.end());
  }
  stream_.upload(states_.address(), std::as_bytes(std::span(states)));
  stream_.wait();
  n_columns_ = static_cast<uint32_t>(columns.size());
  n_sampled_ = n_read_ = 0;
}

void GpuSampler::sample(const Buffers& b) {
  assert(n_sampled_ - n_read_ < kSlots);
  std::vector<Argument> arguments;
  for (const uint64_t address : {b.logits, states_.address(), b.tokens, b.positions, b.error})
    arguments.push_back(Argument::address(address));
  if (spec_.columns > 1) arguments.push_back(n_columns_);
  kernel_->launch(stream_, arguments, {n_columns_});
  timer_.launched(operation_, uint64_t{n_columns_} * spec_.n_vocab * sizeof(float));
  const Slot& slot = slots_[n_sampled_++ % kSlots];
  stream_.download(slot.tokens.bytes().first(n_columns_ * sizeof(Token)), b.tokens);
  stream_.download(slot.error.bytes(), b.error);
  stream_.record(slot.copied);
}

GpuSampler::Sampled GpuSampler::read() {
  assert(n_read_ < n_sampled_);
  const Slot& slot = slots_[n_read_++ % kSlots];
  slot.copied.wait();
  Sampled sampled{slot.tokens.as<Token>().first(n_columns_), {}};
  std::memcpy(&sampled.error, slot.error.bytes().data(), sizeof sampled.error);
  return sampled;
}

}  // namespace warpchat
