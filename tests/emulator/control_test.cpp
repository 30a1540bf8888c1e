// Control flow: divergence and forward progress, barriers, calls, indexed branches, cooperative grids, host flags.
#include <gmock/gmock.h>

#include <thread>

#include "tests/emulator/kernel_text.h"

namespace ptx::emulator {
namespace {

using ::testing::HasSubstr;

TEST(Control, DivergentLoopsRunEachLaneItsOwnTimes) {
  const Result r = run_text(kernel("mov.u32 %r0, 0;\nmov.u32 %r1, %thread;\nloop:\nsetp.eq.u32 %p0, %r1, 0;\n@%p0 bra "
                                   "done;\nadd.u32 %r0, %r0, %r1;\nsub.u32 %r1, %r1, 1;\nbra loop;\ndone:\n" +
                                   std::string(kStoreResult)),
                            {2}, {45}, 90);
  ASSERT_EQ(r.fault, "");
  for (uint32_t t = 0; t < 45; ++t) EXPECT_EQ(r.words[45 + t], t * (t + 1) / 2);
}

TEST(Control, SpinLockWithinAWarp) {  // a lane waits for another of its own warp
  const std::string lock = ".global .align 4 .b32 lock;\n.global .align 4 .b32 count;\n";
  const Result r = run_text(
      kernel("again:\natom.acquire.gpu.global.cas.b32 %r1, [lock], 0, 1;\nsetp.ne.u32 %p0, %r1, 0;\n@%p0 bra again;\n"
             "ld.global.b32 %r2, [count];\nadd.u32 %r2, %r2, 1;\nst.global.b32 [count], %r2;\n"
             "atom.release.gpu.global.exch.b32 %r1, [lock], 0;\nbar.sync 0;\nld.volatile.global.b32 %r0, [count];\n" +
                 std::string(kStoreResult),
             lock),
      {1}, {96}, 96);
  ASSERT_EQ(r.fault, "");
  EXPECT_EQ(r.words[95], 96u);
}

TEST(Control, LanesMeetAgainBehindABranch) {
  const Result r = run_text(kernel("and.b32 %r1, %thread, 1;\nsetp.eq.u32 %p0, %r1, 0;\n@%p0 bra even;\nmov.u32 %r2, "
                                   "5;\nbra join;\neven: mov.u32 %r2, 6;\njoin: activemask.b32 %r0;\n" +
                                   std::string(kStoreResult)),
                            {1}, {32}, 32);
  ASSERT_EQ(r.fault, "");
  EXPECT_EQ(r.words, std::vector<uint32_t>(32, 0xffffffffu));
}

TEST(Control, IndexedBranch) {
  const Result r =
      run_text(kernel("and.b32 %r1, %thread, 3;\ntable: .branchtargets a, b, c, d;\nbrx.idx %r1, table;\na: "
                      "mov.u32 %r0, 10; bra done;\nb: mov.u32 %r0, 20; bra done;\n"
                      "c: mov.u32 %r0, 30; bra done;\nd: mov.u32 %r0, 40;\ndone:\n" +
                      std::string(kStoreResult)),
               {1}, {32}, 32);
  ASSERT_EQ(r.fault, "");
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(r.words[t], 10 * (t % 4 + 1));
}

const char* const kFunctions =
    ".func (.param .b32 result) factorial(.param .b32 n)\n{\n.reg .b32 %a, %b; .reg .pred %q;\nld.param.b32 %a, "
    "[n];\nsetp.gt.u32 %q, %a, 1;\n@%q bra deeper;\n"
    "st.param.b32 [result], 1;\nret;\ndeeper:\n{\n.param .b32 argument; .param .b32 value;\nsub.u32 %b, %a, "
    "1;\nst.param.b32 [argument], %b;\ncall (value), factorial, (argument);\n"
    "ld.param.b32 %b, [value];\n}\nmul.lo.u32 %b, %a, %b;\nst.param.b32 [result], %b;\nret;\n}\n"
    ".func (.param .b32 result) twice(.param .b32 n)\n{\n.reg .b32 %a;\nld.param.b32 %a, [n];\nadd.u32 %a, %a, "
    "%a;\nst.param.b32 [result], %a;\nret;\n}\n";

TEST(Control, RecursionUnderDivergence) {
  const Result r = run_text(kernel("{\n.param .b32 x; .param .b32 y;\nand.b32 %r1, %thread, 7;\nst.param.b32 [x], "
                                   "%r1;\ncall (y), factorial, (x);\nld.param.b32 %r0, [y];\n}\n" +
                                       std::string(kStoreResult),
                                   kFunctions),
                            {1}, {64}, 64);
  ASSERT_EQ(r.fault, "");
  const uint32_t factorials[8] = {1, 1, 2, 6, 24, 120, 720, 5040};
  for (uint32_t t = 0; t < 64; ++t) EXPECT_EQ(r.words[t], factorials[t % 8]);
}

TEST(Control, CallsThroughRegisters) {  // two functions within one warp
  const Result r = run_text(
      kernel("{\n.param .b32 x; .param .b32 y;\nand.b32 %r1, %thread, 1;\nsetp.eq.u32 %p0, %r1, 0;\nmov.b64 "
             "%rd1, factorial;\nmov.b64 %rd2, twice;\nselp.b64 %rd3, %rd1, %rd2, %p0;\n"
             "and.b32 %r1, %thread, 7;\nst.param.b32 [x], %r1;\nproto: .callprototype (.param .b32 _) _ (.param "
             ".b32 _);\ncall (y), %rd3, (x), proto;\nld.param.b32 %r0, [y];\n}\n" +
                 std::string(kStoreResult),
             kFunctions),
      {1}, {32}, 32);
  ASSERT_EQ(r.fault, "");
  EXPECT_EQ(r.words[6], 720u);
  EXPECT_EQ(r.words[7], 14u);
}

// Lanes leave a long loop at different times, call the same function separately, and exchange values inside it.
TEST(Control, LanesThatCallApartMeetInTheFunction) {
  const char* functions =
      ".func (.param .b32 result) exchange(.param .b32 x)\n{\n.reg .b32 %a;\nld.param.b32 %a, [x];\n"
      "shfl.sync.bfly.b32 %a, %a, 1, 31, -1;\nst.param.b32 [result], %a;\nret;\n}\n"
      ".func (.param .b32 result) sum(.param .b32 x)\n{\n.reg .b32 %a, %b, %n; .reg .pred %q;\nld.param.b32 %a, [x];\n"
      "mov.u32 %n, 0;\nmore:\n{\n.param .b32 argument; .param .b32 value;\nst.param.b32 [argument], %a;\n"
      "call (value), exchange, (argument);\nld.param.b32 %b, [value];\n}\nadd.u32 %a, %a, %b;\nadd.u32 %n, %n, 1;\n"
      "setp.lt.u32 %q, %n, 3;\n@%q bra more;\nst.param.b32 [result], %a;\nret;\n}\n";
  const std::string text = kernel(
      "mul.lo.u32 %r1, %thread, 300;\nloop:\nsetp.eq.u32 %p0, %r1, 0;\n@%p0 bra after;\nsub.u32 %r1, %r1, 1;\n"
      "bra loop;\nafter:\n{\n.param .b32 x; .param .b32 y;\nst.param.b32 [x], %thread;\ncall (y), sum, (x);\n"
      "ld.param.b32 %r0, [y];\n}\n" +
          std::string(kStoreResult),
      functions);
  for (uint64_t seed : {0, 1, 2, 3}) {
    LaunchOptions options;
    options.checks = Checks::all();
    options.seed = seed;
    const Result r = run_text(text, {1}, {32}, 32, {0}, options);
    ASSERT_EQ(r.fault, "") << seed;
    for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(r.words[t], 4 * (t / 2 * 4 + 1)) << seed;  // both, doubled twice
  }
}

TEST(Control, EndlessRecursionIsAFault) {
  const char* endless = ".func endless()\n{\n.local .b32 space[64];\ncall endless;\nret;\n}\n";
  EXPECT_THAT(run_text(kernel("call endless;", endless), {1}, {32}, 1).fault, HasSubstr("beyond the stack's limit"));
}

TEST(Control,
     NamedBarriersAndCounts) {  // warps 0 and 1 meet at barrier 1, warps 2 and 3 at barrier 2; warp 3 only arrives
  const std::string shared = ".shared .align 4 .b32 word[2];\n";
  const Result r =
      run_text(kernel("shr.u32 %r1, %thread, 5;\nmov.u32 %r0, 0;\nsetp.eq.u32 %p0, %r1, 0;\nsetp.eq.u32 %p1, "
                      "%r1, 1;\nsetp.eq.u32 %p2, %r1, 2;\nsetp.eq.u32 %p3, %r1, 3;\n"
                      "@%p0 st.shared.b32 [word], 11;\n@%p0 bar.arrive 1, 64;\n@%p1 bar.sync 1, 64;\n@%p1 "
                      "ld.shared.b32 %r0, [word];\n"
                      "@%p3 st.shared.b32 [word+4], 22;\n@%p3 bar.arrive 2, 64;\n@%p2 bar.sync 2, "
                      "64;\n@%p2 ld.shared.b32 %r0, [word+4];\n" +
                          std::string(kStoreResult),
                      shared),
               {1}, {128}, 128);
  ASSERT_EQ(r.fault, "");
  EXPECT_EQ(r.words[40], 11u);
  EXPECT_EQ(r.words[70], 22u);
}

TEST(Control, BarrierWithoutCountLeavesOutExitedThreads) {
  const Result r = run_text(
      kernel("setp.ge.u32 %p0, %thread, 40;\n@%p0 exit;\nbar.sync 0;\nmov.u32 %r0, 9;\n" + std::string(kStoreResult)),
      {1}, {96}, 96);
  ASSERT_EQ(r.fault, "");
  EXPECT_EQ(r.words[39], 9u);
}

TEST(Control, BarrierReductions) {
  const Result r =
      run_text(kernel("setp.lt.u32 %p0, %thread, 10;\nbar.red.popc.u32 %r1, 0, %p0;\nbar.red.and.pred %p1, "
                      "0, %p0;\nbar.red.or.pred %p2, 0, !%p0;\nselp.b32 %r2, 100, 0, %p1;\n"
                      "selp.b32 %r3, 1000, 0, %p2;\nadd.u32 %r0, %r1, %r2;\nadd.u32 %r0, %r0, %r3;\n" +
                      std::string(kStoreResult)),
               {1}, {64}, 64);
  ASSERT_EQ(r.fault, "");
  EXPECT_EQ(r.words[5], 1010u);
}

TEST(Control, CooperativeGridBarrier) {  // every block waits for all others, so all must be resident
  const std::string counter = ".global .align 4 .b32 counter;\n";
  const std::string body =
      "setp.ne.u32 %p0, %thread, 0;\n@%p0 bra join;\natom.release.gpu.global.add.u32 %r1, [counter], "
      "1;\nwait:\nld.acquire.gpu.global.b32 %r2, [counter];\nmov.u32 %r3, %nctaid.x;\n"
      "setp.lt.u32 %p1, %r2, %r3;\n@%p1 bra wait;\njoin:\nbar.sync 0;\nmov.u32 %r0, 5;\n";
  for (uint32_t threads : {1u, 2u}) {
    Device device;
    const Module module(kernel(body + kStoreResult, counter), device.profile, device.memory);
    uint32_t* out = device.zeros<uint32_t>(20 * 64);
    LaunchOptions options;
    options.cooperative = true;
    EXPECT_EQ(run(device, module, "k", {20}, {64}, pack_parameters(out, out), 0, options, threads), "");
    EXPECT_EQ(out[20 * 64 - 1], 5u);
  }
}

TEST(Control, CooperativeGridTooLargeIsRefused) {
  Device device;
  const Module module(kernel(""), device.profile, device.memory);
  LaunchOptions options;
  options.cooperative = true;
  EXPECT_THROW(run(device, module, "k", {10000}, {1024}, pack_parameters(uint64_t{0}, uint64_t{0}), 0, options),
               std::invalid_argument);
}

TEST(Control, KernelWaitsForTheHost) {
  Device device;
  const Module module(kernel("wait:\nld.volatile.global.b32 %r1, [%in];\nsetp.eq.u32 %p0, %r1, 0;\n@%p0 bra "
                             "wait;\nst.global.b32 [%out], %r1;"),
                      device.profile, device.memory);
  static uint32_t flag = 0;  // mapped host memory
  device.memory.register_host(&flag, sizeof flag);
  uint32_t* out = device.zeros<uint32_t>(1);
  Launch launch({module.find_function("k"), {1}, {1}, 0, pack_parameters(out, &flag), {}}, module, device.profile,
                device.memory);
  int waits = 0;
  for (int i = 0; i < 10; ++i) waits += launch.step() == LaunchState::kWaiting;
  EXPECT_GT(waits, 0);
  std::atomic_ref<uint32_t>{flag} = 8;
  EXPECT_EQ(launch.run(), LaunchState::kDone);
  EXPECT_EQ(*out, 8u);
}

TEST(Control, CancelEndsASpinningKernel) {
  Device device;
  const Module module(kernel("wait: bra wait;"), device.profile, device.memory);
  Launch launch({module.find_function("k"), {4}, {64}, 0, pack_parameters(uint64_t{0}, uint64_t{0}), {}}, module,
                device.profile, device.memory);
  EXPECT_EQ(launch.step(), LaunchState::kRunning);
  launch.cancel();
  EXPECT_EQ(launch.run(), LaunchState::kFaulted);
}

}  // namespace
}  // namespace ptx::emulator
