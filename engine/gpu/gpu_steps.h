// The decoder's steps on a GPU: the generated kernels, launched one by one, or recorded and replayed.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "engine/driver/device_choice.h"
#include "engine/gpu/gpu_memory.h"
#include "engine/gpu/launch_mode.h"
#include "engine/steps.h"

namespace warpchat {

struct GpuOptions {
  DeviceChoice device;                                     // with a table
  GpuSizes sizes;                                          // context > 0
  std::optional<LaunchMode> launch = LaunchMode::kStream;  // none: the fastest, measured while it answers
  std::function<void(double)> progress;                    // 0..1 while the weights are copied; may be empty
};

// The kernels cannot compute the model, on no GPU.
class UnsupportedModel : public Error {
 public:
  using Error::Error;
};

class GpuDecoderSteps : public Steps {
 public:
  // From the next answer on, and for good. Error if the mode does not work here: what it needs is compiled now.
  virtual void set_launch_mode(LaunchMode mode) = 0;
  virtual bool can_launch(LaunchMode mode) const = 0;
  virtual bool has_settled() const = 0;  // whether the launch mode will stay as it is
};

// tensors must outlive the call only. MemoryShortage if the device lacks the memory (needed, free, the largest context
// that fits), before anything is allocated; UnsupportedModel; DriverError if the device fails.
std::unique_ptr<GpuDecoderSteps> make_gpu_steps(const ModelConfig& config, const ModelTensors& tensors,
                                                const GpuOptions& options);

}  // namespace warpchat
