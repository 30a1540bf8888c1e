// The sampling kernel, its state on the device, and tokens in transfer to the host.
#pragma once
#include <optional>
#include <vector>

#include "engine/device_sampler.h"
#include "engine/gpu/kernel_set.h"
#include "engine/gpu/kernel_texts.h"
#include "engine/gpu/launch_timer.h"
#include "kernels/common/error_word.h"
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
  void sample(const Buffers& buffers);  // for the columns passed to start(); advances positions
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

  const Stream& stream_;
  LaunchTimer& timer_;
  Profile& profile_;
  KernelTexts& texts_;
  SampleSpec spec_;
  std::optional<KernelSet> kernels_;
  const LoadedKernel* kernel_ = nullptr;
  uint32_t operation_ = 0;
  DeviceMemory states_;
  std::vector<Slot> slots_;
  uint32_t n_columns_ = 0;
  uint64_t n_sampled_ = 0, n_read_ = 0;
};

}  // namespace warpchat
