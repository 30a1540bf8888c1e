// Arithmetic of half, half2, bfloat16 and bfloat162. to[i] = operation(a[i], b[i], c[i]); packed types take two at
// once.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

using f16 = __half;
using f16x2 = __half2;
using bf16 = __nv_bfloat16;
using bf16x2 = __nv_bfloat162;

#define OPERATION(name, type, expression)                                                            \
  extern "C" __global__ void name(const type* as, const type* bs, const type* cs, type* to, int n) { \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                                             \
    if (i >= n) return;                                                                              \
    const type a = as[i], b = bs[i], c = cs[i];                                                      \
    (void)a, (void)b, (void)c;                                                                       \
    to[i] = expression;                                                                              \
  }
#define SINGLE(name, expression)         \
  OPERATION(name##_f16, f16, expression) \
  OPERATION(name##_bf16, bf16, expression)
#define PACKED(name, expression)             \
  OPERATION(name##_f16x2, f16x2, expression) \
  OPERATION(name##_bf16x2, bf16x2, expression)
#define BOTH(name, single, packed) SINGLE(name, single) PACKED(name, packed)

BOTH(add, __hadd(a, b), __hadd2(a, b))
BOTH(sub, __hsub(a, b), __hsub2(a, b))
BOTH(mul, __hmul(a, b), __hmul2(a, b))
BOTH(add_rn, __hadd_rn(a, b), __hadd2_rn(a, b))
BOTH(mul_rn, __hmul_rn(a, b), __hmul2_rn(a, b))
BOTH(add_sat, __hadd_sat(a, b), __hadd2_sat(a, b))
BOTH(mul_sat, __hmul_sat(a, b), __hmul2_sat(a, b))
BOTH(neg, __hneg(a), __hneg2(a))
BOTH(abs, __habs(a), __habs2(a))
BOTH(min, __hmin(a, b), __hmin2(a, b))
BOTH(max, __hmax(a, b), __hmax2(a, b))
BOTH(min_nan, __hmin_nan(a, b), __hmin2_nan(a, b))
BOTH(max_nan, __hmax_nan(a, b), __hmax2_nan(a, b))
BOTH(div, __hdiv(a, b), __h2div(a, b))
PACKED(equal, __heq2(a, b))
PACKED(not_equal, __hne2(a, b))
PACKED(less, __hlt2(a, b))
PACKED(less_unordered, __hltu2(a, b))
PACKED(greater_equal, __hge2(a, b))
PACKED(is_nan, __hisnan2(a))
PACKED(swap, __lowhigh2highlow(a))
OPERATION(fma_f16, f16, __hfma(a, b, c))
OPERATION(fma_f16x2, f16x2, __hfma2(a, b, c))
OPERATION(fma_sat_f16, f16, __hfma_sat(a, b, c))
OPERATION(fma_sat_f16x2, f16x2, __hfma2_sat(a, b, c))
#if __CUDA_ARCH__ >= 800
OPERATION(fma_bf16, bf16, __hfma(a, b, c))
OPERATION(fma_bf16x2, bf16x2, __hfma2(a, b, c))
OPERATION(fma_sat_bf16, bf16, __hfma_sat(a, b, c))
OPERATION(fma_sat_bf16x2, bf16x2, __hfma2_sat(a, b, c))
BOTH(fma_relu, __hfma_relu(a, b, c), __hfma2_relu(a, b, c))
PACKED(complex_fma, __hcmadd(a, b, c))
#endif

// Roundings to integers and functions, in the type itself.
SINGLE(floor, hfloor(a))
SINGLE(ceil, hceil(a))
SINGLE(trunc, htrunc(a))
SINGLE(rint, hrint(a))
SINGLE(sqrt, hsqrt(a))
SINGLE(rsqrt, hrsqrt(a))
SINGLE(rcp, hrcp(a))
SINGLE(exp, hexp(a))
SINGLE(exp2, hexp2(a))
SINGLE(log, hlog(a))
SINGLE(log2, hlog2(a))
SINGLE(sin, hsin(a))
SINGLE(cos, hcos(a))
SINGLE(tanh, htanh(a))

// Comparisons as bits of a mask: == != < <= > >=, then the same six true with NaN (unordered).
#define COMPARE(type)                                                                                          \
  extern "C" __global__ void compare_##type(const type* as, const type* bs, unsigned* to, int n) {             \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                                                       \
    if (i >= n) return;                                                                                        \
    const type a = as[i], b = bs[i];                                                                           \
    to[i] = __heq(a, b) | __hne(a, b) << 1 | __hlt(a, b) << 2 | __hle(a, b) << 3 | __hgt(a, b) << 4 |          \
            __hge(a, b) << 5 | __hequ(a, b) << 6 | __hneu(a, b) << 7 | __hltu(a, b) << 8 | __hleu(a, b) << 9 | \
            __hgtu(a, b) << 10 | __hgeu(a, b) << 11;                                                           \
  }
COMPARE(f16)
COMPARE(bf16)

// y[i] = a * x[i] + y[i] by pairs; the last odd one alone.
extern "C" __global__ void half_axpy(f16 a, const f16* x, f16* y, int n) {
  const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i + 1 < n)
    *(f16x2*)&y[i] = __hfma2(__half2half2(a), *(const f16x2*)&x[i], *(const f16x2*)&y[i]);
  else if (i < n)
    y[i] = __hfma(a, x[i], y[i]);
}

// Comparisons of pairs as two masks of 16 bits: to[0][i] greater, to[1][i] less or unordered, to[2][i] equal.
#define MASKS(type)                                                                              \
  extern "C" __global__ void masks_##type(const type* as, const type* bs, unsigned* to, int n) { \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                                         \
    if (i >= n) return;                                                                          \
    to[i] = __hgt2_mask(as[i], bs[i]);                                                           \
    to[n + i] = __hltu2_mask(as[i], bs[i]);                                                      \
    to[2 * n + i] = __heq2_mask(as[i], bs[i]);                                                   \
  }
MASKS(f16x2)
MASKS(bf16x2)
