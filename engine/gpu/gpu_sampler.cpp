#include "engine/gpu/gpu_sampler.h"

#include <algorithm>
#include <bit>
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

// Like await_prepared(): after a refusal, a later call compiles again.
void GpuSampler::compile_mask() {
  if (mask_kernel_ != nullptr) return;
  std::vector<ptx::Kernel> kernels;
  kernels.push_back(mask_logits(mask_spec(), stream_.context()->device().target()));
  mask_kernels_.emplace(stream_.context(), std::move(kernels));
  try {
    masks_ = DeviceMemory(stream_.context(), uint64_t{spec_.columns} * mask_words(spec_.n_vocab) * sizeof(uint32_t),
                          "the sampler's masks");
    mask_kernel_ = &(*mask_kernels_)[name_of(mask_spec())];
  } catch (const Error&) {
    mask_kernels_.reset();
    throw;
  }
  mask_operation_ = profile_.operation(name_of(mask_spec()));
  texts_.add(*mask_kernel_, {mask_kernel_->kernel().launch.blocks.x, spec_.columns});
}

// [columns, mask_words(n_vocab)]; columns without a mask allow every token. Counts the forbidden ones.
std::vector<uint32_t> GpuSampler::packed_masks(std::span<const DeviceSampler::Start> columns) {
  const uint32_t n_words = mask_words(spec_.n_vocab);
  const uint32_t last = UINT32_MAX >> (n_words * 32 - spec_.n_vocab);  // tokens of the last word
  std::vector<uint32_t> all;
  n_forbidden_ = 0;
  for (const DeviceSampler::Start& column : columns) {
    if (column.mask.empty()) {
      all.insert(all.end(), n_words, UINT32_MAX);
      continue;
    }
    require(column.mask.size() == n_words, "a mask that does not have one bit per token");
    uint32_t n_allowed = 0;
    for (uint32_t i = 0; i < n_words; ++i)
      n_allowed += static_cast<uint32_t>(std::popcount(column.mask[i] & (i + 1 < n_words ? UINT32_MAX : last)));
    require(n_allowed > 0, "a mask that allows no token");
    n_forbidden_ += spec_.n_vocab - n_allowed;
    all.insert(all.end(), column.mask.begin(), column.mask.end());
  }
  return all;
}

void GpuSampler::start(std::span<const DeviceSampler::Start> columns) {
  require(!columns.empty() && columns.size() <= spec_.columns, "sampling for no or too many sequences");
  await_prepared();
  has_masks_ = std::ranges::any_of(columns, [](const DeviceSampler::Start& column) { return !column.mask.empty(); });
  std::vector<uint32_t> masks;               // must outlive the upload
  std::vector<std::vector<uint8_t>> states;  // also
  if (has_masks_) {
    compile_mask();
    masks = packed_masks(columns);
    stream_.upload(masks_.address(), std::as_bytes(std::span(masks)));
  }
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

void GpuSampler::apply_masks(uint64_t logits) {
  std::vector<Argument> arguments{Argument::address(logits), Argument::address(masks_.address())};
  if (spec_.columns > 1) arguments.push_back(n_columns_);
  mask_kernel_->launch(stream_, arguments, {mask_kernel_->kernel().launch.blocks.x, n_columns_});
  const uint64_t n_logits = uint64_t{n_columns_} * spec_.n_vocab;
  const uint64_t n_words = uint64_t{n_columns_} * mask_words(spec_.n_vocab);
  timer_.launched(mask_operation_, (n_logits + n_forbidden_) * sizeof(float) + n_words * sizeof(uint32_t));
}

void GpuSampler::sample(const Buffers& b) {
  require(n_sampled_ - n_read_ < kSlots, "sampling before earlier samples were read");
  require(!has_masks_ || n_sampled_ == 0, "sampling a second time with the masks of one token");
  std::vector<Argument> arguments;
  for (const uint64_t address : {b.logits, states_.address(), b.tokens, b.positions, b.error})
    arguments.push_back(Argument::address(address));
  if (spec_.columns > 1) arguments.push_back(n_columns_);
  timer_.begin();  // excludes host work since the pass from the time
  if (has_masks_) apply_masks(b.logits);
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
