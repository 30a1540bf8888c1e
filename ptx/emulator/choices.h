// Seeded choices: the same seed gives the same sequence on any machine (SplitMix64).
#pragma once

#include <cstdint>

namespace ptx::emulator {

class Choices {
 public:
  explicit Choices(uint64_t seed) : state_(seed * 0xd1342543de82ef95ull + 0x2545f4914f6cdd1dull) {}

  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
  }
  uint32_t below(uint32_t n) { return static_cast<uint32_t>((next() >> 32) * n >> 32); }
  bool one_in(uint32_t n) { return below(n) == 0; }
  // Instructions before switching to the next warp: usually 64 to 256, sometimes very few.
  int64_t slice() { return one_in(4) ? 1 + below(16) : 64 + below(193); }

 private:
  uint64_t state_;
};

}  // namespace ptx::emulator
