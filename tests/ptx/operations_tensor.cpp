// What the builder writes for matrix products: name, oldest target, calls, text.
#include "operations.h"

namespace ptx::testing {

const std::vector<Operation>& tensor_operations() {
  static const std::vector<Operation> kOperations = {
      {"mma_f16", sm_75,
       [](Builder& b, const Inputs& t) {
         Vec<f16x2, 2> a(t.f16x2_a, t.f16x2_b);
         Vec<f16x2, 1> v(t.f16x2_c);
         auto acc = b.vars<f32, 4>("acc", 0.0f);
         acc = b.mma(a, v, acc);
         b.mma(a, v, {t.x, t.y, t.z, 0.0f});
         b.mma(a, v, a);
       },
       R"(
mov.f32 %acc, 0f00000000;
mov.f32 %acc_2, 0f00000000;
mov.f32 %acc_3, 0f00000000;
mov.f32 %acc_4, 0f00000000;
mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%acc, %acc_2, %acc_3, %acc_4}, {%f16x2_a, %f16x2_b}, {%f16x2_c}, {%acc, %acc_2, %acc_3, %acc_4};
mov.f32 %constant, 0f00000000;
mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%mma, %mma_2, %mma_3, %mma_4}, {%f16x2_a, %f16x2_b}, {%f16x2_c}, {%x, %y, %z, %constant};
mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%mma_b32, %mma_b32_2}, {%f16x2_a, %f16x2_b}, {%f16x2_c}, {%f16x2_a, %f16x2_b};)"},
      {"mma_f16_k16", sm_80,
       [](Builder& b, const Inputs& t) {
         Vec<f16x2, 4> a(t.f16x2_a, t.f16x2_b, t.f16x2_c, t.f16x2_a);
         Vec<f16x2, 2> v = a.slice<2>(1);
         Vec<f32, 4> acc(t.x, t.y, t.z, t.x);
         b.mma(a, v, acc);
         b.mma(a, v, v);
       },
       R"(
mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%mma, %mma_2, %mma_3, %mma_4}, {%f16x2_a, %f16x2_b, %f16x2_c, %f16x2_a}, {%f16x2_b, %f16x2_c}, {%x, %y, %z, %x};
mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%mma_b32, %mma_b32_2}, {%f16x2_a, %f16x2_b, %f16x2_c, %f16x2_a}, {%f16x2_b, %f16x2_c}, {%f16x2_b, %f16x2_c};)"},
      {"mma_bf16", sm_80,
       [](Builder& b, const Inputs& t) {
         Vec<bf16x2, 4> a(t.bf16x2_a, t.bf16x2_b, t.bf16x2_c, t.bf16x2_a);
         Vec<bf16x2, 2> v = a.slice<2>(0);
         Vec<f32, 4> acc(t.x, t.y, t.z, t.x);
         b.mma(a, v, acc);
         b.mma(v, a.slice<1>(3), acc);
       },
       R"(
mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%mma, %mma_2, %mma_3, %mma_4}, {%bf16x2_a, %bf16x2_b, %bf16x2_c, %bf16x2_a}, {%bf16x2_a, %bf16x2_b}, {%x, %y, %z, %x};
mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%mma_5, %mma_6, %mma_7, %mma_8}, {%bf16x2_a, %bf16x2_b}, {%bf16x2_a}, {%x, %y, %z, %x};)"},
      {"mma_s8", sm_75,
       [](Builder& b, const Inputs& t) {
         Vec<s8x4, 1> a(t.s8x4_a);
         Vec<u8x4, 1> v(t.u8x4_a);
         Vec<s32, 2> acc(t.i, t.j);
         b.mma(a, v, acc);
         b.mma(v, v, acc, true);
       },
       R"(
mma.sync.aligned.m8n8k16.row.col.s32.s8.u8.s32 {%mma, %mma_2}, {%s8x4_a}, {%u8x4_a}, {%i, %j};
mma.sync.aligned.m8n8k16.row.col.satfinite.s32.u8.u8.s32 {%mma_3, %mma_4}, {%u8x4_a}, {%u8x4_a}, {%i, %j};)"},
      {"mma_s8_sm_80", sm_80,
       [](Builder& b, const Inputs& t) {
         Vec<s8x4, 2> a(t.s8x4_a, t.s8x4_b);
         Vec<s8x4, 4> a4(t.s8x4_a, t.s8x4_b, t.s8x4_a, t.s8x4_b);
         Vec<s32, 4> acc(t.i, t.j, t.k, t.i);
         b.mma(a, a.slice<1>(0), acc);
         b.mma(a4, a, acc);
       },
       R"(
mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%mma, %mma_2, %mma_3, %mma_4}, {%s8x4_a, %s8x4_b}, {%s8x4_a}, {%i, %j, %k, %i};
mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%mma_5, %mma_6, %mma_7, %mma_8}, {%s8x4_a, %s8x4_b, %s8x4_a, %s8x4_b}, {%s8x4_a, %s8x4_b}, {%i, %j, %k, %i};)"},
      {"ldmatrix", sm_75,
       [](Builder& b, const Inputs& t) {
         auto s = b.shared<f16>("tile", 512);
         b.ldmatrix<1>(s);
         b.ldmatrix<2>(s + t.a * 8);
         b.ldmatrix<4>(s + 64);
         b.ldmatrix_transposed<4>(s);
         b.ldmatrix<1>(s.as<s8>());
       },
       R"(
ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%matrix}, [%tile];
mul.lo.u32 %mul, %a, 8;
mad.lo.u32 %tile_2, %mul, 2, %tile;
ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%matrix_2, %matrix_3}, [%tile_2];
ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%matrix_4, %matrix_5, %matrix_6, %matrix_7}, [%tile+128];
ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%matrix_8, %matrix_9, %matrix_10, %matrix_11}, [%tile];
ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%matrix_12}, [%tile];)"},
      {"stmatrix", sm_90,
       [](Builder& b, const Inputs& t) {
         auto s = b.shared<f16>("tile", 512);
         b.stmatrix<2>(s, Vec<f16x2, 2>(t.f16x2_a, t.f16x2_b));
         b.stmatrix_transposed<1>(s, Vec<f16x2, 1>(t.f16x2_a));
         auto v = b.ldmatrix<4>(s);
         b.stmatrix<4>(s, v);
       },
       R"(
stmatrix.sync.aligned.m8n8.x2.shared.b16 [%tile], {%f16x2_a, %f16x2_b};
stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%tile], {%f16x2_a};
ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%matrix, %matrix_2, %matrix_3, %matrix_4}, [%tile];
stmatrix.sync.aligned.m8n8.x4.shared.b16 [%tile], {%matrix, %matrix_2, %matrix_3, %matrix_4};)"},
      {"wmma_f16", sm_75,
       [](Builder& b, const Inputs& t) {
         auto s = b.shared<f16>("tile", 512, 32);
         auto g = b.pointer<f32>(t.l, 256);
         const auto shape = WmmaShape::kM16N16K16;
         auto a = b.wmma_load_a(shape, Layout::kRow, s, 16);
         auto v = b.wmma_load_b(shape, Layout::kColumn, s + 256, 16);
         auto d = b.wmma_accumulator<f32>(shape, 0.0f);
         b.wmma(a, v, d);
         d[0] = d[0] * 2.0f;
         b.wmma_store(g, d, Layout::kRow, t.a);
       },
       R"(
mov.u64 %l_2, %l;
wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%fragment, %fragment_2, %fragment_3, %fragment_4, %fragment_5, %fragment_6, %fragment_7, %fragment_8}, [%tile], 16;
wmma.load.b.sync.aligned.col.m16n16k16.shared.f16 {%fragment_9, %fragment_10, %fragment_11, %fragment_12, %fragment_13, %fragment_14, %fragment_15, %fragment_16}, [%tile+512], 16;
mov.f32 %fragment_f32, 0f00000000;
mov.f32 %fragment_f32_2, 0f00000000;
mov.f32 %fragment_f32_3, 0f00000000;
mov.f32 %fragment_f32_4, 0f00000000;
mov.f32 %fragment_f32_5, 0f00000000;
mov.f32 %fragment_f32_6, 0f00000000;
mov.f32 %fragment_f32_7, 0f00000000;
mov.f32 %fragment_f32_8, 0f00000000;
wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%fragment_f32, %fragment_f32_2, %fragment_f32_3, %fragment_f32_4, %fragment_f32_5, %fragment_f32_6, %fragment_f32_7, %fragment_f32_8}, {%fragment, %fragment_2, %fragment_3, %fragment_4, %fragment_5, %fragment_6, %fragment_7, %fragment_8}, {%fragment_9, %fragment_10, %fragment_11, %fragment_12, %fragment_13, %fragment_14, %fragment_15, %fragment_16}, {%fragment_f32, %fragment_f32_2, %fragment_f32_3, %fragment_f32_4, %fragment_f32_5, %fragment_f32_6, %fragment_f32_7, %fragment_f32_8};
mul.rn.f32 %fragment_f32, %fragment_f32, 0f40000000;
wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%l_2], {%fragment_f32, %fragment_f32_2, %fragment_f32_3, %fragment_f32_4, %fragment_f32_5, %fragment_f32_6, %fragment_f32_7, %fragment_f32_8}, %a;)"},
      {"wmma_f16_sums", sm_75,
       [](Builder& b, const Inputs&) {
         auto s = b.shared<f16>("tile", 512, 32);
         const auto shape = WmmaShape::kM32N8K16;
         auto a = b.wmma_load_a(shape, Layout::kColumn, s, 16);
         auto v = b.wmma_load_b(shape, Layout::kRow, s, 16);
         auto d = b.wmma_load_c(shape, Layout::kRow, s, 16);
         auto e = b.wmma_accumulator<f16>(shape, 0.0f);
         b.wmma(a, v, d);
         b.wmma(a, v, e);
         b.wmma_store(s, d, Layout::kColumn, 8);
       },
       R"(
wmma.load.a.sync.aligned.col.m32n8k16.shared.f16 {%fragment, %fragment_2, %fragment_3, %fragment_4, %fragment_5, %fragment_6, %fragment_7, %fragment_8}, [%tile], 16;
wmma.load.b.sync.aligned.row.m32n8k16.shared.f16 {%fragment_9, %fragment_10, %fragment_11, %fragment_12, %fragment_13, %fragment_14, %fragment_15, %fragment_16}, [%tile], 16;
wmma.load.c.sync.aligned.row.m32n8k16.shared.f16 {%fragment_17, %fragment_18, %fragment_19, %fragment_20}, [%tile], 16;
mov.b32 %fragment_21, 0;
mov.b32 %fragment_22, 0;
mov.b32 %fragment_23, 0;
mov.b32 %fragment_24, 0;
wmma.mma.sync.aligned.col.row.m32n8k16.f16.f16 {%fragment_17, %fragment_18, %fragment_19, %fragment_20}, {%fragment, %fragment_2, %fragment_3, %fragment_4, %fragment_5, %fragment_6, %fragment_7, %fragment_8}, {%fragment_9, %fragment_10, %fragment_11, %fragment_12, %fragment_13, %fragment_14, %fragment_15, %fragment_16}, {%fragment_17, %fragment_18, %fragment_19, %fragment_20};
wmma.mma.sync.aligned.col.row.m32n8k16.f16.f16 {%fragment_21, %fragment_22, %fragment_23, %fragment_24}, {%fragment, %fragment_2, %fragment_3, %fragment_4, %fragment_5, %fragment_6, %fragment_7, %fragment_8}, {%fragment_9, %fragment_10, %fragment_11, %fragment_12, %fragment_13, %fragment_14, %fragment_15, %fragment_16}, {%fragment_21, %fragment_22, %fragment_23, %fragment_24};
wmma.store.d.sync.aligned.col.m32n8k16.shared.f16 [%tile], {%fragment_17, %fragment_18, %fragment_19, %fragment_20}, 8;)"},
      {"wmma_bf16", sm_80,
       [](Builder& b, const Inputs&) {
         auto s = b.shared<bf16>("tile", 512, 32);
         for (auto shape : {WmmaShape::kM16N16K16, WmmaShape::kM8N32K16, WmmaShape::kM32N8K16}) {
           auto d = b.wmma_accumulator<f32>(shape, 0.0f);
           auto a = b.wmma_load_a(shape, Layout::kRow, s, 16);
           auto v = b.wmma_load_b(shape, Layout::kColumn, s, 16);
           b.wmma(a, v, d);
         }
       },
       R"(
mov.f32 %fragment, 0f00000000;
mov.f32 %fragment_2, 0f00000000;
mov.f32 %fragment_3, 0f00000000;
mov.f32 %fragment_4, 0f00000000;
mov.f32 %fragment_5, 0f00000000;
mov.f32 %fragment_6, 0f00000000;
mov.f32 %fragment_7, 0f00000000;
mov.f32 %fragment_8, 0f00000000;
wmma.load.a.sync.aligned.row.m16n16k16.shared.bf16 {%fragment_b32, %fragment_b32_2, %fragment_b32_3, %fragment_b32_4}, [%tile], 16;
wmma.load.b.sync.aligned.col.m16n16k16.shared.bf16 {%fragment_b32_5, %fragment_b32_6, %fragment_b32_7, %fragment_b32_8}, [%tile], 16;
wmma.mma.sync.aligned.row.col.m16n16k16.f32.bf16.bf16.f32 {%fragment, %fragment_2, %fragment_3, %fragment_4, %fragment_5, %fragment_6, %fragment_7, %fragment_8}, {%fragment_b32, %fragment_b32_2, %fragment_b32_3, %fragment_b32_4}, {%fragment_b32_5, %fragment_b32_6, %fragment_b32_7, %fragment_b32_8}, {%fragment, %fragment_2, %fragment_3, %fragment_4, %fragment_5, %fragment_6, %fragment_7, %fragment_8};
mov.f32 %fragment_9, 0f00000000;
mov.f32 %fragment_10, 0f00000000;
mov.f32 %fragment_11, 0f00000000;
mov.f32 %fragment_12, 0f00000000;
mov.f32 %fragment_13, 0f00000000;
mov.f32 %fragment_14, 0f00000000;
mov.f32 %fragment_15, 0f00000000;
mov.f32 %fragment_16, 0f00000000;
wmma.load.a.sync.aligned.row.m8n32k16.shared.bf16 {%fragment_b32_9, %fragment_b32_10}, [%tile], 16;
wmma.load.b.sync.aligned.col.m8n32k16.shared.bf16 {%fragment_b32_11, %fragment_b32_12, %fragment_b32_13, %fragment_b32_14, %fragment_b32_15, %fragment_b32_16, %fragment_b32_17, %fragment_b32_18}, [%tile], 16;
wmma.mma.sync.aligned.row.col.m8n32k16.f32.bf16.bf16.f32 {%fragment_9, %fragment_10, %fragment_11, %fragment_12, %fragment_13, %fragment_14, %fragment_15, %fragment_16}, {%fragment_b32_9, %fragment_b32_10}, {%fragment_b32_11, %fragment_b32_12, %fragment_b32_13, %fragment_b32_14, %fragment_b32_15, %fragment_b32_16, %fragment_b32_17, %fragment_b32_18}, {%fragment_9, %fragment_10, %fragment_11, %fragment_12, %fragment_13, %fragment_14, %fragment_15, %fragment_16};
mov.f32 %fragment_17, 0f00000000;
mov.f32 %fragment_18, 0f00000000;
mov.f32 %fragment_19, 0f00000000;
mov.f32 %fragment_20, 0f00000000;
mov.f32 %fragment_21, 0f00000000;
mov.f32 %fragment_22, 0f00000000;
mov.f32 %fragment_23, 0f00000000;
mov.f32 %fragment_24, 0f00000000;
wmma.load.a.sync.aligned.row.m32n8k16.shared.bf16 {%fragment_b32_19, %fragment_b32_20, %fragment_b32_21, %fragment_b32_22, %fragment_b32_23, %fragment_b32_24, %fragment_b32_25, %fragment_b32_26}, [%tile], 16;
wmma.load.b.sync.aligned.col.m32n8k16.shared.bf16 {%fragment_b32_27, %fragment_b32_28}, [%tile], 16;
wmma.mma.sync.aligned.row.col.m32n8k16.f32.bf16.bf16.f32 {%fragment_17, %fragment_18, %fragment_19, %fragment_20, %fragment_21, %fragment_22, %fragment_23, %fragment_24}, {%fragment_b32_19, %fragment_b32_20, %fragment_b32_21, %fragment_b32_22, %fragment_b32_23, %fragment_b32_24, %fragment_b32_25, %fragment_b32_26}, {%fragment_b32_27, %fragment_b32_28}, {%fragment_17, %fragment_18, %fragment_19, %fragment_20, %fragment_21, %fragment_22, %fragment_23, %fragment_24};)"},
      {"wmma_s8", sm_75,
       [](Builder& b, const Inputs& t) {
         auto s = b.shared<s8>("tile", 512, 32);
         auto g = b.pointer<s32>(t.l, 256);
         for (auto shape : {WmmaShape::kM16N16K16, WmmaShape::kM8N32K16, WmmaShape::kM32N8K16}) {
           auto d = b.wmma_load_c(shape, Layout::kRow, g, 32);
           auto a = b.wmma_load_a(shape, Layout::kRow, s, 16);
           auto v = b.wmma_load_b(shape, Layout::kColumn, s, 16);
           b.wmma(a, v, d);
           b.wmma_store(g, d, Layout::kRow, 32);
         }
       },
       R"(
mov.u64 %l_2, %l;
wmma.load.c.sync.aligned.row.m16n16k16.global.s32 {%fragment, %fragment_2, %fragment_3, %fragment_4, %fragment_5, %fragment_6, %fragment_7, %fragment_8}, [%l_2], 32;
wmma.load.a.sync.aligned.row.m16n16k16.shared.s8 {%fragment_9, %fragment_10}, [%tile], 16;
wmma.load.b.sync.aligned.col.m16n16k16.shared.s8 {%fragment_11, %fragment_12}, [%tile], 16;
wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32 {%fragment, %fragment_2, %fragment_3, %fragment_4, %fragment_5, %fragment_6, %fragment_7, %fragment_8}, {%fragment_9, %fragment_10}, {%fragment_11, %fragment_12}, {%fragment, %fragment_2, %fragment_3, %fragment_4, %fragment_5, %fragment_6, %fragment_7, %fragment_8};
wmma.store.d.sync.aligned.row.m16n16k16.global.s32 [%l_2], {%fragment, %fragment_2, %fragment_3, %fragment_4, %fragment_5, %fragment_6, %fragment_7, %fragment_8}, 32;
wmma.load.c.sync.aligned.row.m8n32k16.global.s32 {%fragment_13, %fragment_14, %fragment_15, %fragment_16, %fragment_17, %fragment_18, %fragment_19, %fragment_20}, [%l_2], 32;
wmma.load.a.sync.aligned.row.m8n32k16.shared.s8 {%fragment_21}, [%tile], 16;
wmma.load.b.sync.aligned.col.m8n32k16.shared.s8 {%fragment_22, %fragment_23, %fragment_24, %fragment_25}, [%tile], 16;
wmma.mma.sync.aligned.row.col.m8n32k16.s32.s8.s8.s32 {%fragment_13, %fragment_14, %fragment_15, %fragment_16, %fragment_17, %fragment_18, %fragment_19, %fragment_20}, {%fragment_21}, {%fragment_22, %fragment_23, %fragment_24, %fragment_25}, {%fragment_13, %fragment_14, %fragment_15, %fragment_16, %fragment_17, %fragment_18, %fragment_19, %fragment_20};
wmma.store.d.sync.aligned.row.m8n32k16.global.s32 [%l_2], {%fragment_13, %fragment_14, %fragment_15, %fragment_16, %fragment_17, %fragment_18, %fragment_19, %fragment_20}, 32;
wmma.load.c.sync.aligned.row.m32n8k16.global.s32 {%fragment_26, %fragment_27, %fragment_28, %fragment_29, %fragment_30, %fragment_31, %fragment_32, %fragment_33}, [%l_2], 32;
wmma.load.a.sync.aligned.row.m32n8k16.shared.s8 {%fragment_34, %fragment_35, %fragment_36, %fragment_37}, [%tile], 16;
wmma.load.b.sync.aligned.col.m32n8k16.shared.s8 {%fragment_38}, [%tile], 16;
wmma.mma.sync.aligned.row.col.m32n8k16.s32.s8.s8.s32 {%fragment_26, %fragment_27, %fragment_28, %fragment_29, %fragment_30, %fragment_31, %fragment_32, %fragment_33}, {%fragment_34, %fragment_35, %fragment_36, %fragment_37}, {%fragment_38}, {%fragment_26, %fragment_27, %fragment_28, %fragment_29, %fragment_30, %fragment_31, %fragment_32, %fragment_33};
wmma.store.d.sync.aligned.row.m32n8k16.global.s32 [%l_2], {%fragment_26, %fragment_27, %fragment_28, %fragment_29, %fragment_30, %fragment_31, %fragment_32, %fragment_33}, 32;)"},
  };
  return kOperations;
}

}  // namespace ptx::testing
