// What the builder writes for conversions: name, oldest target, calls, text.
#include "operations.h"

namespace ptx::testing {

const std::vector<Operation>& conversion_operations() {
  static const std::vector<Operation> kOperations = {
      {"integers", sm_75,
       [](Builder& b, const Inputs& t) {
         b.convert<u64>(t.a);
         b.convert<s64>(t.i);
         b.convert<u16>(t.a);
         b.convert<s8>(t.i);
         b.convert<u32>(t.v);
         b.convert<s32>(t.a);
       },
       R"(
cvt.u64.u32 %cvt, %a;
cvt.s64.s32 %cvt_2, %i;
cvt.u16.u32 %cvt_b16, %a;
cvt.s8.s32 %cvt_b32, %i;
cvt.u32.s64 %cvt_b32_2, %v;
cvt.s32.u32 %cvt_b32_3, %a;)"},
      {"integers_saturated", sm_75,
       [](Builder& b, const Inputs& t) {
         b.convert_saturated<u8>(t.i);
         b.convert_saturated<s8>(t.i);
         b.convert_saturated<u16>(t.a);
         b.convert_saturated<s16>(t.v);
         b.convert_saturated<u32>(t.l);
         b.convert_saturated<s32>(t.l);
         b.convert_saturated<s64>(t.l);
         b.convert_saturated<u8>(t.a);
       },
       R"(
cvt.sat.u8.s32 %cvt, %i;
cvt.sat.s8.s32 %cvt_2, %i;
cvt.sat.u16.u32 %cvt_b16, %a;
cvt.sat.s16.s64 %cvt_b16_2, %v;
cvt.sat.u32.u64 %cvt_3, %l;
cvt.sat.s32.u64 %cvt_4, %l;
cvt.sat.s64.u64 %cvt_b64, %l;
cvt.sat.u8.u32 %cvt_5, %a;)"},
      {"integer_to_float", sm_75,
       [](Builder& b, const Inputs& t) {
         b.convert<f32>(t.i);
         b.convert<f32>(t.a, Round::kZero);
         b.convert<f64>(t.l);
         b.convert<f16>(t.s16_a, Round::kUp);
       },
       R"(
cvt.rn.f32.s32 %cvt, %i;
cvt.rz.f32.u32 %cvt_2, %a;
cvt.rn.f64.u64 %cvt_f64, %l;
cvt.rp.f16.s16 %cvt_b16, %s16_a;)"},
      {"float_to_integer", sm_75,
       [](Builder& b, const Inputs& t) {
         b.convert<s32>(t.x);
         b.convert<u32>(t.x, Round::kNearest);
         b.convert<u64>(t.d, Round::kDown);
         b.convert<s16>(t.f16_a, Round::kUp);
         b.convert<s8>(t.x, Round::kNearest);
         b.convert_saturated<s8>(t.x, Round::kNearest);
       },
       R"(
cvt.rzi.s32.f32 %cvt, %x;
cvt.rni.u32.f32 %cvt_2, %x;
cvt.rmi.u64.f64 %cvt_b64, %d;
cvt.rpi.s16.f16 %cvt_b16, %f16_a;
cvt.rni.s8.f32 %cvt_3, %x;
cvt.rni.sat.s8.f32 %cvt_4, %x;)"},
      {"narrow_floats", sm_75,
       [](Builder& b, const Inputs& t) {
         b.convert<f16>(t.x);
         b.convert<f16>(t.x, Round::kZero);
         b.convert<f32>(t.d);
         b.convert<f16>(t.d, Round::kDown);
         b.convert_saturated<f16>(t.x);
         b.convert_saturated<f32>(t.x);
       },
       R"(
cvt.rn.f16.f32 %cvt, %x;
cvt.rz.f16.f32 %cvt_2, %x;
cvt.rn.f32.f64 %cvt_f32, %d;
cvt.rm.f16.f64 %cvt_3, %d;
cvt.rn.sat.f16.f32 %cvt_4, %x;
cvt.sat.f32.f32 %cvt_f32_2, %x;)"},
      {"widen_floats", sm_75,
       [](Builder& b, const Inputs& t) {
         b.convert<f32>(t.f16_a);
         b.convert<f64>(t.x);
         b.convert<f64>(t.f16_a);
         b.convert_saturated<f32>(t.f16_a);
       },
       R"(
cvt.f32.f16 %cvt, %f16_a;
cvt.f64.f32 %cvt_f64, %x;
cvt.f64.f16 %cvt_f64_2, %f16_a;
cvt.sat.f32.f16 %cvt_2, %f16_a;)"},
      {"same_type", sm_75, [](Builder& b, const Inputs& t) { b.convert<f32>(t.x); }, ""},
      {"bf16", sm_80,
       [](Builder& b, const Inputs& t) {
         b.convert<bf16>(t.x);
         b.convert<bf16>(t.x, Round::kZero);
         b.convert<f32>(t.bf16_a);
       },
       R"(
cvt.rn.bf16.f32 %cvt, %x;
cvt.rz.bf16.f32 %cvt_2, %x;
cvt.f32.bf16 %cvt_f32, %bf16_a;)"},
      {"bf16_integers", sm_90,
       [](Builder& b, const Inputs& t) {
         b.convert<bf16>(t.i);
         b.convert<s32>(t.bf16_a);
         b.convert<u16>(t.bf16_a, Round::kNearest);
       },
       R"(
cvt.rn.bf16.s32 %cvt, %i;
cvt.rzi.s32.bf16 %cvt_b32, %bf16_a;
cvt.rni.u16.bf16 %cvt_2, %bf16_a;)"},
      {"round", sm_75,
       [](Builder& b, const Inputs& t) {
         b.round(t.x, Round::kNearest);
         b.round(t.d, Round::kDown);
         b.round(t.f16_a, Round::kUp);
         b.round(t.x, Round::kZero);
       },
       R"(
cvt.rni.f32.f32 %round, %x;
cvt.rmi.f64.f64 %round_f64, %d;
cvt.rpi.f16.f16 %round_b16, %f16_a;
cvt.rzi.f32.f32 %round_2, %x;)"},
      {"pairs", sm_80,
       [](Builder& b, const Inputs& t) {
         b.convert_pair<f16x2>(t.x, t.y);
         b.convert_pair<bf16x2>(t.x, t.y);
         b.convert_pair<f16x2>(t.x, t.y, Round::kZero);
         b.widen(t.bf16x2_a);
       },
       R"(
cvt.rn.f16x2.f32 %cvt, %y, %x;
cvt.rn.bf16x2.f32 %cvt_2, %y, %x;
cvt.rz.f16x2.f32 %cvt_3, %y, %x;
mov.b32 {%low, %high}, %bf16x2_a;
cvt.f32.bf16 %cvt_f32, %low;
cvt.f32.bf16 %cvt_f32_2, %high;)"},
      {"eight_bit_floats", sm_89,
       [](Builder& b, const Inputs& t) {
         b.to_e4m3x2(t.x, t.y);
         b.to_e5m2x2(t.x, t.y);
         b.from_e4m3x2(t.b16_a);
         b.from_e5m2x2(t.b16_a);
       },
       R"(
cvt.rn.satfinite.e4m3x2.f32 %cvt, %y, %x;
cvt.rn.satfinite.e5m2x2.f32 %cvt_2, %y, %x;
cvt.rn.f16x2.e4m3x2 %cvt_b32, %b16_a;
cvt.rn.f16x2.e5m2x2 %cvt_b32_2, %b16_a;)"},
      {"join_split", sm_75,
       [](Builder& b, const Inputs& t) {
         b.join<f16x2>(t.f16_a, t.f16_b);
         b.join<u64>(t.a, t.b);
         b.join<b32>(t.u16_a, t.u16_b);
         b.join<b64>(t.x, t.y);
         b.split<u32>(t.l);
         b.split<f16>(t.f16x2_a);
         b.split<f32>(t.b64_a);
         b.widen(t.f16x2_a);
       },
       R"(
mov.b32 %join, {%f16_a, %f16_b};
mov.b64 %join_b64, {%a, %b};
mov.b32 %join_2, {%u16_a, %u16_b};
mov.b64 %join_b64_2, {%x, %y};
mov.b64 {%low, %high}, %l;
mov.b32 {%low_b16, %high_b16}, %f16x2_a;
mov.b64 {%low_f32, %high_f32}, %b64_a;
mov.b32 {%low_b16_2, %high_b16_2}, %f16x2_a;
cvt.f32.f16 %cvt, %low_b16_2;
cvt.f32.f16 %cvt_2, %high_b16_2;)"},
      {"wide", sm_75,
       [](Builder&, const Inputs& t) {
         wide(t.a);
         wide(t.i);
       },
       R"(
cvt.u64.u32 %wide, %a;
cvt.s64.s32 %wide_2, %i;)"},
      {"reinterpret", sm_75,
       [](Builder&, const Inputs& t) {
         t.x.as<b32>();
         t.b32_a.as<f32>();
         t.d.as<u64>();
         t.a.as<f16x2>() * t.f16x2_b;
         t.u8x4_a.as<s8x4>();
       },
       R"(
mov.b32 %x_b32, %x;
mov.b32 %b32_a_f32, %b32_a;
mov.b64 %d_b64, %d;
mul.rn.f16x2 %mul, %a, %f16x2_b;)"},
  };
  return kOperations;
}

}  // namespace ptx::testing
