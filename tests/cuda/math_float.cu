// CUDA's single-precision math library: y[i] = function(x[i]), or of two or three arguments. The test knows the error
// bounds of the CUDA programming guide; compiled with -use_fast_math many become approximations with other bounds.

#define UNARY(function)                                                      \
  extern "C" __global__ void f_##function(const float* x, float* y, int n) { \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                     \
    if (i < n) y[i] = function(x[i]);                                        \
  }
#define BINARY(function)                                                                     \
  extern "C" __global__ void f_##function(const float* a, const float* b, float* y, int n) { \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                                     \
    if (i < n) y[i] = function(a[i], b[i]);                                                  \
  }

__device__ float divide(float a, float b) { return a / b; }
__device__ float sum(float a, float b) { return a + b; }
__device__ float product(float a, float b) { return a * b; }
__device__ float reciprocal(float x) { return 1.0f / x; }

UNARY(sinf)
UNARY(cosf)
UNARY(tanf)
UNARY(sinpif)
UNARY(cospif)
UNARY(asinf)
UNARY(acosf)
UNARY(atanf)
UNARY(sinhf)
UNARY(coshf)
UNARY(tanhf)
UNARY(asinhf)
UNARY(acoshf)
UNARY(atanhf)
UNARY(expf)
UNARY(exp2f)
UNARY(exp10f)
UNARY(expm1f)
UNARY(logf)
UNARY(log2f)
UNARY(log10f)
UNARY(log1pf)
UNARY(sqrtf)
UNARY(rsqrtf)
UNARY(cbrtf)
UNARY(erff)
UNARY(erfcf)
UNARY(erfinvf)
UNARY(normcdff)
UNARY(tgammaf)
UNARY(lgammaf)
UNARY(j0f)
UNARY(floorf)
UNARY(ceilf)
UNARY(truncf)
UNARY(roundf)
UNARY(rintf)
UNARY(fabsf)
UNARY(reciprocal)
BINARY(powf)
BINARY(atan2f)
BINARY(hypotf)
BINARY(fmodf)
BINARY(remainderf)
BINARY(fdimf)
BINARY(fminf)
BINARY(fmaxf)
BINARY(copysignf)
BINARY(nextafterf)
BINARY(divide)
BINARY(sum)
BINARY(product)

// Roundings of the basic operations, eight results an element: + and * in rn, rz, rd, ru.
extern "C" __global__ void f_rounded(const float* a, const float* b, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float* to = y + 8 * i;
  to[0] = __fadd_rn(a[i], b[i]), to[1] = __fadd_rz(a[i], b[i]);
  to[2] = __fadd_rd(a[i], b[i]), to[3] = __fadd_ru(a[i], b[i]);
  to[4] = __fmul_rn(a[i], b[i]), to[5] = __fmul_rz(a[i], b[i]);
  to[6] = __fmul_rd(a[i], b[i]), to[7] = __fmul_ru(a[i], b[i]);
}

// The same of a / b, sqrt(|a|), and fma(a, b, -a).
extern "C" __global__ void f_rounded_more(const float* a, const float* b, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float* to = y + 12 * i;
  const float root = fabsf(a[i]);
  to[0] = __fdiv_rn(a[i], b[i]), to[1] = __fdiv_rz(a[i], b[i]);
  to[2] = __fdiv_rd(a[i], b[i]), to[3] = __fdiv_ru(a[i], b[i]);
  to[4] = __fsqrt_rn(root), to[5] = __fsqrt_rz(root);
  to[6] = __fsqrt_rd(root), to[7] = __fsqrt_ru(root);
  to[8] = __fmaf_rn(a[i], b[i], -a[i]), to[9] = __fmaf_rz(a[i], b[i], -a[i]);
  to[10] = __fmaf_rd(a[i], b[i], -a[i]), to[11] = __fmaf_ru(a[i], b[i], -a[i]);
}

// What splits a number: mantissa and exponent, whole and fraction, sine and cosine, class bits.
extern "C" __global__ void f_parts(const float* x, float* y, int* k, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int exponent = 0, quotient = 0;
  float whole, sine, cosine;
  y[6 * i] = frexpf(x[i], &exponent);
  y[6 * i + 1] = modff(x[i], &whole);
  y[6 * i + 2] = whole;
  sincosf(x[i], &sine, &cosine);
  y[6 * i + 3] = sine * sine + cosine * cosine;
  y[6 * i + 4] = ldexpf(x[i], 3);
  y[6 * i + 5] = remquof(x[i], 3.0f, &quotient);
  k[4 * i] = exponent;
  k[4 * i + 1] = quotient & 7;
  k[4 * i + 2] = isnan(x[i]) | isinf(x[i]) << 1 | isfinite(x[i]) << 2 | (signbit(x[i]) != 0) << 3;
  k[4 * i + 3] = isnan(x[i]) || isinf(x[i]) || x[i] == 0 ? 0 : ilogbf(x[i]);
}
