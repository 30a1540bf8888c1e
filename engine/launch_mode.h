// How a GPU's kernels are launched, by the names that --launch takes.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace warpchat {

// Of passes of one token of each sequence; prompts always go kernel by kernel. Results are the same to the bit.
enum class LaunchMode : uint8_t {
  kStream,  // kernel by kernel
  kGraph,   // the layers as one CUDA graph, recorded with the first token, and one for each number of sequences
  // One cooperative launch decodes many tokens of one sequence. Batches go as graphs; a token that is not decoded as
  // such a run (engine/token_source.h) goes kernel by kernel.
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
