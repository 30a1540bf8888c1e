// Integer arithmetic at its corners: division, remainders, shifts, high products, bit tricks, 64 and 128 bits.
// to[i] = operation(a[i], b[i]).

#define OPERATION(name, type, to_type, expression)                                      \
  extern "C" __global__ void name(const type* as, const type* bs, to_type* to, int n) { \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                                \
    if (i >= n) return;                                                                 \
    const type a = as[i], b = bs[i];                                                    \
    (void)a, (void)b;                                                                   \
    to[i] = expression;                                                                 \
  }
using s8 = signed char;
using u8 = unsigned char;
using s16 = short;
using u16 = unsigned short;
using s32 = int;
using u32 = unsigned;
using s64 = long long;
using u64 = unsigned long long;

#define DIVISION(type)                     \
  OPERATION(div_##type, type, type, a / b) \
  OPERATION(rem_##type, type, type, a % b)
DIVISION(s8)
DIVISION(u8)
DIVISION(s16)
DIVISION(u16)
DIVISION(s32)
DIVISION(u32)
DIVISION(s64)
DIVISION(u64)

// By constants, which nvcc turns into high products and shifts.
OPERATION(by_7_s32, s32, s32, a / 7 * 10 + a % 7)
OPERATION(by_10_u32, u32, u32, a / 10 * 16 + a % 10)
OPERATION(by_8_s32, s32, s32, a / 8 * 16 + a % 8)
OPERATION(by_1000_s64, s64, s64, a / 1000 ^ a % 1000)
OPERATION(by_3_u64, u64, u64, a / 3 ^ a % 3)

OPERATION(mulhi_s32, s32, s32, __mulhi(a, b))
OPERATION(mulhi_u32, u32, u32, __umulhi(a, b))
OPERATION(mulhi_s64, s64, s64, __mul64hi(a, b))
OPERATION(mulhi_u64, u64, u64, __umul64hi(a, b))
OPERATION(mul24_s32, s32, s32, __mul24(a, b))
OPERATION(mul24_u32, u32, u32, __umul24(a, b))
OPERATION(wide_s32, s32, s64, (s64)a* b)
OPERATION(wide_u32, u32, u64, (u64)a* b)
OPERATION(wide_mad_s32, s32, s64, (s64)a* b + a)
OPERATION(mul_s64, s64, s64, (s64)((u64)a*(u64)b))
OPERATION(mul_s16, s16, s32, a* b)

// Shifts by any amount, as PTX defines them: an amount past the width clamps to it.
template <class T>
__device__ T shl(T a, u32 n) {
  if (sizeof(T) == 8)
    asm("shl.b64 %0, %1, %2;" : "=l"(*(u64*)&a) : "l"((u64)a), "r"(n));
  else
    asm("shl.b32 %0, %1, %2;" : "=r"(*(u32*)&a) : "r"((u32)a), "r"(n));
  return a;
}
__device__ s32 shr(s32 a, u32 n) {
  asm("shr.s32 %0, %0, %1;" : "+r"(a) : "r"(n));
  return a;
}
__device__ u32 shr(u32 a, u32 n) {
  asm("shr.u32 %0, %0, %1;" : "+r"(a) : "r"(n));
  return a;
}
__device__ s64 shr(s64 a, u32 n) {
  asm("shr.s64 %0, %0, %1;" : "+l"(a) : "r"(n));
  return a;
}
__device__ u64 shr(u64 a, u32 n) {
  asm("shr.u64 %0, %0, %1;" : "+l"(a) : "r"(n));
  return a;
}
OPERATION(shl_u32, u32, u32, shl(a, b))
OPERATION(shl_u64, u64, u64, shl(a, (u32)b))
OPERATION(shr_s32, s32, s32, shr(a, (u32)b))
OPERATION(shr_u32, u32, u32, shr(a, b))
OPERATION(shr_s64, s64, s64, shr(a, (u32)b))
OPERATION(shr_u64, u64, u64, shr(a, (u32)b))
OPERATION(shift_s8, s8, s8, (s8)(a >> (b & 7)) ^ (s8)(a << (b & 7)))
OPERATION(shift_u16, u16, u16, (u16)(a >> (b & 15)) ^ (u16)(a << (b & 15)))
OPERATION(funnel_l, u32, u32, __funnelshift_l(a, ~a, b))
OPERATION(funnel_lc, u32, u32, __funnelshift_lc(a, ~a, b))
OPERATION(funnel_r, u32, u32, __funnelshift_r(a, ~a, b))
OPERATION(funnel_rc, u32, u32, __funnelshift_rc(a, ~a, b))
OPERATION(rotate_u64, u64, u64, a << (b & 63) | a >> (-b & 63))

OPERATION(clz_s32, s32, s32, __clz(a))
OPERATION(clz_s64, s64, s32, __clzll(a))
OPERATION(ffs_s32, s32, s32, __ffs(a))
OPERATION(ffs_s64, s64, s32, __ffsll(a))
OPERATION(popc_u32, u32, s32, __popc(a))
OPERATION(popc_u64, u64, s32, __popcll(a))
OPERATION(brev_u32, u32, u32, __brev(a))
OPERATION(brev_u64, u64, u64, __brevll(a))
OPERATION(byte_perm, u32, u32, __byte_perm(a, ~a, b))
OPERATION(fns, u32, u32, __fns(a, b % 32, 1))
OPERATION(sad_s32, s32, u32, __sad(a, b, 7u))
OPERATION(sad_u32, u32, u32, __usad(a, b, 7u))
OPERATION(hadd_s32, s32, s32, __hadd(a, b))
OPERATION(rhadd_s32, s32, s32, __rhadd(a, b))
OPERATION(hadd_u32, u32, u32, __uhadd(a, b))
OPERATION(rhadd_u32, u32, u32, __urhadd(a, b))
OPERATION(min_s64, s64, s64, a < b ? a : b)
OPERATION(max_u64, u64, u64, a > b ? a : b)
OPERATION(abs_s32, s32, u32, (u32)(a < 0 ? 0u - (u32)a : (u32)a))
OPERATION(compare_s64, s64, s32, (a < b) | (a <= b) << 1 | (a == b) << 2 | ((u64)a < (u64)b) << 3)

// Bit fields: position in the second byte of b, length in the first, by PTX's own instructions.
__device__ s32 bfe_s(s32 a, u32 at, u32 length) {
  asm("bfe.s32 %0, %0, %1, %2;" : "+r"(a) : "r"(at), "r"(length));
  return a;
}
__device__ u32 bfe_u(u32 a, u32 at, u32 length) {
  asm("bfe.u32 %0, %0, %1, %2;" : "+r"(a) : "r"(at), "r"(length));
  return a;
}
__device__ u32 bfi(u32 from, u32 into, u32 at, u32 length) {
  asm("bfi.b32 %0, %0, %1, %2, %3;" : "+r"(from) : "r"(into), "r"(at), "r"(length));
  return from;
}
OPERATION(bfe_s32, s32, s32, bfe_s(a, (u32)b >> 8 & 255, b & 255))
OPERATION(bfe_u32, u32, u32, bfe_u(a, b >> 8 & 255, b & 255))
OPERATION(bfi_u32, u32, u32, bfi(a, 0xa5a5a5a5, b >> 8 & 255, b & 255))

// 32-bit operations whose results keep to the ends of the range.
__device__ s32 add_saturating(s32 a, s32 b) {
  asm("add.sat.s32 %0, %0, %1;" : "+r"(a) : "r"(b));
  return a;
}
__device__ s32 sub_saturating(s32 a, s32 b) {
  asm("sub.sat.s32 %0, %0, %1;" : "+r"(a) : "r"(b));
  return a;
}
__device__ s32 mad_hi_saturating(s32 a, s32 b) {
  asm("mad.hi.sat.s32 %0, %0, %1, %0;" : "+r"(a) : "r"(b));
  return a;
}
OPERATION(add_sat, s32, s32, add_saturating(a, b))
OPERATION(sub_sat, s32, s32, sub_saturating(a, b))
OPERATION(mad_hi_sat, s32, s32, mad_hi_saturating(a, b))

// 128 bits: the low and high word of product, quotient and remainder; a and b are pairs of words. to has 8 words.
extern "C" __global__ void wide_128(const u64* as, const u64* bs, u64* to, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  using u128 = unsigned __int128;
  const u128 a = (u128)as[2 * i + 1] << 64 | as[2 * i], b = (u128)bs[2 * i + 1] << 64 | bs[2 * i];
  const u128 sum = a + b, difference = a - b, product = a * b, shifted = (__int128)a >> (bs[2 * i] & 127);
  u64* out = to + 8 * i;
  out[0] = (u64)sum, out[1] = (u64)(sum >> 64);
  out[2] = (u64)difference, out[3] = (u64)(difference >> 64);
  out[4] = (u64)product, out[5] = (u64)(product >> 64);
  out[6] = (u64)shifted, out[7] = (u64)(shifted >> 64);
}

extern "C" __global__ void divide_128(const u64* as, const u64* bs, u64* to, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  using u128 = unsigned __int128;
  const u128 a = (u128)as[2 * i + 1] << 64 | as[2 * i], b = (u128)bs[2 * i + 1] << 64 | bs[2 * i];
  const u128 quotient = a / b, remainder = a % b;
  u64* out = to + 4 * i;
  out[0] = (u64)quotient, out[1] = (u64)(quotient >> 64);
  out[2] = (u64)remainder, out[3] = (u64)(remainder >> 64);
}

// 256-bit sums, differences and 128 x 128 products by carry chains; numbers are eight 32-bit words, low first.
extern "C" __global__ void carry_chains(const u32* as, const u32* bs, u32* sums, u32* differences, u32* products,
                                        int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  u32 a[8], b[8], c[8], d[8], p[8];
  for (int w = 0; w < 8; ++w) a[w] = as[8 * i + w], b[w] = bs[8 * i + w];
  asm("add.cc.u32 %0, %8, %16;\n\taddc.cc.u32 %1, %9, %17;\n\taddc.cc.u32 %2, %10, %18;\n\taddc.cc.u32 %3, %11, "
      "%19;\n\t"
      "addc.cc.u32 %4, %12, %20;\n\taddc.cc.u32 %5, %13, %21;\n\taddc.cc.u32 %6, %14, %22;\n\taddc.u32 %7, %15, %23;"
      : "=r"(c[0]), "=r"(c[1]), "=r"(c[2]), "=r"(c[3]), "=r"(c[4]), "=r"(c[5]), "=r"(c[6]), "=r"(c[7])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]), "r"(a[6]), "r"(a[7]), "r"(b[0]), "r"(b[1]),
        "r"(b[2]), "r"(b[3]), "r"(b[4]), "r"(b[5]), "r"(b[6]), "r"(b[7]));
  asm("sub.cc.u32 %0, %8, %16;\n\tsubc.cc.u32 %1, %9, %17;\n\tsubc.cc.u32 %2, %10, %18;\n\tsubc.cc.u32 %3, %11, "
      "%19;\n\t"
      "subc.cc.u32 %4, %12, %20;\n\tsubc.cc.u32 %5, %13, %21;\n\tsubc.cc.u32 %6, %14, %22;\n\tsubc.u32 %7, %15, %23;"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]), "=r"(d[4]), "=r"(d[5]), "=r"(d[6]), "=r"(d[7])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]), "r"(a[6]), "r"(a[7]), "r"(b[0]), "r"(b[1]),
        "r"(b[2]), "r"(b[3]), "r"(b[4]), "r"(b[5]), "r"(b[6]), "r"(b[7]));
  for (int w = 0; w < 8; ++w) p[w] = 0;
  for (int w = 0; w < 4; ++w) {  // p[w..w+4] += a[0..3] * b[w]
    u32 carry = 0;
    asm("mad.lo.cc.u32 %0, %5, %9, %0;\n\tmadc.lo.cc.u32 %1, %6, %9, %1;\n\tmadc.lo.cc.u32 %2, %7, %9, %2;\n\t"
        "madc.lo.cc.u32 %3, %8, %9, %3;\n\taddc.u32 %4, %4, 0;"
        : "+r"(p[w]), "+r"(p[w + 1]), "+r"(p[w + 2]), "+r"(p[w + 3]), "+r"(carry)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[w]));
    asm("mad.hi.cc.u32 %0, %4, %8, %0;\n\tmadc.hi.cc.u32 %1, %5, %8, %1;\n\tmadc.hi.cc.u32 %2, %6, %8, %2;\n\t"
        "madc.hi.u32 %3, %7, %8, %9;"
        : "+r"(p[w + 1]), "+r"(p[w + 2]), "+r"(p[w + 3]), "=r"(p[w + 4])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[w]), "r"(carry));
  }
  for (int w = 0; w < 8; ++w) sums[8 * i + w] = c[w], differences[8 * i + w] = d[w], products[8 * i + w] = p[w];
}

// 128-bit sums by 64-bit carries, in two words.
extern "C" __global__ void carry_chains_64(const u64* as, const u64* bs, u64* sums, u64* differences, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  asm("add.cc.u64 %0, %2, %4;\n\taddc.u64 %1, %3, %5;"
      : "=l"(sums[2 * i]), "=l"(sums[2 * i + 1])
      : "l"(as[2 * i]), "l"(as[2 * i + 1]), "l"(bs[2 * i]), "l"(bs[2 * i + 1]));
  asm("sub.cc.s64 %0, %2, %4;\n\tsubc.s64 %1, %3, %5;"
      : "=l"(differences[2 * i]), "=l"(differences[2 * i + 1])
      : "l"(as[2 * i]), "l"(as[2 * i + 1]), "l"(bs[2 * i]), "l"(bs[2 * i + 1]));
}
