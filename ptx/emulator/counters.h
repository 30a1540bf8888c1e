// Statistics of a launch. The first four totals are always kept. The rest needs LaunchOptions::count and is kept for
// the whole kernel and for each region delimited by "// tag: name" and "// end tag: name" comments.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ptx::emulator {

enum class InstructionClass : uint8_t {
  kInteger,  // arithmetic, logic and comparisons
  kFloat,
  kDouble,
  kHalf,    // f16 and bf16, also in pairs
  kTensor,  // mma, wmma.mma
  kConversion,
  kSpecial,  // sin cos ex2 lg2 tanh rcp sqrt rsqrt
  kMove,     // mov, selp, cvta
  kWarp,     // shfl, vote, match, redux
  kLoadGlobal,
  kStoreGlobal,
  kLoadShared,  // and ldmatrix
  kStoreShared,
  kLoadLocal,
  kStoreLocal,
  kLoadConstant,  // and parameters
  kLoadGeneric,
  kStoreGeneric,
  kAtomicGlobal,  // atom and red
  kAtomicShared,
  kAsyncCopy,
  kBarrier,  // bar, mbarrier, fence
  kControl,  // branches, calls, returns
  kOther
};
constexpr uint32_t kInstructionClasses = static_cast<uint32_t>(InstructionClass::kOther) + 1;
std::string_view name_of(InstructionClass c);                 // "integer", "load global", ...
InstructionClass class_of_instruction(std::string_view ptx);  // for example of "ld.global.v4.u32"

// Accesses to global memory. A request is one instruction executed by one warp.
struct GlobalCounts {
  uint64_t requests = 0;
  uint64_t sectors = 0;  // of 32 bytes, counted once per request
  uint64_t bytes = 0;    // requested by lanes
};

struct Counts {
  uint64_t instructions = 0;                             // executed by warps
  uint64_t lane_instructions = 0;                        // times active lanes; a false guard leaves a lane active
  uint64_t divergent_branches = 0;                       // branches where lanes of a warp went both ways
  uint64_t barriers = 0;                                 // block barriers, counted once per warp
  std::array<uint64_t, kInstructionClasses> by_class{};  // PTX instructions executed by warps; sums to `instructions`
  GlobalCounts loads, stores, atomics;
  uint64_t shared_requests = 0;
  uint64_t bank_replays =
      0;  // passes beyond the least: 32 banks of 4 bytes; 8- and 16-byte accesses by half and quarter warps

  uint64_t of(InstructionClass c) const { return by_class[static_cast<size_t>(c)]; }
  Counts& operator+=(const Counts& other);
};

struct TagCounts {
  std::string tag;  // of the innermost region; "" outside all regions
  Counts counts;
};

struct Counters : Counts {
  std::vector<TagCounts> tags;  // in text order; empty without tags

  void add(const Counters& other);                   // merges tags by name
  const Counts* of_tag(std::string_view tag) const;  // null if absent
};

}  // namespace ptx::emulator
