// What the builder writes for arithmetic and comparisons: name, oldest target, calls, text.
#include "operations.h"

namespace ptx::testing {

const std::vector<Operation>& arithmetic_operations() {
  static const std::vector<Operation> kOperations = {
      {"add_u32", sm_75, [](Builder&, const Inputs& t) { t.a + t.b; }, "add.u32 %add, %a, %b;"},
      {"add_s64", sm_75, [](Builder&, const Inputs& t) { t.v + t.w; }, "add.s64 %add, %v, %w;"},
      {"sub_u32", sm_75, [](Builder&, const Inputs& t) { t.a - t.b; }, "sub.u32 %sub, %a, %b;"},
      {"sub_s64", sm_75, [](Builder&, const Inputs& t) { t.v - t.w; }, "sub.s64 %sub, %v, %w;"},
      {"mul_u32", sm_75, [](Builder&, const Inputs& t) { t.a* t.b; }, "mul.lo.u32 %mul, %a, %b;"},
      {"mul_s64", sm_75, [](Builder&, const Inputs& t) { t.v* t.w; }, "mul.lo.s64 %mul, %v, %w;"},
      {"div_u32", sm_75, [](Builder&, const Inputs& t) { t.a / t.b; }, "div.u32 %div, %a, %b;"},
      {"div_s64", sm_75, [](Builder&, const Inputs& t) { t.v / t.w; }, "div.s64 %div, %v, %w;"},
      {"rem_u32", sm_75, [](Builder&, const Inputs& t) { t.a % t.b; }, "rem.u32 %rem, %a, %b;"},
      {"rem_s64", sm_75, [](Builder&, const Inputs& t) { t.v % t.w; }, "rem.s64 %rem, %v, %w;"},
      {"add_u16", sm_75, [](Builder&, const Inputs& t) { t.u16_a + t.u16_b; }, "add.u16 %add, %u16_a, %u16_b;"},
      {"add_immediate", sm_75,
       [](Builder&, const Inputs& t) {
         t.a + 7;
         -3 + t.i;
       },
       R"(
add.u32 %add, %a, 7;
add.s32 %add_2, -3, %i;)"},
      {"div_by_power_of_two", sm_75,  // ptxas would divide
       [](Builder&, const Inputs& t) {
         t.a / 16;
         t.a % 16;
         t.a / 1;
         t.u16_a % 2;
         t.a / 7;
         t.i / 16;  // negative numbers round up
       },
       R"(
shr.u32 %shr, %a, 4;
and.b32 %and, %a, 15;
and.b16 %and_b16, %u16_a, 1;
div.u32 %div, %a, 7;
div.s32 %div_2, %i, 16;)"},
      {"add_nothing", sm_75,
       [](Builder&, const Inputs& t) {
         t.a + 0;
         t.a * 1;
         t.a << 0;
         0 + t.a;
       },
       ""},
      {"and_or_xor", sm_75,
       [](Builder&, const Inputs& t) {
         t.b32_a& t.b32_b;
         t.a | 3;
         t.l ^ t.m;
       },
       R"(
and.b32 %and, %b32_a, %b32_b;
or.b32 %or, %a, 3;
xor.b64 %xor, %l, %m;)"},
      {"and_or_xor_pred", sm_75,
       [](Builder&, const Inputs& t) {
         t.p&& t.q;
         t.p || !t.q;
         t.p ^ t.q;
       },
       R"(
and.pred %and, %p, %q;
not.pred %not, %q;
or.pred %or, %p, %not;
xor.pred %xor, %p, %q;)"},
      {"not", sm_75,
       [](Builder&, const Inputs& t) {
         ~t.a;
         ~t.b64_a;
         ~t.u16_a;
       },
       R"(
not.b32 %not, %a;
not.b64 %not_b64, %b64_a;
not.b16 %not_b16, %u16_a;)"},
      {"shl", sm_75,
       [](Builder&, const Inputs& t) {
         t.a << 3;
         t.v << t.b;
         t.b32_a << t.a;
       },
       R"(
shl.b32 %shl, %a, 3;
shl.b64 %shl_b64, %v, %b;
shl.b32 %shl_2, %b32_a, %a;)"},
      {"shr", sm_75,
       [](Builder&, const Inputs& t) {
         t.a >> 3;
         t.i >> t.b;
         t.b32_a >> 1;
         t.b64_a >> t.a;
       },
       R"(
shr.u32 %shr, %a, 3;
shr.s32 %shr_2, %i, %b;
shr.b32 %shr_3, %b32_a, 1;
shr.b64 %shr_b64, %b64_a, %a;)"},
      {"neg", sm_75,
       [](Builder&, const Inputs& t) {
         -t.i;
         -t.x;
         -t.f16_a;
         -t.d;
       },
       R"(
neg.s32 %neg, %i;
neg.f32 %neg_f32, %x;
neg.f16 %neg_b16, %f16_a;
neg.f64 %neg_f64, %d;)"},
      {"neg_bf16", sm_80,
       [](Builder&, const Inputs& t) {
         -t.bf16_a;
         -t.bf16x2_a;
       },
       R"(
neg.bf16 %neg, %bf16_a;
neg.bf16x2 %neg_b32, %bf16x2_a;)"},
      {"min_max_integer", sm_75,
       [](Builder& b, const Inputs& t) {
         b.min(t.a, t.b);
         b.max(t.i, 0);
         b.min(t.u16_a, t.u16_b);
         b.max(t.l, t.m);
       },
       R"(
min.u32 %min, %a, %b;
max.s32 %max, %i, 0;
min.u16 %min_b16, %u16_a, %u16_b;
max.u64 %max_b64, %l, %m;)"},
      {"min_max_float", sm_75,
       [](Builder& b, const Inputs& t) {
         b.min(t.x, t.y);
         b.max(t.d, t.e);
       },
       R"(
min.f32 %min, %x, %y;
max.f64 %max, %d, %e;)"},
      {"min_max_half", sm_80,
       [](Builder& b, const Inputs& t) {
         b.min(t.f16_a, t.f16_b);
         b.max(t.f16x2_a, t.f16x2_b);
         b.min(t.bf16_a, t.bf16_b);
         b.max(t.bf16x2_a, t.bf16x2_b);
       },
       R"(
min.f16 %min, %f16_a, %f16_b;
max.f16x2 %max, %f16x2_a, %f16x2_b;
min.bf16 %min_2, %bf16_a, %bf16_b;
max.bf16x2 %max_2, %bf16x2_a, %bf16x2_b;)"},
      {"min_max_or_nan", sm_80,
       [](Builder& b, const Inputs& t) {
         b.min_or_nan(t.x, t.y);
         b.max_or_nan(t.f16x2_a, t.f16x2_b);
         b.max_or_nan(t.bf16_a, t.bf16_b);
       },
       R"(
min.NaN.f32 %min, %x, %y;
max.NaN.f16x2 %max, %f16x2_a, %f16x2_b;
max.NaN.bf16 %max_b16, %bf16_a, %bf16_b;)"},
      {"abs", sm_75,
       [](Builder& b, const Inputs& t) {
         b.abs(t.i);
         b.abs(t.v);
         b.abs(t.x);
         b.abs(t.d);
         b.abs(t.f16x2_a);
       },
       R"(
abs.s32 %abs, %i;
abs.s64 %abs_b64, %v;
abs.f32 %abs_f32, %x;
abs.f64 %abs_f64, %d;
abs.f16x2 %abs_2, %f16x2_a;)"},
      {"abs_bf16", sm_80,
       [](Builder& b, const Inputs& t) {
         b.abs(t.bf16_a);
         b.abs(t.bf16x2_a);
       },
       R"(
abs.bf16 %abs, %bf16_a;
abs.bf16x2 %abs_b32, %bf16x2_a;)"},
      {"select", sm_75,
       [](Builder& b, const Inputs& t) {
         b.select(t.p, t.a, t.b);
         b.select(!t.p, t.x, 0.0f);
         b.select(t.p, t.f16x2_a, t.f16x2_b);
         b.select(t.q, t.u16_a, 9);
       },
       R"(
selp.u32 %selp, %a, %b, %p;
not.pred %not, %p;
selp.f32 %selp_f32, %x, 0f00000000, %not;
selp.b32 %selp_2, %f16x2_a, %f16x2_b, %p;
selp.u16 %selp_b16, %u16_a, 9, %q;)"},
      {"mul_hi", sm_75,
       [](Builder& b, const Inputs& t) {
         b.mul_hi(t.a, t.b);
         b.mul_hi(t.v, t.w);
       },
       R"(
mul.hi.u32 %mul, %a, %b;
mul.hi.s64 %mul_b64, %v, %w;)"},
      {"mad", sm_75,
       [](Builder& b, const Inputs& t) {
         b.mad(t.a, 8, t.b);
         b.mad_hi(t.i, t.j, t.k);
       },
       R"(
mad.lo.u32 %mad, %a, 8, %b;
mad.hi.s32 %mad_2, %i, %j, %k;)"},
      {"sad", sm_75, [](Builder& b, const Inputs& t) { b.sad(t.a, t.b, t.c); }, "sad.u32 %sad, %a, %b, %c;"},
      {"wide_products", sm_75,
       [](Builder& b, const Inputs& t) {
         b.mul_wide(t.a, t.b);
         b.mul_wide(t.s16_a, t.s16_b);
         b.mad_wide(t.a, 4, t.l);
         b.mad_wide(t.i, t.j, t.v);
       },
       R"(
mul.wide.u32 %mul, %a, %b;
mul.wide.s16 %mul_b32, %s16_a, %s16_b;
mad.wide.u32 %mad, %a, 4, %l;
mad.wide.s32 %mad_2, %i, %j, %v;)"},
      {"saturated_integers", sm_75,
       [](Builder& b, const Inputs& t) {
         b.add_saturated(t.i, t.j);
         b.sub_saturated(t.i, 1);
       },
       R"(
add.sat.s32 %add, %i, %j;
sub.sat.s32 %sub, %i, 1;)"},
      {"bit_counts", sm_75,
       [](Builder& b, const Inputs& t) {
         b.popc(t.a);
         b.popc(t.b64_a);
         b.clz(t.b32_a);
         b.clz(t.l);
         b.bfind(t.i);
         b.bfind(t.l);
       },
       R"(
popc.b32 %popc, %a;
popc.b64 %popc_2, %b64_a;
clz.b32 %clz, %b32_a;
clz.b64 %clz_2, %l;
bfind.s32 %bfind, %i;
bfind.u64 %bfind_2, %l;)"},
      {"brev", sm_75,
       [](Builder& b, const Inputs& t) {
         b.brev(t.a);
         b.brev(t.b64_a);
       },
       R"(
brev.b32 %brev, %a;
brev.b64 %brev_b64, %b64_a;)"},
      {"bit_fields", sm_75,
       [](Builder& b, const Inputs& t) {
         b.bfe(t.a, 4, 8);
         b.bfe(t.v, t.a, t.b);
         b.bfi(t.a, t.b, 8, t.c);
         b.bfi(t.b64_a, t.b64_b, 0, 5);
       },
       R"(
bfe.u32 %bfe, %a, 4, 8;
bfe.s64 %bfe_b64, %v, %a, %b;
bfi.b32 %bfi, %a, %b, 8, %c;
bfi.b64 %bfi_b64, %b64_a, %b64_b, 0, 5;)"},
      {"lop3", sm_75, [](Builder& b, const Inputs& t) { b.lop3(t.b32_a, t.b32_b, t.b32_c, 0xe8); },
       "lop3.b32 %lop3, %b32_a, %b32_b, %b32_c, 0xe8;"},
      {"prmt", sm_75,
       [](Builder& b, const Inputs& t) {
         b.prmt(t.a, t.b, 0x5140);
         b.prmt(t.b32_a, 0, t.c);
       },
       R"(
prmt.b32 %prmt, %a, %b, 0x5140;
prmt.b32 %prmt_2, %b32_a, 0, %c;)"},
      {"funnel_shifts", sm_75,
       [](Builder& b, const Inputs& t) {
         b.funnel_left(t.a, t.b, t.c);
         b.funnel_right(t.a, t.b, 4);
         b.rotate_left(t.b32_a, 7);
       },
       R"(
shf.l.clamp.b32 %shf, %a, %b, %c;
shf.r.clamp.b32 %shf_2, %a, %b, 4;
shf.l.wrap.b32 %shf_3, %b32_a, %b32_a, 7;)"},
      {"dp4a", sm_75,
       [](Builder& b, const Inputs& t) {
         b.dp4a(t.u8x4_a, t.u8x4_b, t.a);
         b.dp4a(t.s8x4_a, t.s8x4_b, t.i);
         b.dp4a(t.u8x4_a, t.s8x4_b, 0);
         b.dp4a(t.s8x4_a, t.u8x4_b, t.i);
       },
       R"(
dp4a.u32.u32 %dp4a, %u8x4_a, %u8x4_b, %a;
dp4a.s32.s32 %dp4a_2, %s8x4_a, %s8x4_b, %i;
dp4a.u32.s32 %dp4a_3, %u8x4_a, %s8x4_b, 0;
dp4a.s32.u32 %dp4a_4, %s8x4_a, %u8x4_b, %i;)"},
      {"float_operators", sm_75,
       [](Builder&, const Inputs& t) {
         t.x + t.y;
         t.x - 1.5f;
         2 * t.x;
         t.x / t.y;
         t.d* t.e;
       },
       R"(
add.rn.f32 %add, %x, %y;
sub.rn.f32 %sub, %x, 0f3FC00000;
mul.rn.f32 %mul, 0f40000000, %x;
div.rn.f32 %div, %x, %y;
mul.rn.f64 %mul_f64, %d, %e;)"},
      {"half_operators", sm_75,
       [](Builder&, const Inputs& t) {
         t.f16_a + t.f16_b;
         t.f16_a * 2.0f;
         t.f16x2_a - t.f16x2_b;
         t.f16x2_a * 0.5f;
       },
       R"(
add.rn.f16 %add, %f16_a, %f16_b;
mov.b16 %constant, 0x4000;
mul.rn.f16 %mul, %f16_a, %constant;
sub.rn.f16x2 %sub, %f16x2_a, %f16x2_b;
mov.b32 %constant_b32, 0x38003800;
mul.rn.f16x2 %mul_b32, %f16x2_a, %constant_b32;)"},
      {"bf16_operators", sm_90,
       [](Builder&, const Inputs& t) {
         t.bf16_a + t.bf16_b;
         t.bf16x2_a* t.bf16x2_b;
       },
       R"(
add.rn.bf16 %add, %bf16_a, %bf16_b;
mul.rn.bf16x2 %mul, %bf16x2_a, %bf16x2_b;)"},
      {"rounded", sm_75,
       [](Builder& b, const Inputs& t) {
         b.add(t.x, t.y, {.round = Round::kZero});
         b.sub(t.x, t.y, {.round = Round::kDown, .flush = true});
         b.mul(t.d, t.e, {.round = Round::kUp});
         b.add(t.x, t.y, {.saturate = true});
       },
       R"(
add.rz.f32 %add, %x, %y;
sub.rm.ftz.f32 %sub, %x, %y;
mul.rp.f64 %mul, %d, %e;
add.rn.sat.f32 %add_2, %x, %y;)"},
      {"rounded_half", sm_75,
       [](Builder& b, const Inputs& t) {
         b.mul(t.f16_a, t.f16_b, {.saturate = true});
         b.add(t.f16x2_a, t.f16x2_b, {.flush = true});
       },
       R"(
mul.rn.sat.f16 %mul, %f16_a, %f16_b;
add.rn.ftz.f16x2 %add, %f16x2_a, %f16x2_b;)"},
      {"fma", sm_75,
       [](Builder& b, const Inputs& t) {
         b.fma(t.x, t.y, t.z);
         b.fma(t.x, 2.0f, t.z, {.flush = true});
         b.fma(t.d, t.e, t.f, {.round = Round::kZero});
         b.fma(t.f16_a, t.f16_b, t.f16_c);
         b.fma(t.f16x2_a, t.f16x2_b, 1.0f, {.saturate = true});
       },
       R"(
fma.rn.f32 %fma, %x, %y, %z;
fma.rn.ftz.f32 %fma_2, %x, 0f40000000, %z;
fma.rz.f64 %fma_f64, %d, %e, %f;
fma.rn.f16 %fma_b16, %f16_a, %f16_b, %f16_c;
mov.b32 %constant, 0x3c003c00;
fma.rn.sat.f16x2 %fma_b32, %f16x2_a, %f16x2_b, %constant;)"},
      {"fma_bf16", sm_80,
       [](Builder& b, const Inputs& t) {
         b.fma(t.bf16_a, t.bf16_b, t.bf16_c);
         b.fma(t.bf16x2_a, t.bf16x2_b, -1.0f);
       },
       R"(
fma.rn.bf16 %fma, %bf16_a, %bf16_b, %bf16_c;
mov.b32 %constant, 0xbf80bf80;
fma.rn.bf16x2 %fma_b32, %bf16x2_a, %bf16x2_b, %constant;)"},
      {"fma_relu", sm_80,
       [](Builder& b, const Inputs& t) {
         b.fma_relu(t.f16x2_a, t.f16x2_b, t.f16x2_c);
         b.fma_relu(t.bf16_a, t.bf16_b, t.bf16_c);
       },
       R"(
fma.rn.relu.f16x2 %fma, %f16x2_a, %f16x2_b, %f16x2_c;
fma.rn.relu.bf16 %fma_b16, %bf16_a, %bf16_b, %bf16_c;)"},
      {"div", sm_75,
       [](Builder& b, const Inputs& t) {
         b.div(t.x, t.y, {.round = Round::kZero});
         b.div(t.d, t.e);
         b.div_approx(t.x, t.y);
         b.div_full(t.x, t.y, true);
       },
       R"(
div.rz.f32 %div, %x, %y;
div.rn.f64 %div_f64, %d, %e;
div.approx.f32 %div_2, %x, %y;
div.full.ftz.f32 %div_3, %x, %y;)"},
      {"rcp_sqrt", sm_75,
       [](Builder& b, const Inputs& t) {
         b.rcp(t.x);
         b.rcp(t.d, {.round = Round::kDown});
         b.sqrt(t.x, {.flush = true});
         b.sqrt(t.d);
       },
       R"(
rcp.rn.f32 %rcp, %x;
rcp.rm.f64 %rcp_f64, %d;
sqrt.rn.ftz.f32 %sqrt, %x;
sqrt.rn.f64 %sqrt_f64, %d;)"},
      {"approximations", sm_75,
       [](Builder& b, const Inputs& t) {
         b.rcp_approx(t.x);
         b.sqrt_approx(t.x, true);
         b.rsqrt(t.x);
         b.rsqrt(t.d);
         b.sin(t.x);
         b.cos(t.x, true);
         b.lg2(t.x);
         b.ex2(t.x, true);
       },
       R"(
rcp.approx.f32 %rcp, %x;
sqrt.approx.ftz.f32 %sqrt, %x;
rsqrt.approx.f32 %rsqrt, %x;
rsqrt.approx.f64 %rsqrt_f64, %d;
sin.approx.f32 %sin, %x;
cos.approx.ftz.f32 %cos, %x;
lg2.approx.f32 %lg2, %x;
ex2.approx.ftz.f32 %ex2, %x;)"},
      {"approximations_half", sm_75,
       [](Builder& b, const Inputs& t) {
         b.ex2(t.f16_a);
         b.ex2(t.f16x2_a);
         b.tanh(t.x);
         b.tanh(t.f16_a);
         b.tanh(t.f16x2_a);
       },
       R"(
ex2.approx.f16 %ex2, %f16_a;
ex2.approx.f16x2 %ex2_b32, %f16x2_a;
tanh.approx.f32 %tanh, %x;
tanh.approx.f16 %tanh_b16, %f16_a;
tanh.approx.f16x2 %tanh_b32, %f16x2_a;)"},
      {"approximations_bf16", sm_90,
       [](Builder& b, const Inputs& t) {
         b.ex2(t.bf16_a);
         b.ex2(t.bf16x2_a);
         b.tanh(t.bf16_a);
         b.tanh(t.bf16x2_a);
       },
       R"(
ex2.approx.ftz.bf16 %ex2, %bf16_a;
ex2.approx.ftz.bf16x2 %ex2_b32, %bf16x2_a;
tanh.approx.bf16 %tanh, %bf16_a;
tanh.approx.bf16x2 %tanh_b32, %bf16x2_a;)"},
      {"copysign", sm_75,
       [](Builder& b, const Inputs& t) {
         b.copysign(t.x, t.y);
         b.copysign(t.d, t.e);
       },
       R"(
copysign.f32 %copysign, %x, %y;
copysign.f64 %copysign_f64, %d, %e;)"},
      {"float_classes", sm_75,
       [](Builder& b, const Inputs& t) {
         b.is(FloatClass::kNan, t.x);
         b.is(FloatClass::kFinite, t.d);
         b.is(FloatClass::kInfinite, t.x);
         b.is(FloatClass::kNumber, t.x);
         b.is(FloatClass::kNormal, t.x);
         b.is(FloatClass::kSubnormal, t.x);
       },
       R"(
testp.notanumber.f32 %testp, %x;
testp.finite.f64 %testp_2, %d;
testp.infinite.f32 %testp_3, %x;
testp.number.f32 %testp_4, %x;
testp.normal.f32 %testp_5, %x;
testp.subnormal.f32 %testp_6, %x;)"},
      {"saturate", sm_75, [](Builder& b, const Inputs& t) { b.saturate(t.x); }, "cvt.sat.f32.f32 %cvt, %x;"},
      {"compare_integers", sm_75,
       [](Builder&, const Inputs& t) {
         t.a == t.b;
         t.a != 3;
         t.i < t.j;
         t.i <= 0;
         t.l > t.m;
         t.v >= t.w;
         t.u16_a < t.u16_b;
         t.b32_a == t.b32_b;
       },
       R"(
setp.eq.u32 %eq, %a, %b;
setp.ne.u32 %ne, %a, 3;
setp.lt.s32 %lt, %i, %j;
setp.le.s32 %le, %i, 0;
setp.gt.u64 %gt, %l, %m;
setp.ge.s64 %ge, %v, %w;
setp.lt.u16 %lt_2, %u16_a, %u16_b;
setp.eq.b32 %eq_2, %b32_a, %b32_b;)"},
      {"compare_floats", sm_75,
       [](Builder&, const Inputs& t) {
         t.x == t.y;
         t.x != t.y;
         t.x < 0.0f;
         t.d >= t.e;
         t.f16_a < t.f16_b;
         t.f16_a > 1.0f;
       },
       R"(
setp.eq.f32 %eq, %x, %y;
setp.neu.f32 %neu, %x, %y;
setp.lt.f32 %lt, %x, 0f00000000;
setp.ge.f64 %ge, %d, %e;
setp.lt.f16 %lt_2, %f16_a, %f16_b;
mov.b16 %constant, 0x3c00;
setp.gt.f16 %gt, %f16_a, %constant;)"},
      {"compare_unordered", sm_75,
       [](Builder& b, const Inputs& t) {
         b.compare(Compare::kLtu, t.x, t.y);
         b.compare(Compare::kEqu, t.d, t.e);
         b.compare(Compare::kNan, t.x, t.x);
         b.compare(Compare::kNum, t.f16_a, t.f16_b);
       },
       R"(
setp.ltu.f32 %ltu, %x, %y;
setp.equ.f64 %equ, %d, %e;
setp.nan.f32 %nan, %x, %x;
setp.num.f16 %num, %f16_a, %f16_b;)"},
      {"compare_bf16", sm_90, [](Builder&, const Inputs& t) { t.bf16_a < t.bf16_b; },
       "setp.lt.bf16 %lt, %bf16_a, %bf16_b;"},
  };
  return kOperations;
}

}  // namespace ptx::testing
