// The text of the kernels that the driver's tests launch.
#include "tests/emulator_driver/driver_test.h"

namespace ptx::cuda {

const char kKernels[] = R"(
.version 7.0
.target sm_75
.address_size 64
.visible .global .align 4 .u32 counter = 5;
.visible .global .align 4 .f32 table[4] = {0f3F800000, 0f40000000, 0f40400000, 0f40800000};
.visible .const .align 4 .u32 limit;
.extern .shared .align 16 .b8 dynamic[];

.visible .entry scale(.param .u64 p, .param .f32 by, .param .u32 n) {
  .reg .b64 %rd<4>; .reg .f32 %f<4>; .reg .b32 %r<6>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [p]; ld.param.f32 %f1, [by]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r5, %r1; @%p1 ret;
  mul.wide.u32 %rd2, %r5, 4; add.u64 %rd3, %rd1, %rd2;
  ld.global.f32 %f2, [%rd3]; mul.f32 %f3, %f2, %f1; st.global.f32 [%rd3], %f3; ret;
}
.visible .entry add(.param .u64 p, .param .u32 value) {
  .reg .b64 %rd<4>; .reg .b32 %r<8>;
  ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [value];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r5, %r2, %r3, %r4;
  mul.wide.u32 %rd2, %r5, 4; add.u64 %rd3, %rd1, %rd2;
  ld.global.u32 %r6, [%rd3]; add.u32 %r7, %r6, %r1; st.global.u32 [%rd3], %r7; ret;
}
.visible .entry append(.param .u64 p, .param .u32 value) {
  .reg .b64 %rd<2>; .reg .b32 %r<4>;
  ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [value];
  ld.global.u32 %r2, [%rd1]; mad.lo.u32 %r3, %r2, 10, %r1; st.global.u32 [%rd1], %r3; ret;
}
.visible .entry wait_for(.param .u64 flag, .param .u32 value, .param .u64 done) {
  .reg .b64 %rd<3>; .reg .b32 %r<3>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [flag]; ld.param.u32 %r1, [value]; ld.param.u64 %rd2, [done];
again:
  ld.acquire.sys.global.u32 %r2, [%rd1]; setp.ne.u32 %p1, %r2, %r1; @%p1 bra again;
  st.release.sys.global.u32 [%rd2], %r2; ret;
}
.visible .entry meet(.param .u64 arrived, .param .u32 n, .param .u64 met) {
  .reg .b64 %rd<3>; .reg .b32 %r<4>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [arrived]; ld.param.u32 %r1, [n]; ld.param.u64 %rd2, [met];
  atom.add.acq_rel.gpu.global.u32 %r2, [%rd1], 1;
again:
  ld.acquire.gpu.global.u32 %r3, [%rd1]; setp.ne.u32 %p1, %r3, %r1; @%p1 bra again;
  red.relaxed.gpu.global.add.u32 [%rd2], 1; ret;
}
.visible .entry mixed(.param .u8 a, .param .u64 b, .param .f32 c, .param .u16 d, .param .u64 to) {
  .reg .b64 %rd<4>; .reg .b32 %r<4>; .reg .f32 %f<2>;
  ld.param.u8 %r1, [a]; ld.param.u64 %rd1, [b]; ld.param.f32 %f1, [c]; ld.param.u16 %r2, [d]; ld.param.u64 %rd2, [to];
  st.global.u32 [%rd2], %r1; st.global.u32 [%rd2+4], %r2; st.global.u64 [%rd2+8], %rd1; st.global.f32 [%rd2+16], %f1;
  ret;
}
.visible .entry shared(.param .u64 to, .param .u32 n) {
  .reg .b64 %rd<2>; .reg .b32 %r<8>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [to]; ld.param.u32 %r1, [n];
  mov.u32 %r2, dynamic; mov.u32 %r3, 0; mov.u32 %r4, 0;
again:
  shl.b32 %r5, %r3, 2; add.u32 %r6, %r2, %r5; st.shared.u32 [%r6], %r3; ld.shared.u32 %r7, [%r6];
  add.u32 %r4, %r4, %r7; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %r1; @%p1 bra again;
  st.global.u32 [%rd1], %r4; ret;
}
.visible .entry bounded(.param .u64 to) .maxntid 64, 1, 1 {
  .reg .b64 %rd<2>; .reg .b32 %r<2>;
  ld.param.u64 %rd1, [to]; mov.u32 %r1, %ntid.x; st.global.u32 [%rd1], %r1; ret;
}
.visible .entry fixed_shared(.param .u64 to) {
  .shared .align 16 .b8 room[1024];
  .reg .b64 %rd<2>; .reg .b32 %r<3>;
  ld.param.u64 %rd1, [to]; mov.u32 %r1, room; st.shared.u32 [%r1], 7; ld.shared.u32 %r2, [%r1];
  st.global.u32 [%rd1], %r2; ret;
}
.visible .entry read_globals(.param .u64 to) {
  .reg .b64 %rd<2>; .reg .b32 %r<4>; .reg .f32 %f<2>;
  ld.param.u64 %rd1, [to]; ld.global.u32 %r1, [counter]; ld.const.u32 %r2, [limit]; ld.global.f32 %f1, [table+8];
  cvt.rzi.u32.f32 %r3, %f1; st.global.u32 [%rd1], %r1; st.global.u32 [%rd1+4], %r2; st.global.u32 [%rd1+8], %r3; ret;
}
.visible .entry store(.param .u64 address, .param .u32 value) {
  .reg .b64 %rd<2>; .reg .b32 %r<2>;
  ld.param.u64 %rd1, [address]; ld.param.u32 %r1, [value]; st.global.u32 [%rd1], %r1; ret;
}
.visible .entry store_shared(.param .u32 offset) {
  .reg .b32 %r<2>;
  ld.param.u32 %r1, [offset]; st.shared.u32 [%r1], 1; ret;
}
.visible .entry trap() { trap; }
)";

}  // namespace ptx::cuda
