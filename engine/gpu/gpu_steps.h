// The decoder's steps on a GPU: the generated kernels, launched one by one, or recorded and replayed.
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
  DeviceChoice device;                                     // with a table
  GpuSizes sizes;                                          // context > 0
  std::optional<LaunchMode> launch = LaunchMode::kStream;  // none: the fastest, measured while it answers
  std::function<void(double)> progress;                    // 0..1 while the weights are copied; may be empty
  std::map<LaunchMode, std::string> failed_modes = {};     // that failed before, and why: not chosen by measuring
  // Called where the device is lost in that mode, on any thread.
  std::function<void(LaunchMode, const std::string& why)> on_failed_mode = {};
  bool drafts = true;           // will be asked for: what they take is prepared with the persistent mode
  bool verifies_modes = false;  // compares the first token of graph and persistent with stream's
};

// The kernels cannot compute the model, on no GPU.
class UnsupportedModel : public ErrorWithWayOut {
 public:
  explicit UnsupportedModel(const std::string& sentence) : ErrorWithWayOut(sentence, WayOut::Kind::kUseCpu) {}
};

// tensors must outlive the call only. MemoryShortage if the device lacks the memory (needed, free, the largest context
// that fits), before anything is allocated; UnsupportedModel; DriverError if the device fails; Error for persistent
// launches with f32 caches.
std::unique_ptr<Steps> make_gpu_steps(const ModelConfig& config, const ModelTensors& tensors,
                                      const GpuOptions& options);

}  // namespace warpchat
