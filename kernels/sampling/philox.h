// Counter-based random numbers: Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1,
// 2, 3", SC 2011.
#pragma once
#include "ptx/builder.h"

namespace warpchat {

// The first 64 of the 128 random bits for counter {counter, 0, 0, 0}; the first word is the low one.
inline ptx::Reg<ptx::u64> philox(ptx::Builder& b, const ptx::Reg<ptx::u64>& key, const ptx::Reg<ptx::u32>& counter) {
  using namespace ptx;
  constexpr uint32_t kRounds = 10, kMultiplier0 = 0xd2511f53, kMultiplier1 = 0xcd9e8d57;
  constexpr uint32_t kWeyl0 = 0x9e3779b9, kWeyl1 = 0xbb67ae85;
  Vec<u32, 2> keys = b.split<u32>(key);
  Var<u32> word[] = {b.var("random", counter), b.var("random", 0u), b.var("random", 0u), b.var("random", 0u)};
  b.for_("round", 0, kRounds, 1, [&](Reg<u32> round) {
    Reg<u32> low0 = word[0] * kMultiplier0, high0 = b.mul_hi(word[0], kMultiplier0);
    Reg<u32> low1 = word[2] * kMultiplier1, high1 = b.mul_hi(word[2], kMultiplier1);
    word[0] = high1 ^ word[1] ^ (keys[0] + round * kWeyl0);
    word[1] = low1;
    word[2] = high0 ^ word[3] ^ (keys[1] + round * kWeyl1);
    word[3] = low0;
  });
  return b.join<u64>(Reg<u32>(word[0]), Reg<u32>(word[1]));
}

}  // namespace warpchat
