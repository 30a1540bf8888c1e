// Cluster instructions, in a cluster of one block: addresses of other blocks' shared memory, and stores that arrive at
// a barrier.
#include <gtest/gtest.h>

#include "tests/emulator/kernel_text.h"

namespace ptx::emulator {
namespace {

TEST(Cluster, AddressesOfItsOnlyBlock) {
  const std::string body =
      "st.shared.u32 [buffer+4], 11;\nmapa.shared::cluster.u32 %r1, buffer+4, 0;\nld.shared::cluster.u32 %r2, [%r1];\n"
      "mov.u32 %r3, buffer;\nmapa.shared::cluster.u32 %r4, %r3, %r9;\nld.shared::cluster.u32 %r5, [%r4+4];\n"
      "cvta.shared.u64 %rd1, %rd9;\nmapa.u64 %rd2, %rd1, 0;\nsub.u64 %rd3, %rd2, %rd1;\ncvt.u32.u64 %r6, %rd3;\n"
      "getctarank.shared::cluster.u32 %r7, %r1;\ngetctarank.u64 %r8, %rd2;\n"
      "mad.lo.u32 %r0, %r2, 100, %r5;\nadd.u32 %r0, %r0, %r6;\nadd.u32 %r0, %r0, %r7;\nadd.u32 %r0, %r0, %r8;\n";
  const Result result = run_text(
      kernel("mov.u32 %r9, 0;\nmov.u64 %rd9, 0;\n" + body + kStoreResult, ".shared .align 16 .b8 buffer[16];\n"), {1},
      {1}, 1);
  ASSERT_EQ(result.fault, "");
  EXPECT_EQ(result.words[0], 1111u);
}

// Lane 0 expects 32 * 12 bytes. Each lane stores three words and adds to a sum. All wait and read their neighbour's.
TEST(Cluster, StoresThatArriveAtABarrier) {
  const std::string before =
      ".shared .align 16 .b8 buffer[512];\n.shared .align 8 .b64 barrier;\n.shared .align 4 .u32 total;\n";
  const std::string body =
      "setp.ne.u32 %p1, %thread, 0;\n@%p1 bra ready;\nmbarrier.init.shared.b64 [barrier], 1;\nst.shared.u32 [total], "
      "0;\n"
      "mbarrier.arrive.expect_tx.shared.b64 _, [barrier], 512;\nready:\nbar.sync 0;\n"
      "mov.u32 %r1, buffer;\nmad.lo.u32 %r2, %thread, 12, %r1;\nmov.u32 %r3, barrier;\nadd.u32 %r4, %thread, 100;\n"
      "mov.u32 %r20, total;\n"
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r2], %r4, [%r3];\n"
      "add.u32 %r5, %thread, 200;\n"
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.s32 [%r2+4], %r5, [barrier];\n"
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r2+8], 7, [%r3];\n"
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r20], %thread, [%r3];\n"
      "wait:\nmbarrier.try_wait.parity.shared.b64 %p2, [barrier], 0;\n@!%p2 bra wait;\n"
      "xor.b32 %r6, %thread, 1;\nmad.lo.u32 %r7, %r6, 12, %r1;\nld.shared.u32 %r8, [%r7];\nld.shared.u32 %r9, "
      "[%r7+4];\nld.shared.u32 %r10, [%r7+8];\nld.shared.u32 %r11, [total];\n"
      "mad.lo.u32 %r0, %r8, 1000, %r9;\nmad.lo.u32 %r0, %r0, 10, %r10;\nadd.u32 %r0, %r0, %r11;\n";
  LaunchOptions all;
  all.checks = Checks::all();
  const Result result = run_text(kernel(body + kStoreResult, before), {1}, {32}, 32, {0}, all);
  ASSERT_EQ(result.fault, "");
  for (uint32_t t = 0; t < 32; ++t) {
    const uint32_t n = t ^ 1;
    EXPECT_EQ(result.words[t], ((n + 100) * 1000 + n + 200) * 10 + 7 + 496) << t;
  }
}

}  // namespace
}  // namespace ptx::emulator
