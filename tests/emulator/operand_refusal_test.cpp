// Operands, numbers and combinations of modifiers that ptxas refuses. One line for each rule found by comparing mutated
// instructions with ptxas, beside a correct neighbour.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/emulator/kernel_text.h"
#include "tests/emulator/ptxas_verdict.h"

namespace ptx::emulator {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Rule {
  const char *wrong, *expected, *right;
};

constexpr Rule kRules[] = {
    // video instructions
    {"vadd.u32.u32.u32 %f1, %r1, %r2;", "operand 1: expected a .u32 register", "vadd.u32.u32.u32 %r1, %r1, 7;"},
    {"vadd.u32.u32.u32 %r1, -%r1, %r2;", "only vmad negates a source", "vmad.u32.u32.u32 %r1, -%r1, %r2, %r3;"},
    {"vadd.u32.u32.u32 %r1|%p1, %r1, %r2;", "a second destination", "vadd.u32.u32.u32 %r1.h0, %r1.b3, %r2.h1, %r3;"},
    {"vadd.u32.u32.u32.add %r1.b0, %r1, %r2, %r3;", "exclude each other", "vadd.u32.u32.u32.add %r1, %r1, %r2, %r3;"},
    {"vmad.u32.u32.u32.po %r1, -%r1, %r2, %r3;", ".po leaves no source", "vmad.u32.u32.u32.po %r1, %r1, %r2, %r3;"},
    {"vmad.u32.u32.u32 %r1, -%r1, %r2, -%r3;", "either the product or", "vmad.u32.u32.u32 %r1, -%r1, -%r2, %r3;"},
    {"vmad.u32.u32.u32 %r1.b0, %r1, %r2, %r3;", "a part of a register", "vmad.u32.u32.u32 %r1, %r1.b0, %r2, %r3;"},
    {"vmad.u32.u32.u32 %r1, %r1, %r2, %rd3;", "operand 4: expected a .u32", "vmad.u32.u32.u32 %r1, %r1, %r2, 5;"},
    {"vset.u32.u32.eq %hx1, %r1, %r2;", "operand 1: expected a .u32 register", "vset.u32.u32.eq %r1, %hx1, %r2;"},
    {"vset4.u32.u32.eq %r1.b01, %r1, %r2, %r3;", "no parts .b01", "vset4.u32.u32.eq %r1.b10, %r1, %r2, %r3;"},
    {"vset2.u32.u32.eq %r1.b0, %r1, %r2, %r3;", "no parts .b0", "vset2.u32.u32.eq %r1.h0, %r1.h33, %r2, %r3;"},
    {"vadd2.u32.u32.u32 %r1, 5, %r2, %r3;", "expected a .u32 register", "vadd2.u32.u32.u32 %r1, %r1, %r2, %r3;"},
    {"mov.u32 %r1, %r2.x;", "has no component .x", ".reg .v2 .b32 %pair; mov.b32 %r1, %pair.x;"},
    // counts, sizes and masks
    {"bfe.u32 %r1, %r2, %hx1, %r3;", "operand 3: expected a .u32", "add.u32 %r1, %r2, %hx1;"},
    {"bfe.u32 %r1, %r2, 256, 1;", "expected 0 to 255, found 256", "bfe.u32 %r1, %r2, 255, 1;"},
    {"bmsk.wrap.b32 %r1, %f2, %r3;", "operand 2: expected a .u32", "bmsk.wrap.b32 %r1, %r2, %r3;"},
    {"dp4a.u32.u32 %r1, %f2, %r3, %r4;", "operand 2: expected a .u32", "dp4a.u32.u32 %r1, %u2, %r3, 7;"},
    {"shfl.sync.up.b32 _, %r2, 1, 0, -1;", "operand 1: expected a .b32", "shfl.sync.up.b32 %f1|_, %r2, %f2, 0, -1;"},
    {"match.any.sync.b32 %f1, %r2, -1;", "operand 1: expected a .u32", "match.any.sync.b32 %r1, %f2, -1;"},
    {"elect.sync %r1, -1;", "expected a predicate after |", "elect.sync _|%p1, -1;"},
    {"redux.sync.or.b32 %r1, %f2, -1;", "operand 2: expected a .u32", "redux.sync.or.b32 %r1, %r2, -1;"},
    {"pmevent 16;", "expected 0 to 15", "pmevent 15;"},
    {"bar.arrive 1, 0;", "expected at least 1", "bar.arrive 1, 32;"},
    {"bar.red.popc.u32 %r1, 0, %p1|%p2;", "must be a predicate", "bar.red.popc.u32 %r1, 0, !%p1;"},
    // conversions and comparisons
    {"cvt.sat.s32.u8 %r1, %h1;", "nothing to saturate", "cvt.sat.u8.s32 %h1, %r1;"},
    {".reg .u16 %x; cvt.rn.satfinite.e4m3x2.f32 %x, %f1, %f2;", "operand 1: expected a .b16",
     "cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2;"},
    {"cvt.pack.sat.u16.s32 %f1, %r1, %r2;", "operand 1: expected a .u32", "cvt.pack.sat.u16.s32 %r1, %r1, %r2;"},
    {"setp.eq.f16 %p1|%p2, %h1, %h2;", "a second destination", "setp.eq.f32 %p1|%p2, %f1, %f2;"},
    {"setp.eq.f16x2 %r1, %hx1, %hx2;", "expected a predicate register", "setp.eq.f16x2 %p1|%p2, %hx1, %hx2;"},
    {"set.eq.f16x2.f16x2 %hx1, %hx1, %hx2, %p1;", "a plain one must not have one",
     "set.eq.f16x2.f16x2 %hx1, %hx1, %hx2;"},
    {"mov.b32 {_, _}, %r1;", "no part is kept", "mov.b32 {%h1, _}, %r1;"},
    // memory
    {"ld.global.u32 %r1, [16];", "a number is an address in local memory only", "ld.local.u32 %r1, [16];"},
    {"st.global.L2::evict_last.u32 [%in], %r1;", "needs .v8 of 32 bits", "st.global.L1::evict_last.u32 [%in], %r1;"},
    {"red.acquire.gpu.global.add.u32 [%in], 1;", "modifier .acquire", "red.release.gpu.global.add.u32 [%in], 1;"},
    {"atom.global.add.v2.f32 {%f1, %f2}, [%in], {%rd1, %rd2};", "operand 3",
     "atom.global.add.v2.f32 {%f1, _}, [%in], {%f1, %f2};"},
    {".shared .b32 x; cvta.global.u64 %rd1, x;", "does not lie in that state space",
     ".shared .b32 x; cvta.shared.u64 %rd1, x;"},
    {"discard.L2 [%in], 64;", "expected 128, found 64", "discard.L2 [%in], 128;"},
    {"createpolicy.fractional.L2::evict_last.b64 %rd1, 1.5;", "more than 0 and at most 1",
     "createpolicy.fractional.L2::evict_last.b64 %rd1, 0.5;"},
    {"fence.proxy.tensormap::generic.acquire.gpu [%in], 64;", "expected 128",
     "fence.proxy.tensormap::generic.acquire.gpu [%in], 128;"},
    {"cp.async.ca.shared.global [%r1], [%in], 8, 12;", "expected 0 to 8 bytes",
     "cp.async.ca.shared.global [%r1], [%in], 8, 4;"},
    {"cp.async.ca.shared.global [%r1], [%in], 16, %r2.b0;", "a part of a register",
     "cp.async.ca.shared.global [%r1], [%in], 16, %r2;"},
    {"cp.async.bulk.global.shared::cta [%in], [%r1], 16;", "a modifier or type is missing",
     "cp.async.bulk.global.shared::cta.bulk_group [%in], [%r1], 16;"},
    {"cp.async.bulk.prefetch.L2.global [%in], 24;", "a multiple of 16", "cp.async.bulk.prefetch.L2.global [%in], 32;"},
    // mbarriers
    {"mbarrier.arrive.release.shared.b64 %rd1, [%r1];", "an order and a scope need each other",
     "mbarrier.arrive.release.cta.shared.b64 %rd1, [%r1];"},
    {"mbarrier.arrive.shared::cluster.b64 %rd1, [%r1];", "expected _, found",
     "mbarrier.arrive.shared::cluster.b64 _, [%r1];"},
    {"mbarrier.arrive.shared.b64 %rd1, [%r1], 0;", "expected at least 1", "mbarrier.arrive.shared.b64 %rd1, [%r1], 1;"},
    {"mbarrier.init.shared::cluster.b64 [%r1], 1;", "does not fit there", ".shared .b64 x; mbarrier.init.b64 [x], 1;"},
    {"mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 2;", "expected 0 to 1",
     "mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 1;"},
    // matrices
    {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f32 {%r1,%r2}, {%r1,%r2,%r3,%r4}, {%r1,%r2}, {%f1,%f2,%f3,%f4};",
     "modifier .f32",
     "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r1,%r2}, {%r1,%r2,%r3,%r4}, {%r1,%r2}, {%r1,%r2};"},
    {"mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%r1,%r2}, %r1, {%r1}, {%r1,%r2};", "expected a vector",
     "mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%r1,%r2}, {%r1}, {%u1}, {%r1,%r2};"},
    {"mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%f1,%f2}, {%r1}, {%r1}, {%r1,%r2};", "expected a .u32 register",
     "mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32 {%r1,%u2}, {%r1}, {%r1}, {%r1,%r2};"},
    {"ldmatrix.sync.aligned.m8n8.x1.b16 %r1, [%rd1];", "expected a vector",
     "ldmatrix.sync.aligned.m8n8.x1.b16 {%r1}, [%rd1];"},
    {"wmma.load.c.sync.aligned.row.m8n8k32.s32 {%r1,%r2}, [%rd1], %hx1;", "operand 3: expected a .u32",
     "wmma.load.c.sync.aligned.row.m8n8k32.s32 {%r1,%r2}, [%rd1], 8;"},
    {"wmma.load.b.sync.aligned.row.m8n8k32.u4 {%r1}, [%rd1];", "does not fit there",
     "wmma.load.b.sync.aligned.col.m8n8k32.u4 {%r1}, [%rd1];"},
    {"wmma.mma.sync.aligned.row.col.m8n8k32.s32.u4.s4.s32 {%r1,%r2}, {%r1}, {%r1}, {%r1,%r2};", "modifier .s4",
     "wmma.mma.sync.aligned.row.col.m8n8k32.s32.u4.u4.s32 {%r1,%r2}, {%r1}, {%r1}, {%r1,%r2};"},
};

TEST(OperandRefusal, WrongLinesAndTheirNeighbours) {
  for (const Rule& row : kRules) {
    EXPECT_THAT(run_text(kernel(row.wrong), {1}, {1}, 1).fault, HasSubstr(row.expected)) << row.wrong;
    const std::string right = kernel(std::string("bra over;\n") + row.right + "\nover:");  // loaded, never executed
    EXPECT_EQ(run_text(right, {1}, {1}, 1).fault, "") << row.right;
  }
}

TEST(OperandRefusal, AsNvidiasAssembler) {
  if (find_ptxas().empty()) GTEST_SKIP() << "no ptxas in PATH or /usr/local/cuda/bin";
  for (const Rule& row : kRules) {
    EXPECT_FALSE(ptxas_accepts(kernel(row.wrong), "sm_90")) << row.wrong;
    EXPECT_TRUE(ptxas_accepts(kernel(row.right), "sm_90")) << row.right;
  }
}

// Some instructions need a target's own features: sm_90a differs from sm_90.
TEST(OperandRefusal, SuffixesOfTargets) {
  const struct {
    const char *line, *target, *expected;  // expected: "" if it is right
  } rows[] = {
      {"setmaxnreg.inc.sync.aligned.u32 40;", "sm_90", "needs sm_90a, the target is sm_90"},
      {"setmaxnreg.inc.sync.aligned.u32 40;", "sm_90a", ""},
      {"setmaxnreg.inc.sync.aligned.u32 40;", "sm_120a", ""},
      {"setmaxnreg.inc.sync.aligned.u32 41;", "sm_90a", "a multiple of 8"},
      {"cvt.rs.f16x2.f32 %r1, %f1, %f2, %r2;", "sm_90", "needs sm_100a, the target is sm_90"},
      {"cvt.rs.f16x2.f32 %r1, %f1, %f2, %r2;", "sm_100", "needs sm_100a, the target is sm_100"},
      {"cvt.rs.satfinite.e4m3x4.f32 %r1, {%f1, %f2, %f3, %f4}, %r2;", "sm_120a",
       "needs sm_100a, the target is sm_120a"},
      {"redux.sync.min.abs.NaN.f32 %f1, %f2, -1;", "sm_100", "needs sm_100a, the target is sm_100"},
      {"redux.sync.min.abs.NaN.f32 %f1, %f2, -1;", "sm_100a", ""},
      {"redux.sync.min.abs.NaN.f32 %f1, %f2, -1;", "sm_120a", "needs sm_100a, the target is sm_120a"},
  };
  for (const auto& row : rows) {
    std::string text = kernel(row.line);
    text.replace(text.find("sm_90"), 5, row.target);
    Device device(profile_named(std::string(row.target).substr(0, std::string(row.target).find('a'))));
    std::string refusal;
    try {
      const Module module(text, device.profile, device.memory);
    } catch (const LoadError& error) {
      refusal = error.what();
    }
    EXPECT_EQ(refusal.empty(), *row.expected == 0) << row.line << " " << row.target << ": " << refusal;
    EXPECT_THAT(refusal, HasSubstr(row.expected)) << row.target;
    if (!find_ptxas().empty()) {
      EXPECT_EQ(ptxas_accepts(text, row.target), *row.expected == 0) << row.line << " " << row.target;
    }
  }
}

// Missing features of the emulator are reported by name, not by the first unreadable operand.
TEST(OperandRefusal, WhatIsNotEmulated) {
  const struct {
    const char *line, *expected;
  } rows[] = {
      {"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r1, %r2}], [%r3];",
       "the emulator has no copies through tensor maps: cp.async.bulk.tensor.2d.shared::cluster.global"},
      {"tensormap.replace.tile.global_address.global.b1024.b64 [%rd1], %rd2;", "the emulator has no tensor maps"},
      {"wgmma.fence.sync.aligned;", "the emulator has no matrix products of warp groups: wgmma.fence"},
      {"tcgen05.wait::ld.sync.aligned;", "the emulator has no tensor memory: tcgen05.wait::ld"},
      {"tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, {%f1,%f2}];", "the emulator has no textures: tex.2d"},
      {"suld.b.1d.b32.trap {%r1}, [%rd1, {%r2}];", "the emulator has no surfaces: suld.b"},
  };
  for (const auto& row : rows) EXPECT_THAT(run_text(kernel(row.line), {1}, {1}, 1).fault, HasSubstr(row.expected));
  std::string own = kernel("cvt.rs.f16x2.f32 %r1, %f1, %f2, %r2;");
  own.replace(own.find("sm_90"), 5, "sm_100a");
  Device device(profile_named("sm_100"));
  try {
    const Module module(own, device.profile, device.memory);
    ADD_FAILURE() << "loaded";
  } catch (const LoadError& error) {
    EXPECT_THAT(error.what(), HasSubstr("the emulator has no stochastic rounding: cvt.rs.f16x2.f32"));
  }
}

}  // namespace
}  // namespace ptx::emulator
