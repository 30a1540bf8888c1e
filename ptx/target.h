// GPU architectures (sm_90) and PTX versions (8.0): a target's limits, and the first version that supports it.
#pragma once
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace ptx {

// A .version directive, as ten times the major plus the minor number.
struct Version {
  int number = 0;
  auto operator<=>(const Version&) const = default;
};
std::string spell(Version version);  // "7.0"

// A .target directive. `specific` means sm_90a: instructions that later architectures may drop.
struct Target {
  int sm = 0;
  bool specific = false;
  bool operator==(const Target&) const = default;
};
std::string spell(Target target);  // "sm_90a"

inline constexpr Target sm_75{75}, sm_80{80}, sm_86{86}, sm_89{89}, sm_90{90}, sm_90a{90, true}, sm_100{100},
    sm_120{120};

// The target of a compute capability, 7.5 or newer; throws Error for an older one.
Target target_of_capability(int major, int minor);
Target parse_target(std::string_view name);  // "sm_90a"; throws Error

// Whether `target` can run code for `minimum`: newer architectures can, but "a" instructions need exactly their own.
bool runs(Target target, Target minimum);

struct TargetLimits {
  uint32_t shared_bytes;  // static plus dynamic, with the opt-in for more than 48 KiB
  uint32_t max_threads_per_sm;
};
const TargetLimits& limits(Target target);
Version oldest_version(Target target);  // that supports the target

inline constexpr uint32_t kMaxStaticSharedBytes = 48 * 1024;
inline constexpr uint32_t kMaxConstantBytes = 64 * 1024;
inline constexpr uint32_t kMaxThreadsPerBlock = 1024;
inline constexpr uint32_t kMaxParameterBytes = 32764;    // from PTX 8.1
inline constexpr uint32_t kMaxOldParameterBytes = 4352;  // before PTX 8.1
inline constexpr Version kLongParameters{81};
inline constexpr uint32_t kWarpSize = 32;

}  // namespace ptx
