// The fast intrinsics, one instruction or a few each: y[i] = __function(x[i]); errors are bounded by the CUDA guide.

#define UNARY(function)                                                     \
  extern "C" __global__ void i##function(const float* x, float* y, int n) { \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                    \
    if (i < n) y[i] = function(x[i]);                                       \
  }
__device__ float __ex2_ftz(float x) {
  asm("ex2.approx.ftz.f32 %0, %0;" : "+f"(x));
  return x;
}
__device__ float __tanh_approx(float x) {
  asm("tanh.approx.f32 %0, %0;" : "+f"(x));
  return x;
}
__device__ float __rcp_approx(float x) {
  asm("rcp.approx.f32 %0, %0;" : "+f"(x));
  return x;
}
__device__ float __sqrt_approx(float x) {
  asm("sqrt.approx.f32 %0, %0;" : "+f"(x));
  return x;
}

UNARY(__sinf)
UNARY(__cosf)
UNARY(__expf)
UNARY(__exp10f)
UNARY(__logf)
UNARY(__log2f)
UNARY(__log10f)
UNARY(__frsqrt_rn)
UNARY(__frcp_rn)
UNARY(__saturatef)
UNARY(__ex2_ftz)
UNARY(__tanh_approx)
UNARY(__rcp_approx)
UNARY(__sqrt_approx)

extern "C" __global__ void i__fdividef(const float* a, const float* b, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __fdividef(a[i], b[i]);
}

extern "C" __global__ void i__powf(const float* a, const float* b, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __powf(a[i], b[i]);
}
