// How many of a prompt's tokens go into one pass: so many that it takes a sixth of a second, for somebody may want to
// see how far it is, or to stop it.
#pragma once
#include <cstddef>
#include <cstdint>

namespace warpchat {

class PassLength {
 public:
  // No pass takes longer, as far as the passes before tell, unless it has no more than `least` tokens: each pass has a
  // cost of its own, 0.5% of 512 tokens' on a CPU. Of a mixture of experts each has its own columns, and with few of
  // them its weights are mostly waited for.
  static constexpr double kSeconds = 0.15;
  static constexpr uint32_t kLeast = 128;
  static constexpr uint32_t kColumnsOfAnExpert = 16;
  // Passes are multiples of this, but the last, and none is shorter, unless the prompt is. A clock must not change a
  // bit of the result, and on a GPU products of fewer columns, and attention, go another way.
  static constexpr uint32_t kUnit = 16;
  // The same where a state goes through a pass in chunks of so many positions (kernels/delta_chunk.h).
  static constexpr uint32_t kChunk = 64;

  // most: of a pass. fixed: all are as long as they may be, where time means nothing. in_units: whatever waits. unit:
  // at most kLeast; least: at least that.
  PassLength(uint32_t most, bool fixed, bool in_units, uint32_t unit = kUnit, uint32_t least = kLeast);

  // Of n_left tokens, at least 1. most: where something else waits for the pass.
  uint32_t next(size_t n_left, uint32_t most = UINT32_MAX) const;
  void took(uint32_t length, double seconds);  // a pass that has been computed; 0: nobody knows

 private:
  bool fixed_, in_units_;
  uint32_t unit_, least_, most_, length_;
};

}  // namespace warpchat
