// dp4a and dp2a in every mixture of signs: to[i] = c[i] + the dot product of the bytes (and halfwords) of a[i], b[i].

#define DOT(name, expression)                                                                                        \
  extern "C" __global__ void name(const unsigned* as, const unsigned* bs, const unsigned* cs, unsigned* to, int n) { \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                                                             \
    if (i >= n) return;                                                                                              \
    const unsigned a = as[i], b = bs[i], c = cs[i];                                                                  \
    to[i] = (unsigned)(expression);                                                                                  \
  }

__device__ unsigned dp4a_mixed_su(unsigned a, unsigned b, unsigned c) {
  asm("dp4a.s32.u32 %0, %1, %2, %0;" : "+r"(c) : "r"(a), "r"(b));
  return c;
}
__device__ unsigned dp4a_mixed_us(unsigned a, unsigned b, unsigned c) {
  asm("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(c) : "r"(a), "r"(b));
  return c;
}
__device__ unsigned dp2a_mixed_su(unsigned a, unsigned b, unsigned c) {
  asm("dp2a.hi.s32.u32 %0, %1, %2, %0;" : "+r"(c) : "r"(a), "r"(b));
  return c;
}

DOT(dp4a_ss, __dp4a((int)a, (int)b, (int)c))
DOT(dp4a_uu, __dp4a(a, b, c))
DOT(dp4a_su, dp4a_mixed_su(a, b, c))
DOT(dp4a_us, dp4a_mixed_us(a, b, c))
DOT(dp2a_lo_ss, __dp2a_lo((int)a, (int)b, (int)c))
DOT(dp2a_lo_uu, __dp2a_lo(a, b, c))
DOT(dp2a_hi_ss, __dp2a_hi((int)a, (int)b, (int)c))
DOT(dp2a_hi_uu, __dp2a_hi(a, b, c))
DOT(dp2a_hi_su, dp2a_mixed_su(a, b, c))
