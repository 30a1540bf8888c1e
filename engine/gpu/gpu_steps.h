// Decoder steps on a GPU, through generated kernels.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "engine/driver/device_choice.h"
#include "engine/gpu/gpu_memory.h"
#include "engine/launch_mode.h"
#include "engine/steps.h"

namespace warpchat {

struct GpuOptions {
  DeviceChoice device;                                     // must have a table
  GpuSizes sizes;                                          // context > 0
  std::optional<LaunchMode> launch = LaunchMode::kStream;  // none: measures modes during answers and uses the fastest
  std::function<void(double)> progress;                    // 0..1 while weights are copied; may be empty
  std::map<LaunchMode, std::string> failed_modes = {};     // failed earlier, with reasons; never chosen automatically
  // Called from any thread if the device is lost in that mode.
  std::function<void(LaunchMode, const std::string& why)> on_failed_mode = {};
  bool drafts = true;           // compiles draft verification along with the persistent mode
  bool verifies_modes = false;  // compares the first token in graph and persistent mode with stream mode
};

// No GPU can run the model with these kernels.
class UnsupportedModel : public ErrorWithRemedy {
 public:
  explicit UnsupportedModel(const std::string& sentence) : ErrorWithRemedy(sentence, Remedy::Kind::kUseCpu) {}
};

// tensors must outlive only the call. MemoryShortage if device memory is short (needed, free, largest context that
// fits), before any allocation. UnsupportedModel. DriverError if the device fails. Error for persistent launches with
// f32 caches.
std::unique_ptr<Steps> make_gpu_steps(const ModelConfig& config, const ModelTensors& tensors,
                                      const GpuOptions& options);

}  // namespace warpchat
