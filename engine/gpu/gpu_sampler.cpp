#include "engine/gpu/gpu_sampler.h"

#include <cstring>

#include "engine/gpu/sampler_state.h"

namespace warpchat {

GpuSampler::GpuSampler(const Stream& stream, LaunchTimer& timer, Profile& profile, KernelTexts& texts, uint32_t n_vocab,
                       uint32_t sequences, uint32_t context)
    : stream_(stream), timer_(timer), profile_(profile), texts_(texts), spec_{n_vocab, sequences} {
  spec_.ring = sample_ring(context);
  spec_.advances = true;
  for (uint32_t i = 0; i < kSlots; ++i)
    slots_.push_back({HostMemory(stream.context(), uint64_t{sequences} * sizeof(Token), "tokens"),
                      HostMemory(stream.context(), sizeof(ErrorWord), "errors"), GpuEvent(stream.context())});
}

void GpuSampler::prepare() {
  if (kernels_) return;
  std::vector<ptx::Kernel> kernels;
  kernels.push_back(warpchat::sample(spec_, stream_.context()->device().target()));
  kernels_.emplace(stream_.context(), std::move(kernels));
}

void GpuSampler::await_prepared() {
  if (kernel_ != nullptr) return;
  prepare();
  try {
    states_ = DeviceMemory(stream_.context(), spec_.columns * sampler_state_stride(spec_), "the sampler");
    kernel_ = &(*kernels_)[name_of(spec_)];
  } catch (const Error&) {
    kernels_.reset();
    throw;
  }
  operation_ = profile_.operation(name_of(spec_));
  texts_.add(*kernel_, {spec_.columns});
}

void GpuSampler::start(std::span<const DeviceSampler::Start> columns) {
  require(!columns.empty() && columns.size() <= spec_.columns, "sampling for no or too many sequences");
  await_prepared();
  std::vector<std::vector<uint8_t>> states;  // must outlive the upload
  for (const DeviceSampler::Start& column : columns) {
    const std::vector<uint32_t> recent(column.recent.begin(), column.recent.end());
    const uint64_t offset = states.size() * sampler_state_stride(spec_);
    states.push_back(packed_sampler_state(spec_, sampler_state(column.params), recent));
    stream_.upload(states_.address() + offset, std::as_bytes(std::span(states.back())));
  }
  stream_.wait();
  n_columns_ = static_cast<uint32_t>(columns.size());
  n_sampled_ = n_read_ = 0;
}

void GpuSampler::sample(const Buffers& b) {
  require(n_sampled_ - n_read_ < kSlots, "sampling before earlier samples were read");
  std::vector<Argument> arguments;
  for (const uint64_t address : {b.logits, states_.address(), b.tokens, b.positions, b.error})
    arguments.push_back(Argument::address(address));
  if (spec_.columns > 1) arguments.push_back(n_columns_);
  timer_.begin();  // excludes host work since the pass from the time
  kernel_->launch(stream_, arguments, {kernel_->kernel().launch.blocks.x, n_columns_});
  timer_.launched(operation_, uint64_t{n_columns_} * spec_.n_vocab * sizeof(float));
  const Slot& slot = slots_[n_sampled_++ % kSlots];
  stream_.download(slot.tokens.bytes().first(n_columns_ * sizeof(Token)), b.tokens);
  stream_.download(slot.error.bytes(), b.error);
  stream_.record(slot.copied);
}

GpuSampler::Sampled GpuSampler::read() {
  require(n_read_ < n_sampled_, "reading a token that was not sampled");
  const Slot& slot = slots_[n_read_++ % kSlots];
  slot.copied.wait();
  Sampled sampled{slot.tokens.as<Token>().first(n_columns_), {}};
  std::memcpy(&sampled.error, slot.error.bytes().data(), sizeof sampled.error);
  return sampled;
}

}  // namespace warpchat
