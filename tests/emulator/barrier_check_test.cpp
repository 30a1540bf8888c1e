// Barriers that not all threads reach, that get different counts, or that can never open.
#include "tests/emulator/seeded_fault.h"

namespace ptx::emulator {
namespace {

const std::vector<SeededFault> kRows = {
    {"in_a_branch",
     "",
     "setp.lt.u32 %p0, %thread, 16;\n@!%p0 bra other;\nbar.sync 0; // HERE\nbra done;\nother: bar.sync 0;\ndone:",
     "setp.lt.u32 %p0, %thread, 16;\n@!%p0 bra done;\ndone:\nbar.sync 0;",
     {1},
     {64},
     "bar.sync is reached by 16 of 32 lanes of its warp; block 0 thread 0 and 15 more"},
    {"under_a_guard",
     "",
     "setp.lt.u32 %p0, %thread, 48;\n@%p0 bar.sync 0; // HERE\nbar.sync 0;\n",
     "setp.lt.u32 %p0, %thread, 48;\nbar.sync 0;",
     {1},
     {64},
     "bar.sync is reached by 16 of 32 lanes of its warp; block 0 thread 32 and 15 more"},
    {"of_different_counts",
     "",
     "setp.lt.u32 %p0, %thread, 32;\n@%p0 bra few;\nbar.sync 1, 64; // HERE\nbra done;\nfew: bar.sync 1, 96;\ndone:",
     "setp.lt.u32 %p0, %thread, 32;\n@%p0 bra few;\nbar.sync 1, 64;\nbra done;\nfew: bar.sync 1, 64;\ndone:",
     {1},
     {64},
     "bar.sync expects 64 threads at barrier 1, others expect 96; block 0 thread 32 and 31 more"},
    {"of_no_such_number",
     "",
     "add.u32 %r1, %block, 16;\nbar.sync %r1; // HERE\n",
     "add.u32 %r1, %block, 15;\nbar.sync %r1;",
     {1},
     {32},
     "bar.sync names barrier 16, the last is 15; block 0 thread 0 and 31 more"},
    {"that_a_warp_never_reaches",
     "",
     "setp.lt.u32 %p0, %thread, 32;\n@%p0 bar.sync 1, 64; // HERE\n",
     "bar.sync 1, 64;",
     {1},
     {64},
     "bar.sync waits for threads that never come: 32 of 64 threads are at barrier 1; block 0 thread 0 and 31 more"},
    {"crosswise",
     "",
     "setp.lt.u32 %p0, %thread, 32;\n@%p0 bra first;\nbar.sync 2, 64;\nbar.sync 1, 64;\nbra done;\nfirst:\n"
     "bar.sync 1, 64; // HERE\nbar.sync 2, 64;\ndone:\n",
     "setp.lt.u32 %p0, %thread, 32;\n@%p0 bra first;\nbar.sync 1, 64;\nbar.sync 2, 64;\nbra done;\nfirst:\n"
     "bar.sync 1, 64;\nbar.sync 2, 64;\ndone:\n",
     {1},
     {64},
     "bar.sync waits for threads that never come: 32 of 64 threads are at barrier 1; block 0 thread 0 and 31 more"},
    {"of_lanes_that_wait_elsewhere",
     "",
     "setp.lt.u32 %p0, %thread, 16;\n@%p0 bra low;\nbar.warp.sync -1; // HERE\nshfl.sync.idx.b32 %r1, %thread, 0, 31, "
     "-1;\n"
     "bra done;\nlow:\nvote.sync.any.pred %p1, 1, -1;\nbar.warp.sync -1;\ndone:\n",
     "bar.warp.sync -1;\nvote.sync.any.pred %p1, 1, -1;\nshfl.sync.idx.b32 %r1, %thread, 0, 31, -1;\n",
     {1},
     {32},
     "bar.warp.sync waits for lanes of its warp that never come; block 0 thread 16 and 15 more"},
};
SEEDED_FAULTS(BarrierFault, kRows);

}  // namespace
}  // namespace ptx::emulator
