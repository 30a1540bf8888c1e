// What the builder writes for warps, barriers and clocks: name, oldest target, calls, text.
#include "operations.h"

namespace ptx::testing {

const std::vector<Operation>& warp_operations() {
  static const std::vector<Operation> kOperations = {
      {"shuffles", sm_75,
       [](Builder& b, const Inputs& t) {
         b.shuffle(t.x, 0);
         b.shuffle(t.a, t.b, kFullWarp, 8);
         b.shuffle_up(t.i, 1);
         b.shuffle_down(t.f16x2_a, t.c);
         b.shuffle_xor(t.x, 16);
         b.shuffle_up_checked(t.a, 2);
       },
       R"(
shfl.sync.idx.b32 %x_2, %x, 0, 31, 0xffffffff;
shfl.sync.idx.b32 %a_2, %a, %b, 6175, 0xffffffff;
shfl.sync.up.b32 %i_2, %i, 1, 0, 0xffffffff;
shfl.sync.down.b32 %f16x2_a_2, %f16x2_a, %c, 31, 0xffffffff;
shfl.sync.bfly.b32 %x_3, %x, 16, 31, 0xffffffff;
shfl.sync.up.b32 %a_3|%in_range, %a, 2, 0, 0xffffffff;)"},
      {"votes", sm_75,
       [](Builder& b, const Inputs& t) {
         b.any(t.p);
         b.all(!t.p);
         b.agree(t.p);
         b.ballot(t.p, 0xffff);
         b.active_lanes();
       },
       R"(
vote.sync.any.pred %vote, %p, 0xffffffff;
not.pred %not, %p;
vote.sync.all.pred %vote_2, %not, 0xffffffff;
vote.sync.uni.pred %vote_3, %p, 0xffffffff;
vote.sync.ballot.b32 %vote_b32, %p, 0xffff;
activemask.b32 %activemask;)"},
      {"match", sm_75,
       [](Builder& b, const Inputs& t) {
         b.match_any(t.a);
         b.match_any(t.l);
         b.match_all(t.x);
         b.match_all(t.b64_a, t.b32_a);
       },
       R"(
match.any.sync.b32 %match, %a, 0xffffffff;
match.any.sync.b64 %match_2, %l, 0xffffffff;
match.all.sync.b32 %match_3, %x, 0xffffffff;
match.all.sync.b64 %match_4, %b64_a, %b32_a;)"},
      {"elect", sm_90, [](Builder& b, const Inputs&) { b.elect(); }, "elect.sync %leader|%elected, 0xffffffff;"},
      {"redux", sm_80,
       [](Builder& b, const Inputs& t) {
         b.reduce_add(t.a);
         b.reduce_add(t.i);
         b.reduce_min(t.a);
         b.reduce_min(t.i);
         b.reduce_max(t.a);
         b.reduce_max(t.i);
         b.reduce_and(t.b32_a);
         b.reduce_or(t.b32_a);
         b.reduce_xor(t.b32_a);
       },
       R"(
redux.sync.add.u32 %redux, %a, 0xffffffff;
redux.sync.add.s32 %redux_2, %i, 0xffffffff;
redux.sync.min.u32 %redux_3, %a, 0xffffffff;
redux.sync.min.s32 %redux_4, %i, 0xffffffff;
redux.sync.max.u32 %redux_5, %a, 0xffffffff;
redux.sync.max.s32 %redux_6, %i, 0xffffffff;
redux.sync.and.b32 %redux_7, %b32_a, 0xffffffff;
redux.sync.or.b32 %redux_8, %b32_a, 0xffffffff;
redux.sync.xor.b32 %redux_9, %b32_a, 0xffffffff;)"},
      {"barriers", sm_75,
       [](Builder& b, const Inputs& t) {
         b.warp_barrier();
         b.warp_barrier(0xff);
         b.barrier();
         b.barrier(1, 64);
         b.barrier(t.a, 64);
         b.barrier_arrive(2, t.a);
         b.barrier_count(t.p);
         b.barrier_and(t.p);
         b.barrier_or(t.p);
       },
       R"(
bar.warp.sync 0xffffffff;
bar.warp.sync 0xff;
bar.sync 0;
bar.sync 1, 64;
bar.sync %a, 64;
bar.arrive 2, %a;
bar.red.popc.u32 %bar, 0, %p;
bar.red.and.pred %bar_pred, 0, %p;
bar.red.or.pred %bar_pred_2, 0, %p;)"},
      {"clocks", sm_75,
       [](Builder& b, const Inputs&) {
         b.clock();
         b.clock64();
         b.globaltimer();
         b.sm();
         b.nanosleep(100);
       },
       R"(
mov.u32 %clock_now, %clock;
mov.u64 %clock64_now, %clock64;
mov.u64 %globaltimer_now, %globaltimer;
mov.u32 %smid_now, %smid;
nanosleep.u32 100;)"},
      {"dependents", sm_90,
       [](Builder& b, const Inputs&) {
         b.launch_dependents();
         b.wait_prerequisites();
       },
       R"(
griddepcontrol.launch_dependents;
griddepcontrol.wait;)"},
      {"register_counts", sm_90a,
       [](Builder& b, const Inputs&) {
         b.lower_registers(40);
         b.raise_registers(232);
       },
       R"(
setmaxnreg.dec.sync.aligned.u32 40;
setmaxnreg.inc.sync.aligned.u32 232;)"},
      {"claims", sm_75,
       [](Builder& b, const Inputs& t) {
         b.uniform(t.a);
         b.warp_uniform(t.x);
         b.multiple_of(4, t.a);
       },
       R"(
mov.u32 %a_2, %a;
mov.f32 %x_2, %x;
mov.u32 %a_3, %a;)"},
      {"trap", sm_75,
       [](Builder& b, const Inputs& t) {
         b.trap_if(t.p);
         b.if_(t.p, [&] { b.trap(); });
       },
       R"(
@%p trap;
@!%p bra $endif;
trap;
$endif:)"},
      {"raw", sm_75,
       [](Builder& b, const Inputs& t) {
         b.raw("membar.gl;");
         b.raw<u32>("mul24.lo.u32 {0}, {1}, {2};", {t.a, In<u32>(5)});
       },
       R"(
membar.gl;
mul24.lo.u32 %raw, %a, 5;)"},
  };
  return kOperations;
}

}  // namespace ptx::testing
