// What the builder writes for memory accesses and copies: name, oldest target, calls, text.
#include "operations.h"

namespace ptx::testing {

const std::vector<Operation>& memory_operations() {
  static const std::vector<Operation> kOperations = {
      {"load_types", sm_75,
       [](Builder& b, const Inputs& t) {
         auto g = b.pointer<u8>(t.l, 256);
         g.load();
         g.as<s8>().load(1);
         g.as<u16>().load(1);
         g.as<f16>().load(1);
         g.as<f16x2>().load(1);
         g.as<f32>().load(-1);
         g.as<f64>().load(t.a);
         g.as<u8x4>().load(t.i);
         g.as<b64>().load(t.l);
         g.load(t.v);
       },
       R"(
mov.u64 %l_2, %l;
ld.global.u8 %l_value, [%l_2];
ld.global.s8 %l_value_2, [%l_2+1];
ld.global.u16 %l_value_b16, [%l_2+2];
ld.global.b16 %l_value_b16_2, [%l_2+2];
ld.global.b32 %l_value_3, [%l_2+4];
ld.global.f32 %l_value_f32, [%l_2+-4];
mad.wide.u32 %l_3, %a, 8, %l_2;
ld.global.f64 %l_value_f64, [%l_3];
mad.wide.s32 %l_4, %i, 4, %l_2;
ld.global.b32 %l_value_4, [%l_4];
mad.lo.u64 %l_5, %l, 8, %l_2;
ld.global.b64 %l_value_b64, [%l_5];
add.u64 %l_6, %l_2, %v;
ld.global.u8 %l_value_5, [%l_6];)"},
      {"buffer", sm_75,
       [](Builder& b, const Inputs& t) {
         auto g = b.global<f32>("buffer", 4);
         auto h = b.global<u8>("bytes", 0, 4);
         g.load(t.a);
         h.as<u32>().load();
       },
       R"(
mad.wide.u32 %buffer_2, %a, 4, %buffer;
ld.global.f32 %buffer_value, [%buffer_2];
ld.global.u32 %bytes_value, [%bytes];)"},
      {"load_wide", sm_75,
       [](Builder& b, const Inputs& t) {
         auto g = b.pointer<u32>(t.l, 256);
         g.load<2>();
         g.load<4>(4);
         g.load<8>(8);
         g.as<u8>().load<4>();
         g.as<u8>().load<8>();
         g.as<f16>().load<8>();
         g.as<f64>().load<2>();
         g.as<f64>().load<4>();
       },
       R"(
mov.u64 %l_2, %l;
ld.global.v2.u32 {%l_value, %l_value_2}, [%l_2];
ld.global.v4.u32 {%l_value_3, %l_value_4, %l_value_5, %l_value_6}, [%l_2+16];
ld.global.v4.u32 {%l_value_7, %l_value_8, %l_value_9, %l_value_10}, [%l_2+32];
ld.global.v4.u32 {%l_value_11, %l_value_12, %l_value_13, %l_value_14}, [%l_2+48];
ld.global.v4.u8 {%l_value_15, %l_value_16, %l_value_17, %l_value_18}, [%l_2];
ld.global.v4.u8 {%l_value_19, %l_value_20, %l_value_21, %l_value_22}, [%l_2];
ld.global.v4.u8 {%l_value_23, %l_value_24, %l_value_25, %l_value_26}, [%l_2+4];
ld.global.v4.b16 {%l_value_b16, %l_value_b16_2, %l_value_b16_3, %l_value_b16_4}, [%l_2];
ld.global.v4.b16 {%l_value_b16_5, %l_value_b16_6, %l_value_b16_7, %l_value_b16_8}, [%l_2+8];
ld.global.v2.f64 {%l_value_f64, %l_value_f64_2}, [%l_2];
ld.global.v2.f64 {%l_value_f64_3, %l_value_f64_4}, [%l_2];
ld.global.v2.f64 {%l_value_f64_5, %l_value_f64_6}, [%l_2+16];)"},
      {"load_caches", sm_75,
       [](Builder& b, const Inputs& t) {
         auto g = b.pointer<f32>(t.l, 256);
         g.load(0, kReadOnly);
         g.load<4>(0, kReadOnce);
         g.load(0, {.policy = Cache::Policy::kL2});
         g.load(0, {.policy = Cache::Policy::kUncached});
         g.load(0, {.policy = Cache::Policy::kStreaming});
         g.load(0, {.policy = Cache::Policy::kAll});
         g.load(0, {.policy = Cache::Policy::kLastUse});
         g.load(0, {.l1 = Cache::L1::kEvictFirst});
         g.load(0, {.l1 = Cache::L1::kEvictLast});
         g.load(0, {.read_only = true, .l2_128 = true});
       },
       R"(
mov.u64 %l_2, %l;
ld.global.nc.f32 %l_value, [%l_2];
ld.global.nc.L1::no_allocate.v4.f32 {%l_value_2, %l_value_3, %l_value_4, %l_value_5}, [%l_2];
ld.global.cg.f32 %l_value_6, [%l_2];
ld.global.cv.f32 %l_value_7, [%l_2];
ld.global.cs.f32 %l_value_8, [%l_2];
ld.global.ca.f32 %l_value_9, [%l_2];
ld.global.lu.f32 %l_value_10, [%l_2];
ld.global.L1::evict_first.f32 %l_value_11, [%l_2];
ld.global.L1::evict_last.f32 %l_value_12, [%l_2];
ld.global.nc.L2::128B.f32 %l_value_13, [%l_2];)"},
      {"load_256_bits", sm_100,
       [](Builder& b, const Inputs& t) {
         auto g = b.pointer<f32>(t.l, 256);
         g.load<8>();
         g.load<16>(0, kReadOnly);
         g.as<f64>().load<4>();
         g.as<f16>().load<8>();
         auto v = g.load<8>();
         g.store(8, v);
         auto w = g.as<u64>().load<4>();
         g.as<u64>().store(0, w);
       },
       R"(
mov.u64 %l_2, %l;
ld.global.v8.f32 {%l_value, %l_value_2, %l_value_3, %l_value_4, %l_value_5, %l_value_6, %l_value_7, %l_value_8}, [%l_2];
ld.global.nc.v8.f32 {%l_value_9, %l_value_10, %l_value_11, %l_value_12, %l_value_13, %l_value_14, %l_value_15, %l_value_16}, [%l_2];
ld.global.nc.v8.f32 {%l_value_17, %l_value_18, %l_value_19, %l_value_20, %l_value_21, %l_value_22, %l_value_23, %l_value_24}, [%l_2+32];
ld.global.v4.f64 {%l_value_f64, %l_value_f64_2, %l_value_f64_3, %l_value_f64_4}, [%l_2];
ld.global.v4.b16 {%l_value_b16, %l_value_b16_2, %l_value_b16_3, %l_value_b16_4}, [%l_2];
ld.global.v4.b16 {%l_value_b16_5, %l_value_b16_6, %l_value_b16_7, %l_value_b16_8}, [%l_2+8];
ld.global.v8.f32 {%l_value_25, %l_value_26, %l_value_27, %l_value_28, %l_value_29, %l_value_30, %l_value_31, %l_value_32}, [%l_2];
st.global.v8.f32 [%l_2+32], {%l_value_25, %l_value_26, %l_value_27, %l_value_28, %l_value_29, %l_value_30, %l_value_31, %l_value_32};
ld.global.v4.u64 {%l_value_b64, %l_value_b64_2, %l_value_b64_3, %l_value_b64_4}, [%l_2];
st.global.v4.u64 [%l_2], {%l_value_b64, %l_value_b64_2, %l_value_b64_3, %l_value_b64_4};)",
       true},
      {"store", sm_75,
       [](Builder& b, const Inputs& t) {
         auto g = b.pointer<f32>(t.l, 256);
         g.store(0, t.x);
         g.store(t.a, 1.0f);
         g.store(4, {t.x, t.y, 0.0f, t.z});
         g.as<u8>().store(1, t.a);
         g.as<f16>().store(0, 1.0f);
         g.as<f16x2>().store(2, {t.f16x2_a, t.f16x2_b});
         g.store(0, t.x, {.policy = Cache::Policy::kStreaming});
         g.store(0, t.x, {.policy = Cache::Policy::kWriteThrough});
         g.store(0, t.x, {.policy = Cache::Policy::kWriteBack});
         g.store(0, t.x, {.policy = Cache::Policy::kL2});
         g.store(0, t.x, {.l1 = Cache::L1::kNoAllocate});
       },
       R"(
mov.u64 %l_2, %l;
st.global.f32 [%l_2], %x;
mad.wide.u32 %l_3, %a, 4, %l_2;
st.global.f32 [%l_3], 0f3F800000;
st.global.v4.f32 [%l_2+16], {%x, %y, 0f00000000, %z};
st.global.u8 [%l_2+1], %a;
mov.b16 %constant, 0x3c00;
st.global.b16 [%l_2], %constant;
st.global.v2.b32 [%l_2+8], {%f16x2_a, %f16x2_b};
st.global.cs.f32 [%l_2], %x;
st.global.wt.f32 [%l_2], %x;
st.global.wb.f32 [%l_2], %x;
st.global.cg.f32 [%l_2], %x;
st.global.L1::no_allocate.f32 [%l_2], %x;)"},
      {"far_offsets", sm_75,
       [](Builder& b, const Inputs& t) {
         auto g = b.pointer<u32>(t.l, 256);
         g.load(1 << 28);
         g.load(int64_t{1} << 29);
         (g - (int64_t{1} << 40)).load();
       },
       R"(
mov.u64 %l_2, %l;
ld.global.u32 %l_value, [%l_2+1073741824];
add.u64 %l_3, %l_2, 2147483648;
ld.global.u32 %l_value_2, [%l_3];
add.u64 %l_4, %l_2, -4398046511104;
ld.global.u32 %l_value_3, [%l_4];)"},
      {"shared", sm_75,
       [](Builder& b, const Inputs& t) {
         auto s = b.shared<f32>("tile", 64);
         s.store(t.a, t.x);
         s.load(t.a);
         s.load<4>(4);
         s.as<u16>().load(t.i);
         s.as<u8>().load(t.a);
       },
       R"(
mad.lo.u32 %tile_2, %a, 4, %tile;
st.shared.f32 [%tile_2], %x;
mad.lo.u32 %tile_3, %a, 4, %tile;
ld.shared.f32 %tile_value, [%tile_3];
ld.shared.v4.f32 {%tile_value_2, %tile_value_3, %tile_value_4, %tile_value_5}, [%tile+16];
mad.lo.u32 %tile_4, %i, 2, %tile;
ld.shared.u16 %tile_value_b16, [%tile_4];
add.u32 %tile_5, %tile, %a;
ld.shared.u8 %tile_value_b32, [%tile_5];)"},
      {"dynamic_shared", sm_75,
       [](Builder& b, const Inputs& t) {
         auto first = b.dynamic_shared<f32>("first", 3);
         auto second = b.dynamic_shared<f64>("second", 2, 32);
         first.store(0, t.x);
         second.store(t.a, t.d);
       },
       R"(
st.shared.f32 [%first], %x;
mad.lo.u32 %second_2, %a, 8, %second;
st.shared.f64 [%second_2], %d;)"},
      {"local", sm_75,
       [](Builder& b, const Inputs& t) {
         auto s = b.local<u32>("stack", 8);
         s.store(t.a, t.b);
         s.load(t.a);
         s.load<4>();
       },
       R"(
mad.wide.u32 %stack_2, %a, 4, %stack;
st.local.u32 [%stack_2], %b;
mad.wide.u32 %stack_3, %a, 4, %stack;
ld.local.u32 %stack_value, [%stack_3];
ld.local.v4.u32 {%stack_value_2, %stack_value_3, %stack_value_4, %stack_value_5}, [%stack];)"},
      {"constant", sm_75,
       [](Builder& b, const Inputs& t) {
         auto s = b.constant<f32>("table", std::vector<float>{1.0f, 2.0f});
         s.load(t.a);
         s.load<2>();
       },
       R"(
mad.wide.u32 %table_2, %a, 4, %table;
ld.const.f32 %table_value, [%table_2];
ld.const.v2.f32 {%table_value_2, %table_value_3}, [%table];)"},
      {"ordered", sm_75,
       [](Builder& b, const Inputs& t) {
         auto g = b.pointer<u32>(t.l, 256);
         auto s = b.shared<u64>("flag", 1);
         g.load_acquire(Scope::kGpu);
         g.load_relaxed(Scope::kSystem);
         g.load_volatile();
         g.store_release(1, Scope::kSystem);
         g.store_relaxed(t.a, Scope::kBlock);
         g.store_volatile(t.a);
         s.load_acquire(Scope::kBlock);
         s.store_release(t.l, Scope::kBlock);
         s.load_volatile();
         s.store_volatile(0);
       },
       R"(
mov.u64 %l_2, %l;
ld.acquire.gpu.global.u32 %l_value, [%l_2];
ld.relaxed.sys.global.u32 %l_value_2, [%l_2];
ld.volatile.global.u32 %l_value_3, [%l_2];
st.release.sys.global.u32 [%l_2], 1;
st.relaxed.cta.global.u32 [%l_2], %a;
st.volatile.global.u32 [%l_2], %a;
ld.acquire.cta.shared.u64 %flag_value, [%flag];
st.release.cta.shared.u64 [%flag], %l;
ld.volatile.shared.u64 %flag_value_2, [%flag];
st.volatile.shared.u64 [%flag], 0;)"},
      {"atomics", sm_75,
       [](Builder& b, const Inputs& t) {
         auto g = b.pointer<u32>(t.l, 256);
         auto s = b.shared<s32>("count", 1);
         g.atom(Atomic::kAdd, 1);
         g.atom(Atomic::kMax, t.a, Order::kAcquireRelease, Scope::kSystem);
         (g + t.a).atom(Atomic::kIncrement, 7);
         g.atom(Atomic::kExchange, t.a, Order::kAcquire);
         g.atom(Atomic::kOr, 4);
         s.atom(Atomic::kMin, t.i, Order::kRelease, Scope::kBlock);
         s.atom(Atomic::kAnd, -2);
         g.as<f32>().atom(Atomic::kAdd, t.x);
         g.as<f64>().atom(Atomic::kAdd, 1.0);
         g.as<u64>().atom(Atomic::kAdd, t.m);
         g.as<f16x2>().atom(Atomic::kAdd, t.f16x2_a);
         g.as<f32>().atom(Atomic::kExchange, t.x);
       },
       R"(
mov.u64 %l_2, %l;
atom.relaxed.gpu.global.add.u32 %old, [%l_2], 1;
atom.acq_rel.sys.global.max.u32 %old_2, [%l_2], %a;
mad.wide.u32 %l_3, %a, 4, %l_2;
atom.relaxed.gpu.global.inc.u32 %old_3, [%l_3], 7;
atom.acquire.gpu.global.exch.b32 %old_4, [%l_2], %a;
atom.relaxed.gpu.global.or.b32 %old_5, [%l_2], 4;
atom.release.cta.shared.min.s32 %old_6, [%count], %i;
atom.relaxed.gpu.shared.and.b32 %old_7, [%count], -2;
atom.relaxed.gpu.global.add.f32 %old_f32, [%l_2], %x;
atom.relaxed.gpu.global.add.f64 %old_f64, [%l_2], 0d3FF0000000000000;
atom.relaxed.gpu.global.add.u64 %old_b64, [%l_2], %m;
atom.relaxed.gpu.global.add.noftz.f16x2 %old_8, [%l_2], %f16x2_a;
atom.relaxed.gpu.global.exch.b32 %old_f32_2, [%l_2], %x;)"},
      {"atomics_bf16", sm_90,
       [](Builder& b, const Inputs& t) {
         auto g = b.pointer<bf16x2>(t.l, 256);
         g.atom(Atomic::kAdd, t.bf16x2_a);
         g.red(Atomic::kAdd, t.bf16x2_a);
       },
       R"(
mov.u64 %l_2, %l;
atom.relaxed.gpu.global.add.noftz.bf16x2 %old, [%l_2], %bf16x2_a;
red.relaxed.gpu.global.add.noftz.bf16x2 [%l_2], %bf16x2_a;)"},
      {"compare_and_swap", sm_75,
       [](Builder& b, const Inputs& t) {
         auto g = b.pointer<u32>(t.l, 256);
         g.compare_and_swap(0, 1);
         g.as<u64>().compare_and_swap(t.l, t.m, Order::kAcquire, Scope::kBlock);
         g.as<b16>().compare_and_swap(t.b16_a, 3);
       },
       R"(
mov.u64 %l_2, %l;
atom.relaxed.gpu.global.cas.b32 %old, [%l_2], 0, 1;
atom.acquire.cta.global.cas.b64 %old_b64, [%l_2], %l, %m;
atom.relaxed.gpu.global.cas.b16 %old_b16, [%l_2], %b16_a, 3;)"},
      {"reductions", sm_75,
       [](Builder& b, const Inputs& t) {
         auto g = b.pointer<u32>(t.l, 256);
         auto s = b.shared<u32>("count", 1);
         g.red(Atomic::kAdd, 1, Order::kRelease, Scope::kGpu);
         s.red(Atomic::kMax, t.a);
         g.red(Atomic::kDecrement, 3);
         s.red(Atomic::kXor, t.a);
         g.as<f32>().red(Atomic::kAdd, t.x);
         g.as<f16>().red(Atomic::kAdd, t.f16_a);
       },
       R"(
mov.u64 %l_2, %l;
red.release.gpu.global.add.u32 [%l_2], 1;
red.relaxed.gpu.shared.max.u32 [%count], %a;
red.relaxed.gpu.global.dec.u32 [%l_2], 3;
red.relaxed.gpu.shared.xor.b32 [%count], %a;
red.relaxed.gpu.global.add.f32 [%l_2], %x;
red.relaxed.gpu.global.add.noftz.f16 [%l_2], %f16_a;)"},
      {"fences", sm_75,
       [](Builder& b, const Inputs&) {
         b.fence_acq_rel(Scope::kGpu);
         b.fence_sc(Scope::kSystem);
         b.fence_acq_rel(Scope::kBlock);
       },
       R"(
fence.acq_rel.gpu;
fence.sc.sys;
fence.acq_rel.cta;)"},
      {"fences_async", sm_90,
       [](Builder& b, const Inputs&) {
         b.fence_proxy_async();
         b.fence_mbarrier_init();
       },
       R"(
fence.proxy.async;
fence.mbarrier_init.release.cluster;)"},
      {"prefetch", sm_75,
       [](Builder& b, const Inputs& t) {
         auto g = b.pointer<u32>(t.l, 256);
         b.prefetch_l1(g);
         b.prefetch_l2(g + t.a);
       },
       R"(
mov.u64 %l_2, %l;
prefetch.global.L1 [%l_2];
mad.wide.u32 %l_3, %a, 4, %l_2;
prefetch.global.L2 [%l_3];)"},
      {"prefetch_keep", sm_80,
       [](Builder& b, const Inputs& t) {
         auto g = b.pointer<u32>(t.l, 256);
         b.prefetch_l2_keep(g);
       },
       R"(
mov.u64 %l_2, %l;
prefetch.global.L2::evict_last [%l_2];)"},
      {"copy_async", sm_80,
       [](Builder& b, const Inputs& t) {
         auto g = b.pointer<u8>(t.l, 256);
         auto s = b.shared<u8>("ring", 64);
         b.copy_async(s, g, Bytes<16>{});
         b.copy_async(s + 16, g + 16, Bytes<8>{});
         b.copy_async(s, g, Bytes<16>{}, t.a);
         b.commit_copies();
         b.wait_copies(1);
         b.wait_copies();
       },
       R"(
mov.u64 %l_2, %l;
cp.async.cg.shared.global [%ring], [%l_2], 16;
cp.async.ca.shared.global [%ring+16], [%l_2+16], 8;
cp.async.cg.shared.global [%ring], [%l_2], 16, %a;
cp.async.commit_group;
cp.async.wait_group 1;
cp.async.wait_all;)"},
      {"mbarrier", sm_80,
       [](Builder& b, const Inputs& t) {
         auto full = b.mbarrier("full");
         full.init(32);
         full.arrive_after_copies();
         Reg<b64> phase = full.arrive();
         full.done(phase);
         full.done_parity(0);
         full.wait(t.a);
         full.invalidate();
       },
       R"(
mbarrier.init.shared.b64 [%full], 32;
cp.async.mbarrier.arrive.noinc.shared.b64 [%full];
mbarrier.arrive.shared.b64 %phase, [%full];
mbarrier.test_wait.shared.b64 %done, [%full], %phase;
mbarrier.test_wait.parity.shared.b64 %done_2, [%full], 0;
$wait:
mbarrier.test_wait.parity.shared.b64 %done_3, [%full], %a;
@!%done_3 bra $wait;
mbarrier.inval.shared.b64 [%full];)"},
      {"mbarrier_bytes", sm_90,
       [](Builder& b, const Inputs& t) {
         auto full = b.mbarriers("full", 2)[1];
         full.init(1);
         full.expect(256);
         full.arrive_expecting(t.a);
         full.arrive_many(2);
         full.wait(1);
         full.wait_for(full.arrive());
       },
       R"(
mbarrier.init.shared.b64 [%full+8], 1;
mbarrier.expect_tx.relaxed.cta.shared.b64 [%full+8], 256;
mbarrier.arrive.expect_tx.shared.b64 %phase, [%full+8], %a;
mbarrier.arrive.release.cta.shared.b64 %phase_2, [%full+8], 2;
$wait:
mbarrier.try_wait.parity.shared.b64 %done, [%full+8], 1;
@!%done bra $wait;
mbarrier.arrive.shared.b64 %phase_3, [%full+8];
$wait_2:
mbarrier.try_wait.shared.b64 %done_2, [%full+8], %phase_3;
@!%done_2 bra $wait_2;)"},
      {"copy_bulk", sm_90,
       [](Builder& b, const Inputs& t) {
         auto g = b.pointer<u8>(t.l, 256);
         auto s = b.shared<u8>("ring", 256, 128);
         auto full = b.mbarrier("full");
         b.copy_bulk(s, g, 256, full);
         b.copy_bulk(g, s, t.a);
         b.commit_bulk();
         b.wait_bulk(0);
         b.wait_bulk_read(1);
         b.prefetch_bulk(g, 4096);
       },
       R"(
mov.u64 %l_2, %l;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%ring], [%l_2], 256, [%full];
cp.async.bulk.global.shared::cta.bulk_group [%l_2], [%ring], %a;
cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
cp.async.bulk.wait_group.read 1;
cp.async.bulk.prefetch.L2.global [%l_2], 4096;)"},
  };
  return kOperations;
}

}  // namespace ptx::testing
