// Loads and stores of every width and space, addresses, initialised variables, atomics, asynchronous copies.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <cstring>
#include <fstream>

#include "tests/emulator/kernel_text.h"

namespace ptx::emulator {
namespace {

TEST(Memory, LoadsExtendAndStoresCut) {
  const struct {
    const char* code;
    uint32_t expected;
  } rows[] = {
      {"ld.global.u8 %r0, [%in];", 0x84},
      {"ld.global.s8 %r0, [%in];", 0xffffff84},
      {"ld.global.u16 %r0, [%in];", 0x9384},
      {"ld.global.s16 %r0, [%in];", 0xffff9384},
      {"ld.global.b16 %h0, [%in+2];\ncvt.u32.u16 %r0, %h0;", 0xb1a2},
      {"ld.global.s32 %rd1, [%in];\nshr.u64 %rd1, %rd1, 32;\ncvt.u32.u64 %r0, %rd1;", 0xffffffff},
      {"ld.global.v2.b16 {%h0, %h1}, [%in];\nmov.b32 %r0, {%h1, %h0};", 0x9384b1a2},
      {"ld.global.v4.b8 {%h0, %h1, %h2, %h3}, [%in];\ncvt.u32.u16 %r0, %h2;", 0xa2},
      {"ld.global.v2.b64 {%rd1, _}, [%in];\ncvt.u32.u64 %r0, %rd1;", 0xb1a29384},
      {"mov.u32 %r1, 0x12345678;\nst.global.b32 [%out], 0;\nst.global.u8 [%out+1], %r1;\nld.global.b32 %r0, [%out];",
       0x7800},
      {"st.global.v2.b32 [%out], {7, 9};\nld.global.b32 %r0, [%out+4];", 9},
      {"ld.global.L1::no_allocate.L2::128B.b32 %r0, [%in];", 0xb1a29384},
      {"ld.global.cg.b32 %r0, [%in];", 0xb1a29384},
      {"ld.volatile.global.b32 %r0, [%in];", 0xb1a29384},
      {"ld.b32 %r0, [%in];", 0xb1a29384},
  };
  for (const auto& row : rows) {
    const Result r = run_text(kernel(std::string(row.code) + "\n" + kStoreResult), {1}, {1}, 8, {0xb1a29384, 5, 6, 7});
    ASSERT_EQ(r.fault, "") << row.code;
    EXPECT_EQ(r.words.at(0), row.expected) << row.code;
  }
}

TEST(Memory, GatherAndScatterOfAWarp) {  // addresses that run backwards, in pairs
  std::vector<uint32_t> in;
  for (uint32_t i = 0; i < 128; ++i) in.push_back(i * 3);
  const Result r = run_text(kernel("sub.u32 %r1, 63, %thread;\nmad.wide.u32 %rd1, %r1, 8, %in;\nld.global.v2.b32 {%r2, "
                                   "%r3}, [%rd1];\nadd.u32 %r0, %r2, %r3;\n" +
                                   std::string(kStoreResult)),
                            {1}, {64}, 64, in);
  ASSERT_EQ(r.fault, "");
  for (uint32_t t = 0; t < 64; ++t) EXPECT_EQ(r.words[t], (63 - t) * 12 + 3);
}

TEST(Memory, SharedLocalAndGenericAddresses) {
  const std::string before = ".shared .align 8 .b32 words[64];\n.global .align 4 .b32 one = 41;\n";
  const Result r = run_text(
      kernel(".local .align 8 .b8 own[64];\nmov.b64 %rd1, own;\ncvta.local.u64 %rd2, %rd1;\nst.local.b32 [%rd1+4], "
             "%thread;\nld.b32 %r1, [%rd2+4];\n"
             "mov.b64 %rd3, words;\ncvta.shared.u64 %rd4, %rd3;\nmad.wide.u32 %rd5, %thread, 4, %rd4;\nst.b32 [%rd5], "
             "%r1;\nbar.sync 0;\n"
             "xor.b32 %r2, %thread, 3;\nmov.u32 %r3, words;\nmad.lo.u32 %r3, %r2, 4, %r3;\nld.shared.b32 %r0, [%r3];\n"
             "isspacep.shared %p1, %rd4;\nisspacep.local %p2, %rd2;\nisspacep.global %p3, %out;\nisspacep.global %p4, "
             "%rd2;\n"
             "@%p1 add.u32 %r0, %r0, 1000;\n@%p2 add.u32 %r0, %r0, 2000;\n@%p3 add.u32 %r0, %r0, 4000;\n@%p4 add.u32 "
             "%r0, %r0, 100000;\n"
             "ld.global.b32 %r4, [one];\nadd.u32 %r0, %r0, %r4;\n" +
                 std::string(kStoreResult),
             before),
      {1}, {64}, 64);
  ASSERT_EQ(r.fault, "");
  for (uint32_t t = 0; t < 64; ++t) EXPECT_EQ(r.words[t], (t ^ 3) + 7041);
}

TEST(Memory, ExternSharedFollowsStatic) {
  const std::string before = ".shared .align 4 .b8 fixed[20];\n.extern .shared .align 16 .b8 dynamic[];\n";
  const Result r = run_text(
      kernel("mov.u32 %r1, dynamic;\nmov.u32 %r2, fixed;\nst.shared.b32 [%r2], 5;\nst.shared.b32 [dynamic+60], "
             "6;\nld.shared.b32 %r3, [%r1+60];\nmov.u32 %r4, %dynamic_smem_size;\nsub.u32 %r0, %r1, %r2;\n"
             "mad.lo.u32 %r0, %r3, 1000, %r0;\nmad.lo.u32 %r0, %r4, 10000, %r0;\n" +
                 std::string(kStoreResult),
             before),
      {1}, {1}, 1, {0}, {}, 64);
  ASSERT_EQ(r.fault, "");
  EXPECT_EQ(r.words[0], 32u + 6000 + 640000);  // 20 bytes rounded up to the alignment of 16
}

TEST(Memory, Initialisers) {
  const std::string before =
      ".const .align 4 .f32 reals[3] = {1.5, 0f40200000, -2.0};\n.global .align 4 .b32 table[2][2] = {{1, 2}, {3, "
      "-4}};\n.global .align 4 .b32 other;\n"
      ".global .align 8 .u64 pointer = generic(table)+8;\n.global .align 1 .b8 text[6] = {104, 105, 0};\n";
  const Result r = run_text(
      kernel("ld.const.f32 %f1, [reals+4];\ncvt.rzi.s32.f32 %r1, %f1;\nld.global.b64 %rd1, [pointer];\nld.global.b32 "
             "%r2, [%rd1+4];\nld.global.u8 %r3, [text+1];\nld.global.u8 %r4, [text+5];\nld.global.b32 %r5, [other];\n"
             "add.u32 %r0, %r1, %r2;\nadd.u32 %r0, %r0, %r3;\nadd.u32 %r0, %r0, %r4;\nadd.u32 %r0, %r0, %r5;\n" +
                 std::string(kStoreResult),
             before),
      {1}, {1}, 1);
  ASSERT_EQ(r.fault, "");
  EXPECT_EQ(r.words[0], 2u - 4 + 105);
}

TEST(Memory, AtomicsReturnTheOldValue) {
  const struct {
    const char *operation, *operand;
    uint32_t before, after;
  } rows[] = {
      {"add.u32", "5", 7, 12},
      {"and.b32", "6", 11, 2},
      {"or.b32", "6", 9, 15},
      {"xor.b32", "6", 3, 5},
      {"exch.b32", "42", 1, 42},
      {"inc.u32", "7", 6, 7},
      {"inc.u32", "7", 7, 0},
      {"dec.u32", "7", 0, 7},
      {"dec.u32", "7", 9, 7},
      {"dec.u32", "7", 3, 2},
      {"min.s32", "-3", 2, 0xfffffffd},
      {"min.u32", "-3", 2, 2},
      {"max.s32", "-3", 2, 2},
      {"max.u32", "-3", 2, 0xfffffffd},
      {"cas.b32", "9, 77", 9, 77},
      {"cas.b32", "8, 77", 9, 9},
      {"add.f32", "0f3FC00000", 0x40000000, 0x40600000},
  };
  for (const auto& row : rows) {
    const Result r = run_text(
        kernel("ld.global.b32 %r1, [%in];\nst.global.b32 [%out], %r1;\natom.global." + std::string(row.operation) +
               " %r2, [%out], " + row.operand + ";\nst.global.b32 [%out+4], %r2;"),
        {1}, {1}, 2, {row.before});
    ASSERT_EQ(r.fault, "") << row.operation;
    EXPECT_EQ(r.words[0], row.after) << row.operation << " " << row.operand << " of " << row.before;
    EXPECT_EQ(r.words[1], row.before) << row.operation;
  }
}

TEST(Memory, AtomicsOfAllLanesAddUp) {
  const std::string shared = ".shared .align 8 .b64 sums[2];\n";
  const Result r =
      run_text(kernel("st.shared.b64 [sums], 0;\nst.shared.b64 [sums+8], 0;\nbar.sync 0;\ncvt.u64.u32 %rd1, "
                      "%thread;\nred.shared.add.u64 [sums], %rd1;\n"
                      "mov.b32 %r1, 0x3c003c00;\nred.shared.add.noftz.f16x2 [sums+8], %r1;\nbar.sync 0;\nld.shared.b32 "
                      "%r0, [sums];\nld.shared.b32 %r2, [sums+8];\nxor.b32 %r0, %r0, %r2;\n" +
                          std::string(kStoreResult),
                      shared),
               {1}, {64}, 64);
  ASSERT_EQ(r.fault, "");
  EXPECT_EQ(r.words[0], (64u * 63 / 2) ^ 0x54005400u);  // 64 ones in half precision are 0x5400
}

TEST(Memory, AsynchronousCopies) {
  std::vector<uint32_t> in;
  for (uint32_t i = 0; i < 256; ++i) in.push_back(i * 7);
  const std::string shared = ".shared .align 16 .b8 tile[1024];\n";
  const Result r =
      run_text(kernel("mov.u32 %r1, tile;\nmad.lo.u32 %r1, %thread, 16, %r1;\nmad.wide.u32 %rd1, %thread, 16, "
                      "%in;\nand.b32 %r2, %thread, 1;\nmul.lo.u32 %r2, %r2, 8;\n"
                      "cp.async.cg.shared.global [%r1], [%rd1], 16;\ncp.async.commit_group;\ncp.async.wait_group 0;\n"
                      "ld.shared.v4.b32 {%r3, %r4, %r5, %r6}, [%r1];\nadd.u32 %r0, %r3, "
                      "%r6;\ncp.async.ca.shared.global [%r1], [%rd1], 8, %r2;\ncp.async.wait_all;\n"
                      "ld.shared.b32 %r7, [%r1+4];\nadd.u32 %r0, %r0, %r7;\n" +
                          std::string(kStoreResult),
                      shared),
               {1}, {64}, 64, in);
  ASSERT_EQ(r.fault, "");
  for (uint32_t t = 0; t < 64; ++t)
    EXPECT_EQ(r.words[t], t * 28 + t * 28 + 21 + (t & 1 ? t * 28 + 7 : 0)) << t;  // size 0 fills with zeros
}

TEST(Memory, BulkCopyCompletesABarrier) {
  std::vector<uint32_t> in;
  for (uint32_t i = 0; i < 256; ++i) in.push_back(i + 5);
  const std::string shared = ".shared .align 16 .b8 tile[1024];\n.shared .align 8 .b64 barrier;\n";
  const Result r = run_text(
      kernel("mov.u32 %r1, tile;\nmov.u32 %r2, barrier;\nsetp.ne.u32 %p0, %thread, 0;\n@%p0 bra "
             "filled;\nmbarrier.init.shared.b64 [%r2], 1;\nfence.mbarrier_init.release.cluster;\n"
             "mbarrier.arrive.expect_tx.shared.b64 _, [%r2], "
             "1024;\ncp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%in], 1024, [%r2];\n"
             "filled: bar.sync 0;\nwait: mbarrier.try_wait.parity.shared.b64 %p1, [%r2], 0;\n@!%p1 bra "
             "wait;\nmad.lo.u32 %r3, %thread, 4, %r1;\nld.shared.b32 %r0, [%r3];\n" +
                 std::string(kStoreResult),
             shared),
      {1}, {256}, 256, in);
  ASSERT_EQ(r.fault, "");
  EXPECT_EQ(r.words, in);
}

TEST(Memory, BarrierObjectsCountArrivalsByPhase) {
  const std::string shared = ".shared .align 8 .b64 barrier;\n";
  const Result r =
      run_text(kernel("setp.ne.u32 %p0, %thread, 0;\n@%p0 bra ready;\nmbarrier.init.shared.b64 [barrier], 64;\nready: "
                      "bar.sync 0;\nmbarrier.arrive.shared.b64 %rd1, [barrier];\n"
                      "wait: mbarrier.test_wait.shared.b64 %p1, [barrier], %rd1;\n@!%p1 bra "
                      "wait;\nmbarrier.test_wait.parity.shared.b64 %p2, [barrier], 1;\nselp.u32 %r0, 1, 0, %p2;\n" +
                          std::string(kStoreResult),
                      shared),
               {1}, {64}, 64);
  ASSERT_EQ(r.fault, "");
  EXPECT_EQ(r.words, std::vector<uint32_t>(64, 0));  // phase 1 is still open
}

TEST(Memory, AllocationsAreReusedAndFreedOnesRemembered) {
  Memory memory(64 << 20);
  const uint64_t a = memory.allocate(1000), b = memory.allocate(5000);
  ASSERT_NE(a, 0u);
  EXPECT_EQ(a % 256, 0u);
  EXPECT_GE(b, a + 1000);
  EXPECT_EQ(memory.find(a + 999)->address, a);
  EXPECT_FALSE(memory.find(a + 1000).has_value());
  EXPECT_FALSE(memory.free(a + 1));
  EXPECT_TRUE(memory.free(a));
  EXPECT_FALSE(memory.free(a));
  EXPECT_EQ(memory.find_freed(a + 10)->bytes, 1000u);
  EXPECT_EQ(memory.allocate(900), a);
  EXPECT_EQ(memory.allocate(1ull << 40), 0u);
}

// In a child, because the limit cannot be raised again.
TEST(Memory, HasAsManyBytesAsTheProcessHasAddresses) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer reserves the whole address space";
#endif
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const rlimit limit{1ull << 30, 1ull << 30};
    if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(2);
    Memory memory(1ull << 36);
    if (memory.total() < 1ull << 28 || memory.total() > 1ull << 30) _exit(3);
    const uint64_t max = memory.allocate(memory.total() - (1 << 20));
    if (max == 0 || memory.allocate(2 << 20) != 0) _exit(4);
    *reinterpret_cast<uint8_t*>(max + memory.total() - (1 << 20) - 1) = 1;
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// In a child, because the limit cannot be raised again.
TEST(Memory, WhatTheSystemRefusesIsNotAllocated) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    Memory memory(1ull << 32);
    std::ifstream status("/proc/self/status");
    uint64_t kib = 0;
    for (std::string word; status >> word;)
      if (word == "VmData:") status >> kib;
    const uint64_t bytes = (kib << 10) + (64 << 20);
    const rlimit limit{bytes, bytes};
    if (kib == 0 || setrlimit(RLIMIT_DATA, &limit) != 0) _exit(2);
    if (memory.allocate(1 << 30) != 0) _exit(3);
    if (memory.used() != 0) _exit(4);
    const uint64_t small = memory.allocate(1 << 20);  // from the start of the region that was refused
    if (small == 0) _exit(5);
    std::memset(reinterpret_cast<void*>(small), 1, 1 << 20);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace ptx::emulator
