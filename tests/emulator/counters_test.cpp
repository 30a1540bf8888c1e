// Counters against numbers computed by hand: classes, sectors, bank conflicts, divergence, regions.
#include <gmock/gmock.h>

#include "tests/emulator/kernel_text.h"

namespace ptx::emulator {
namespace {

struct Counted {
  Counters counters;
  std::string fault;
};

Counted count(const std::string& body, Dim3 grid, Dim3 block, const std::string& before = "",
              LaunchOptions options = {}, uint32_t threads = 1) {
  Device device(profile_named("sm_90"));
  const Module module(kernel(body, before), device.profile, device.memory);
  uint32_t* buffer = device.zeros<uint32_t>(1 << 16);
  options.count = true;
  Launch launch({module.find_function("k"), grid, block, 0, pack_parameters(buffer, buffer), options}, module,
                device.profile, device.memory);
  const bool done = launch.run(threads) == LaunchState::kDone;
  return {launch.counters(), done ? "" : launch.fault().message()};
}

TEST(Counters, ClassOfEveryKind) {
  using enum InstructionClass;
  const struct {
    const char* ptx;
    InstructionClass expected;
  } rows[] = {
      {"add.s32", kInteger},
      {"setp.lt.u32", kInteger},
      {"dp4a.s32.s32", kInteger},
      {"fma.rn.f32", kFloat},
      {"setp.lt.f32", kFloat},
      {"add.f64", kDouble},
      {"rcp.rn.f64", kDouble},
      {"fma.rn.f16x2", kHalf},
      {"ex2.approx.ftz.f32", kSpecial},
      {"cvt.rn.f32.s32", kConversion},
      {"mov.f32", kMove},
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", kTensor},
      {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", kTensor},
      {"wmma.load.a.sync.aligned.row.m16n16k16.global.f16", kLoadGlobal},
      {"shfl.sync.bfly.b32", kWarp},
      {"ld.global.nc.v4.u32", kLoadGlobal},
      {"ld.relaxed.gpu.global.u32", kLoadGlobal},
      {"ld.param.u64", kLoadConstant},
      {"ld.u32", kLoadGeneric},
      {"st.shared.v2.f32", kStoreShared},
      {"ldmatrix.sync.aligned.m8n8.x4.shared.b16", kLoadShared},
      {"red.release.gpu.global.add.u32", kAtomicGlobal},
      {"atom.shared.add.u32", kAtomicShared},
      {"cp.async.cg.shared.global", kAsyncCopy},
      {"bar.sync", kBarrier},
      {"fence.acq_rel.gpu", kBarrier},
      {"bra.uni", kControl},
      {"nanosleep.u32", kOther},
  };
  for (const auto& row : rows) EXPECT_EQ(name_of(class_of_instruction(row.ptx)), name_of(row.expected)) << row.ptx;
}

TEST(Counters, InstructionsByClass) {
  const std::string body =
      "cvt.rn.f32.u32 %f1, %thread;\nfma.rn.f32 %f2, %f1, %f1, %f1;\nex2.approx.f32 %f3, %f2;\n"
      "mul.wide.u32 %rd1, %thread, 4;\nadd.s64 %rd1, %rd1, %out;\nbar.sync 0;\nst.global.f32 [%rd1], %f3;";
  const Counters c = count(body, {3}, {64}).counters;
  const uint64_t warps = 6;
  using enum InstructionClass;
  EXPECT_EQ(c.of(kConversion), warps);
  EXPECT_EQ(c.of(kFloat), warps);
  EXPECT_EQ(c.of(kSpecial), warps);
  EXPECT_EQ(c.of(kInteger), 2 * warps);
  EXPECT_EQ(c.of(kMove), 2 * warps);          // %thread and %block
  EXPECT_EQ(c.of(kLoadConstant), 2 * warps);  // the parameters
  EXPECT_EQ(c.of(kStoreGlobal), warps);
  EXPECT_EQ(c.of(kBarrier), warps);
  EXPECT_EQ(c.of(kControl), warps);  // ret
  EXPECT_EQ(c.instructions, 12 * warps);
  EXPECT_EQ(c.lane_instructions, 12 * warps * 32);
  EXPECT_EQ(c.barriers, warps);
  EXPECT_EQ(c.divergent_branches, 0u);
}

TEST(Counters, SectorsOfARequest) {
  const struct {
    const char *why, *body;
    uint64_t sectors, bytes;
  } rows[] = {
      {"neighbouring words: 128 bytes", "mad.wide.u32 %rd1, %thread, 4, %in;\nld.global.b32 %r0, [%rd1];", 4, 128},
      {"one word for all", "ld.global.b32 %r0, [%in];", 1, 128},
      {"one word a sector", "mad.wide.u32 %rd1, %thread, 32, %in;\nld.global.b32 %r0, [%rd1];", 32, 128},
      {"off by a word: one sector more", "mad.wide.u32 %rd1, %thread, 4, %in;\nld.global.b32 %r0, [%rd1+4];", 5, 128},
      {"16 bytes a lane", "mad.wide.u32 %rd1, %thread, 16, %in;\nld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%rd1];", 16,
       512},
      {"a generic address", "mad.wide.u32 %rd1, %thread, 4, %in;\nld.b32 %r0, [%rd1];", 4, 128},
      {"eight lanes only",
       "setp.lt.u32 %p0, %thread, 8;\nmad.wide.u32 %rd1, %thread, 4, %in;\n@%p0 ld.global.b32 %r0, [%rd1];", 1, 32},
  };
  for (const auto& row : rows) {
    const Counters c = count(row.body, {1}, {32}).counters;
    EXPECT_EQ(c.loads.requests, 1u) << row.why;
    EXPECT_EQ(c.loads.sectors, row.sectors) << row.why;
    EXPECT_EQ(c.loads.bytes, row.bytes) << row.why;
    EXPECT_EQ(c.stores.requests + c.atomics.requests, 0u) << row.why;
  }
  const Counters c = count(
                         "mad.wide.u32 %rd1, %thread, 8, %out;\nst.global.b32 [%rd1], 1;\n"
                         "red.global.add.u32 [%rd1], 1;",
                         {2}, {64})
                         .counters;
  EXPECT_EQ(c.stores.requests, 4u);
  EXPECT_EQ(c.stores.sectors, 32u);
  EXPECT_EQ(c.atomics.requests, 4u);
  EXPECT_EQ(c.atomics.bytes, 4u * 128);
}

TEST(Counters, BankConflicts) {
  const std::string shared = ".shared .align 16 .b8 words[8192];\n";
  const struct {
    const char *why, *body;
    uint64_t replays;
  } rows[] = {
      {"stride of a word", "mad.lo.u32 %r1, %thread, 4, %r9;\nld.shared.b32 %r0, [%r1];", 0},
      {"stride of two words: two lanes a bank", "mad.lo.u32 %r1, %thread, 8, %r9;\nld.shared.b32 %r0, [%r1];", 1},
      {"stride of 32 words: all in one bank", "mad.lo.u32 %r1, %thread, 128, %r9;\nld.shared.b32 %r0, [%r1];", 31},
      {"padded to 33 words", "mad.lo.u32 %r1, %thread, 132, %r9;\nld.shared.b32 %r0, [%r1];", 0},
      {"one word for all is given at once", "ld.shared.b32 %r0, [words];", 0},
      {"bytes of one word", "add.u32 %r1, %thread, %r9;\nld.shared.u8 %r0, [%r1];", 0},
      {"16 bytes a lane: four passes and none more",
       "mad.lo.u32 %r1, %thread, 16, %r9;\nld.shared.v4.b32 {%r0, %r2, %r3, %r4}, [%r1];", 0},
      {"16 bytes at a stride of 128: each quarter in four banks",
       "mad.lo.u32 %r1, %thread, 128, %r9;\nld.shared.v4.b32 {%r0, %r2, %r3, %r4}, [%r1];", 4 * 7},
      {"8 bytes at a stride of 16: each half has two lanes a bank",
       "mad.lo.u32 %r1, %thread, 16, %r9;\nld.shared.v2.b32 {%r0, %r2}, [%r1];", 2},
  };
  for (const auto& row : rows) {
    const Counters c = count(std::string("mov.u32 %r9, words;\n") + row.body, {1}, {32}, shared).counters;
    EXPECT_EQ(c.shared_requests, 1u) << row.why;
    EXPECT_EQ(c.bank_replays, row.replays) << row.why;
  }
}

TEST(Counters, Divergence) {
  const std::string body =
      "and.b32 %r1, %thread, 1;\nsetp.eq.u32 %p0, %r1, 0;\n@%p0 bra even;\nadd.u32 %r2, %r1, 1;\neven:\n"
      "setp.lt.u32 %p1, %thread, 32;\n@%p1 bra done;\nadd.u32 %r3, %r1, 2;\ndone:";
  const Counters c = count(body, {1}, {64}).counters;
  EXPECT_EQ(c.divergent_branches, 2u);  // the second branch separates warps, not lanes
}

// Regions nest, and the innermost one counts. A region ends with its function.
const char* const kRegions =
    "// tag: outer\nadd.u32 %r1, %thread, 1;\nadd.u32 %r2, %r1, 1;\n"
    "// tag: inner\nmad.wide.u32 %rd1, %thread, 4, %in;\nld.global.b32 %r3, [%rd1];\n// end tag: inner\n"
    "add.u32 %r4, %r2, %r3;\n// end tag: outer\nadd.u32 %r5, %r4, 1;\n// tag: open to the end\nbar.sync 0;";

TEST(Counters, Tags) {
  const Counters c = count(kRegions, {2}, {32}).counters;
  ASSERT_NE(c.of_tag("outer"), nullptr);
  ASSERT_NE(c.of_tag("inner"), nullptr);
  EXPECT_EQ(c.of_tag("outer")->instructions, 3u * 2);
  EXPECT_EQ(c.of_tag("outer")->loads.requests, 0u);
  EXPECT_EQ(c.of_tag("inner")->instructions, 2u * 2);
  EXPECT_EQ(c.of_tag("inner")->loads.sectors, 4u * 2);
  EXPECT_EQ(c.of_tag("open to the end")->barriers, 2u);
  EXPECT_EQ(c.of_tag("")->instructions, 5u * 2);  // the code before, and the addition between
  EXPECT_EQ(c.of_tag("unknown"), nullptr);
  uint64_t sum = 0;
  for (const TagCounts& tag : c.tags) sum += tag.counts.instructions;
  EXPECT_EQ(sum, c.instructions);
  EXPECT_TRUE(count("add.u32 %r1, %thread, 1;", {1}, {32}).counters.tags.empty());
}

TEST(Counters, FaultsNameTheTag) {
  const Result result = run_text(kernel("// tag: epilogue\nmov.b64 %rd1, 0;\nst.global.b32 [%rd1], 1;\n"
                                        "// end tag: epilogue"),
                                 {1}, {1}, 1);
  EXPECT_THAT(result.fault, ::testing::HasSubstr("k line 13 [epilogue]: st.global.b32"));
}

// Counts are the same with several host threads, and with checks.
TEST(Counters, ThreadsAndChecksChangeNothing) {
  const std::string body =
      "mov.u32 %r30, %ntid.x;\nmad.lo.s32 %r1, %block, %r30, %thread;\nmad.wide.u32 %rd1, %r1, 4, %in;\n"
      "ld.global.b32 %r0, [%rd1];\nadd.u32 %r0, %r0, 1;\nst.global.b32 [%rd1], %r0;";
  LaunchOptions checked;
  checked.checks = Checks::all();
  const Counters one = count(body, {40}, {96}).counters;
  const Counters others[] = {count(body, {40}, {96}, "", {}, 4).counters,
                             count(body, {40}, {96}, "", checked).counters};
  for (const Counters& c : others) {
    EXPECT_EQ(c.instructions, one.instructions);
    EXPECT_EQ(c.by_class, one.by_class);
    EXPECT_EQ(c.loads.sectors, one.loads.sectors);
    EXPECT_EQ(c.stores.requests, one.stores.requests);
  }
  EXPECT_EQ(one.loads.requests, 40u * 3);
}

// Only these blocks run, but they see the size of the whole grid.
TEST(Counters, OfTheFirstBlocks) {
  LaunchOptions options;
  options.max_blocks = 3;
  const std::string once_a_grid =
      "mov.u32 %r30, %nctaid.x;\nsetp.eq.u32 %p1, %r30, 40;\n@%p1 ld.global.b32 %r0, [%in];";
  EXPECT_EQ(count(once_a_grid, {40}, {64}, "", options).counters.loads.requests, 3u * 2);
  EXPECT_EQ(count(once_a_grid, {2}, {64}, "", options).counters.loads.requests, 0u);
  options.max_blocks = 0;
  EXPECT_THROW(count(once_a_grid, {40}, {64}, "", options), std::invalid_argument);
}

}  // namespace
}  // namespace ptx::emulator
