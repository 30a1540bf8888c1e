// The sampling kernel, its state on the device, and tokens in transfer to the host. Masks of allowed tokens take a
// kernel before it, which is compiled when a start first has one.
#pragma once
#include <optional>
#include <vector>

#include "engine/device_sampler.h"
#include "engine/gpu/kernel_set.h"
#include "engine/gpu/kernel_texts.h"
#include "engine/gpu/launch_timer.h"
#include "kernels/common/error_word.h"
#include "kernels/sampling/mask_logits.h"
#include "kernels/sampling/sampling.h"

namespace warpchat {

class GpuSampler {
 public:
  GpuSampler(const Stream& stream, LaunchTimer& timer, Profile& profile, KernelTexts& texts, uint32_t n_vocab,
             uint32_t sequences, uint32_t context);

  void prepare();         // starts compiling on another thread, unless started already
  void await_prepared();  // DriverError if the driver refuses the kernel; a later call compiles again
  void start(std::span<const DeviceSampler::Start> columns);
  struct Buffers {  // device addresses: f32 [columns, n_vocab], u32 [columns], u32 [columns], u32 [kErrorWords]
    uint64_t logits, tokens, positions, error;
  };
  // For the columns passed to start(); advances positions. Overwrites logits that a mask forbids. Masks are for one
  // sample: before a second one, call start() again.
  void sample(const Buffers& buffers);
  struct Sampled {
    std::span<const Token> tokens;  // [columns]
    ErrorWord error;                // for everything up to this sample
  };
  Sampled read();  // waits for the oldest unread sample
  uint32_t n_columns() const { return n_columns_; }
  uint32_t ring() const { return spec_.ring; }  // recent tokens in the states: the whole context

 private:
  struct Slot {
    HostMemory tokens, error;
    GpuEvent copied;
  };
  static constexpr uint32_t kSlots = 2;  // maximum pending samples

  MaskLogitsSpec mask_spec() const { return {spec_.n_vocab, spec_.columns}; }
  void compile_mask();
  std::vector<uint32_t> packed_masks(std::span<const DeviceSampler::Start> columns);
  void apply_masks(uint64_t logits);

  const Stream& stream_;
  LaunchTimer& timer_;
  Profile& profile_;
  KernelTexts& texts_;
  SampleSpec spec_;
  std::optional<KernelSet> kernels_;
  const LoadedKernel* kernel_ = nullptr;
  uint32_t operation_ = 0;
  std::optional<KernelSet> mask_kernels_;
  const LoadedKernel* mask_kernel_ = nullptr;
  uint32_t mask_operation_ = 0;
  DeviceMemory states_, masks_;
  std::vector<Slot> slots_;
  uint32_t n_columns_ = 0;
  bool has_masks_ = false;
  uint64_t n_forbidden_ = 0;  // tokens, over all columns
  uint64_t n_sampled_ = 0, n_read_ = 0;
};

}  // namespace warpchat
