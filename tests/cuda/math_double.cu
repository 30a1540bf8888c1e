// CUDA's double-precision math library: y[i] = function(x[i]), or of two arguments.

#define UNARY(function)                                                        \
  extern "C" __global__ void d_##function(const double* x, double* y, int n) { \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                       \
    if (i < n) y[i] = function(x[i]);                                          \
  }
#define BINARY(function)                                                                        \
  extern "C" __global__ void d_##function(const double* a, const double* b, double* y, int n) { \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                                        \
    if (i < n) y[i] = function(a[i], b[i]);                                                     \
  }

__device__ double divide(double a, double b) { return a / b; }
__device__ double reciprocal(double x) { return 1.0 / x; }

UNARY(sin)
UNARY(cos)
UNARY(tan)
UNARY(asin)
UNARY(acos)
UNARY(atan)
UNARY(sinh)
UNARY(cosh)
UNARY(tanh)
UNARY(asinh)
UNARY(exp)
UNARY(exp2)
UNARY(exp10)
UNARY(expm1)
UNARY(log)
UNARY(log2)
UNARY(log10)
UNARY(log1p)
UNARY(sqrt)
UNARY(rsqrt)
UNARY(cbrt)
UNARY(erf)
UNARY(erfc)
UNARY(tgamma)
UNARY(lgamma)
UNARY(floor)
UNARY(rint)
UNARY(round)
UNARY(reciprocal)
BINARY(pow)
BINARY(atan2)
BINARY(hypot)
BINARY(fmod)
BINARY(fmin)
BINARY(fmax)
BINARY(copysign)
BINARY(divide)

// Roundings, twelve results an element: +, * and fma(a, b, -a) in rn, rz, rd, ru.
extern "C" __global__ void d_rounded(const double* a, const double* b, double* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double* to = y + 12 * i;
  to[0] = __dadd_rn(a[i], b[i]), to[1] = __dadd_rz(a[i], b[i]);
  to[2] = __dadd_rd(a[i], b[i]), to[3] = __dadd_ru(a[i], b[i]);
  to[4] = __dmul_rn(a[i], b[i]), to[5] = __dmul_rz(a[i], b[i]);
  to[6] = __dmul_rd(a[i], b[i]), to[7] = __dmul_ru(a[i], b[i]);
  to[8] = __fma_rn(a[i], b[i], -a[i]), to[9] = __fma_rz(a[i], b[i], -a[i]);
  to[10] = __fma_rd(a[i], b[i], -a[i]), to[11] = __fma_ru(a[i], b[i], -a[i]);
}
