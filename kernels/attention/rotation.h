// The angles of RoPE on the device: cosine and sine of position * frequency, to 2e-7 at every position.
#pragma once
#include <cstdint>
#include <vector>

#include "ptx/builder.h"

namespace warpchat {

// A frequency in radians per position as 2^-64 turns per position: products with a position wrap exactly.
uint64_t turns_per_position(double frequency);

struct Rotation {
  ptx::Reg<ptx::f32> cosine, sine;
};
// Cosine and sine of turns * position. Uses no approximate instructions, so it is identical on every device.
Rotation rotation_at(ptx::Builder& b, const ptx::Reg<ptx::u64>& turns, const ptx::Reg<ptx::u32>& position);

}  // namespace warpchat
