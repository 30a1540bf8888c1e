// Exchange between lanes: shuffles with segments and clamps, votes, matches, reductions, elections.
#include <gtest/gtest.h>

#include <bit>

#include "tests/emulator/kernel_text.h"

namespace ptx::emulator {
namespace {

std::vector<uint32_t> lanes_of(const std::string& code, uint32_t threads = 32, const std::vector<uint32_t>& in = {}) {
  std::vector<uint32_t> input = in;
  if (input.empty()) {
    for (uint32_t t = 0; t < threads; ++t) input.push_back(1000 + t);
  }
  const std::string load = "mad.wide.u32 %rd1, %thread, 4, %in;\nld.global.b32 %r1, [%rd1];\nmov.u32 %r2, %laneid;\n";
  const Result r = run_text(kernel(load + code + "\n" + kStoreResult), {1}, {threads}, threads, input);
  EXPECT_EQ(r.fault, "") << code;
  return r.words;
}

// The ISA's rule: the source lane within a segment; otherwise the lane itself, with a false predicate.
struct Source {
  uint32_t lane;
  bool in_range;
};
Source source_of(const std::string& mode, int lane, int b, int c) {
  const int clamp = c & 31, segment = c >> 8 & 31, max = (lane & segment) | (clamp & ~segment), min = lane & segment;
  b &= 31;
  int j = 0;
  bool good = false;
  if (mode == "up") j = lane - b, good = j >= max;
  if (mode == "down") j = lane + b, good = j <= max;
  if (mode == "bfly") j = lane ^ b, good = j <= max;
  if (mode == "idx") j = min | (b & ~segment), good = j <= max;
  return {static_cast<uint32_t>(good ? j : lane), good};
}

TEST(Warp, Shuffles) {
  const struct {
    int b, c;
  } operands[] = {{1, 31}, {5, 31},     {16, 31}, {31, 31},    {3, 0x181f}, {9, 0x1807},
                  {1, 0},  {7, 0x1c00}, {33, 31}, {2, 0x101f}, {4, 12}};
  for (const std::string mode : {"up", "down", "bfly", "idx"}) {
    for (const auto& [b, c] : operands) {
      const auto values = lanes_of("shfl.sync." + mode + ".b32 %r0|%p1, %r1, " + std::to_string(b) + ", " +
                                   std::to_string(c) + ", -1;\n@!%p1 add.u32 %r0, %r0, 500000;");
      for (int lane = 0; lane < 32; ++lane) {
        const Source s = source_of(mode, lane, b, c);
        EXPECT_EQ(values[static_cast<size_t>(lane)], 1000 + s.lane + (s.in_range ? 0 : 500000))
            << mode << " " << b << " " << c << " lane " << lane;
      }
    }
  }
}

TEST(Warp, ShuffleByARegister) {
  const auto values = lanes_of("xor.b32 %r3, %r2, 21;\nshfl.sync.idx.b32 %r0, %r1, %r3, 31, -1;");
  for (uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(values[lane], 1000 + (lane ^ 21));
}

TEST(Warp, Votes) {
  const std::string odd = "and.b32 %r3, %r2, 1;\nsetp.eq.u32 %p1, %r3, 1;\n";
  EXPECT_EQ(lanes_of(odd + "vote.sync.ballot.b32 %r0, %p1, -1;")[7], 0xaaaaaaaau);
  EXPECT_EQ(lanes_of(odd + "vote.sync.ballot.b32 %r0, !%p1, -1;")[7], 0x55555555u);
  EXPECT_EQ(lanes_of(odd + "vote.sync.any.pred %p2, %p1, -1;\nselp.u32 %r0, 1, 0, %p2;")[0], 1u);
  EXPECT_EQ(lanes_of(odd + "vote.sync.all.pred %p2, %p1, -1;\nselp.u32 %r0, 1, 0, %p2;")[0], 0u);
  EXPECT_EQ(lanes_of("setp.lt.u32 %p1, %r2, 99;\nvote.sync.uni.pred %p2, %p1, -1;\nselp.u32 %r0, 1, 0, %p2;")[0], 1u);
}

TEST(Warp, VoteOfHalvesThatDiverged) {  // each half votes separately, with its own mask
  const auto values = lanes_of(
      "setp.lt.u32 %p1, %r2, 16;\nsetp.gt.u32 %p2, %r1, 1010;\n@%p1 bra low;\nvote.sync.ballot.b32 %r0, %p2, "
      "0xffff0000;\nbra join;\n"
      "low: vote.sync.ballot.b32 %r0, %p2, 0x0000ffff;\njoin:");
  EXPECT_EQ(values[3], 0x0000f800u);
  EXPECT_EQ(values[20], 0xffff0000u);
}

TEST(Warp, WarpBarrierWaitsForDivergedLanes) {
  const std::string shared = ".shared .align 4 .b32 word;\n";
  const Result r =
      run_text(kernel("setp.eq.u32 %p0, %thread, 0;\n@!%p0 bra wait;\nst.shared.b32 [word], 77;\nbar.warp.sync "
                      "-1;\nbra join;\nwait: bar.warp.sync -1;\njoin:\nld.shared.b32 %r0, [word];\n" +
                          std::string(kStoreResult),
                      shared),
               {1}, {32}, 32);
  EXPECT_EQ(r.fault, "");
  EXPECT_EQ(r.words, std::vector<uint32_t>(32, 77));
}

TEST(Warp, Matches) {
  std::vector<uint32_t> in;
  for (uint32_t t = 0; t < 32; ++t) in.push_back(t % 5);
  const auto any = lanes_of("match.any.sync.b32 %r0, %r1, -1;", 32, in);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    uint32_t expected = 0;
    for (uint32_t other = 0; other < 32; ++other) expected |= (other % 5 == lane % 5) << other;
    EXPECT_EQ(any[lane], expected);
  }
  const std::string all = "match.all.sync.b32 %r0|%p1, %r1, -1;\n@%p1 add.u32 %r0, %r0, 1;";
  EXPECT_EQ(lanes_of(all, 32, in)[4], 0u);
  EXPECT_EQ(lanes_of(all, 32, std::vector<uint32_t>(32, 9))[4], 0u);  // all lanes, plus 1: wraps to 0
  EXPECT_EQ(lanes_of("match.all.sync.b32 %r0, %r1, -1;", 32, std::vector<uint32_t>(32, 9))[4], 0xffffffffu);
}

TEST(Warp, Reductions) {
  const std::vector<uint32_t> in = [] {
    std::vector<uint32_t> v;
    for (uint32_t t = 0; t < 32; ++t) v.push_back((t * 0x9e3779b9u) ^ (t << 29));
    return v;
  }();
  uint32_t sum = 0, min = ~0u, ands = ~0u, ors = 0, xors = 0;
  int32_t max = INT32_MIN;
  for (uint32_t v : in)
    sum += v, min = std::min(min, v), ands &= v, ors |= v, xors ^= v, max = std::max(max, static_cast<int32_t>(v));
  EXPECT_EQ(lanes_of("redux.sync.add.u32 %r0, %r1, -1;", 32, in)[9], sum);
  EXPECT_EQ(lanes_of("redux.sync.min.u32 %r0, %r1, -1;", 32, in)[9], min);
  EXPECT_EQ(lanes_of("redux.sync.max.s32 %r0, %r1, -1;", 32, in)[9], static_cast<uint32_t>(max));
  EXPECT_EQ(lanes_of("redux.sync.and.b32 %r0, %r1, -1;", 32, in)[9], ands);
  EXPECT_EQ(lanes_of("redux.sync.or.b32 %r0, %r1, -1;", 32, in)[9], ors);
  EXPECT_EQ(lanes_of("redux.sync.xor.b32 %r0, %r1, -1;", 32, in)[9], xors);
}

TEST(Warp, ElectionTakesTheLowestLane) {
  const auto values = lanes_of(
      "mov.u32 %r0, 0;\nsetp.lt.u32 %p1, %r2, 6;\n@%p1 bra done;\nelect.sync %r3|%p2, 0xffffffc0;\nselp.u32 %r0, 100, "
      "0, %p2;\nadd.u32 %r0, %r0, %r3;\ndone:");
  EXPECT_EQ(values[6], 106u);
  EXPECT_EQ(values[7], 6u);
}

TEST(Warp, SpecialRegisters) {
  const Result r = run_text(kernel("mov.u32 %r1, %laneid;\nmov.u32 %r2, %warpid;\nmov.u32 %r3, %lanemask_lt;\npopc.b32 "
                                   "%r3, %r3;\nmad.lo.u32 %r0, %r2, 1000, %r1;\nmad.lo.u32 %r0, %r3, 100000, %r0;\n" +
                                   std::string(kStoreResult)),
                            {2}, {45}, 90);
  ASSERT_EQ(r.fault, "");
  for (uint32_t t = 0; t < 45; ++t) EXPECT_EQ(r.words[45 + t], t % 32 + t / 32 * 1000 + t % 32 * 100000);
}

TEST(Warp, ThreadsLineUpXThenYThenZ) {
  const std::string text = kernel(
      "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %tid.y;\nmov.u32 %r3, %tid.z;\nmov.u32 %r4, %warpid;\nmov.u32 %r5, "
      "%laneid;\nmad.lo.u32 %r6, %r4, 32, %r5;\n"
      "mad.lo.u32 %r0, %r2, 10, %r1;\nmad.lo.u32 %r0, %r3, 100, %r0;\nmad.wide.u32 %rd1, %r6, 4, %out;\nst.global.b32 "
      "[%rd1], %r0;");
  const Result r = run_text(text, {1}, {5, 3, 4}, 60);
  ASSERT_EQ(r.fault, "");
  for (uint32_t t = 0; t < 60; ++t) EXPECT_EQ(r.words[t], t % 5 + t / 5 % 3 * 10 + t / 15 * 100);
}

}  // namespace
}  // namespace ptx::emulator
