// Kind of a barrier instruction, in Instruction::immediate.
#pragma once

#include <cstdint>

namespace ptx::emulator {

enum class BarrierKind : uint8_t { kSync, kArrive, kPopcount, kAnd, kOr, kCluster };
constexpr uint32_t kBarrierAligned = 1, kBarrierNegated = 2;  // Instruction::flags

}  // namespace ptx::emulator
