// How a GPU's kernels are launched. The names are the values of --launch.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace warpchat {

// Applies to passes of one token per sequence; prompts always go kernel by kernel. Results are the same to the bit.
enum class LaunchMode : uint8_t {
  kStream,  // kernel by kernel
  kGraph,   // one CUDA graph of the layers per number of sequences, recorded with the first token
  // One cooperative launch decodes many tokens of one sequence. Batches run as graphs. A token outside such a launch
  // (engine/token_source.h) goes kernel by kernel.
  kPersistent,
};
inline constexpr std::array<LaunchMode, 3> kLaunchModes = {LaunchMode::kStream, LaunchMode::kGraph,
                                                           LaunchMode::kPersistent};
inline constexpr std::array<std::string_view, kLaunchModes.size()> kLaunchModeNames = {"stream", "graph", "persistent"};

inline std::string_view name_of(LaunchMode mode) { return kLaunchModeNames[static_cast<size_t>(mode)]; }

inline std::optional<LaunchMode> launch_mode_named(std::string_view name) {
  for (size_t i = 0; i < kLaunchModeNames.size(); ++i)
    if (kLaunchModeNames[i] == name) return static_cast<LaunchMode>(i);
  return std::nullopt;
}

}  // namespace warpchat
