// SIMD within a word (__vadd4 and its family) and PTX's scalar and SIMD video instructions: to[i] = f(a[i], b[i],
// c[i]).

#define OPERATION(name, expression)                                                                                  \
  extern "C" __global__ void name(const unsigned* as, const unsigned* bs, const unsigned* cs, unsigned* to, int n) { \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                                                             \
    if (i >= n) return;                                                                                              \
    const unsigned a = as[i], b = bs[i], c = cs[i];                                                                  \
    (void)a, (void)b, (void)c;                                                                                       \
    to[i] = expression;                                                                                              \
  }

#define BYTES_AND_HALVES(name, arguments)   \
  OPERATION(name##4, __##name##4 arguments) \
  OPERATION(name##2, __##name##2 arguments)

BYTES_AND_HALVES(vadd, (a, b))
BYTES_AND_HALVES(vaddss, (a, b))
BYTES_AND_HALVES(vaddus, (a, b))
BYTES_AND_HALVES(vsub, (a, b))
BYTES_AND_HALVES(vsubss, (a, b))
BYTES_AND_HALVES(vsubus, (a, b))
BYTES_AND_HALVES(vneg, (a))
BYTES_AND_HALVES(vabs, (a))
BYTES_AND_HALVES(vabsss, (a))
BYTES_AND_HALVES(vavgs, (a, b))
BYTES_AND_HALVES(vavgu, (a, b))
BYTES_AND_HALVES(vhaddu, (a, b))
BYTES_AND_HALVES(vmins, (a, b))
BYTES_AND_HALVES(vminu, (a, b))
BYTES_AND_HALVES(vmaxs, (a, b))
BYTES_AND_HALVES(vmaxu, (a, b))
BYTES_AND_HALVES(vcmpeq, (a, b))
BYTES_AND_HALVES(vcmpgts, (a, b))
BYTES_AND_HALVES(vcmpleu, (a, b))
BYTES_AND_HALVES(vsetlts, (a, b))
BYTES_AND_HALVES(vsetgeu, (a, b))
BYTES_AND_HALVES(vabsdiffs, (a, b))
BYTES_AND_HALVES(vabsdiffu, (a, b))
BYTES_AND_HALVES(vsads, (a, b))
BYTES_AND_HALVES(vsadu, (a, b))

#define INSTRUCTION(name, text)                                        \
  __device__ unsigned ptx_##name(unsigned a, unsigned b, unsigned c) { \
    unsigned d;                                                        \
    asm(text : "=r"(d) : "r"(a), "r"(b), "r"(c));                      \
    return d;                                                          \
  }                                                                    \
  OPERATION(name, ptx_##name(a, b, c))

// Scalar: one byte or halfword of each operand, then an optional second operation or a merge into c.
INSTRUCTION(vadd_bytes, "vadd.s32.u32.s32 %0, %1.b1, %2.b3;")
INSTRUCTION(vadd_saturating, "vadd.u32.s32.s32.sat %0, %1.h0, %2.h1;")
INSTRUCTION(vadd_then_add, "vadd.s32.s32.s32.add %0, %1.b0, %2.h1, %3;")
INSTRUCTION(vsub_merged, "vsub.u32.u32.u32.sat %0.b2, %1.b1, %2.b3, %3;")
INSTRUCTION(vabsdiff_then_max, "vabsdiff.u32.s32.s32.max %0, %1.h1, %2.h0, %3;")
INSTRUCTION(vmin_then_min, "vmin.s32.s32.u32.min %0, %1.b2, %2.b2, %3;")
INSTRUCTION(vmax_words, "vmax.u32.u32.u32 %0, %1, %2;")
INSTRUCTION(vshl_clamp, "vshl.u32.u32.u32.clamp %0, %1.h0, %2.b0;")
INSTRUCTION(vshl_wrap, "vshl.u32.u32.u32.wrap %0, %1, %2.b1;")
INSTRUCTION(vshr_then_add, "vshr.s32.s32.u32.clamp.add %0, %1, %2.b0, %3;")
INSTRUCTION(vmad_bytes, "vmad.s32.s32.u32 %0, %1.b0, %2.b3, %3;")
INSTRUCTION(vmad_shifted, "vmad.u32.u32.u32.shr7 %0, %1.h0, %2.h1, %3;")
INSTRUCTION(vmad_saturating, "vmad.s32.s32.s32.sat.shr15 %0, %1, %2, %3;")
INSTRUCTION(vmad_plus_one, "vmad.s32.s32.s32.po %0, %1.h0, %2.h0, %3;")
INSTRUCTION(vmad_negated, "vmad.s32.s32.s32 %0, %1.b0, %2.b1, -%3;")
INSTRUCTION(vset_less, "vset.s32.u32.lt %0, %1.b0, %2.b1;")
INSTRUCTION(vset_then_add, "vset.u32.u32.ge.add %0, %1.h0, %2.h1, %3;")

// SIMD: selections across both operands, masks of elements to write, sums of all elements.
INSTRUCTION(vadd4_selected, "vadd4.s32.s32.u32.sat %0.b3210, %1.b0123, %2.b7654, %3;")
INSTRUCTION(vadd2_masked, "vadd2.u32.u32.s32 %0.h1, %1.h10, %2.h32, %3;")
INSTRUCTION(vsub4_summed, "vsub4.s32.u32.u32.add %0, %1.b3210, %2.b7654, %3;")
INSTRUCTION(vabsdiff4_summed, "vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;")
INSTRUCTION(vavrg2_signed, "vavrg2.s32.s32.s32 %0, %1, %2, %3;")
INSTRUCTION(vmax4_mixed, "vmax4.s32.s32.s32 %0, %1.b5140, %2.b7362, %3;")
INSTRUCTION(vset4_summed, "vset4.u32.u32.lt.add %0, %1, %2, %3;")
