// Conversions between integers, float and double with every rounding, and reinterpretations. to[i] = f(from[i]).

#define CONVERT(name, from_type, to_type, conversion)                          \
  extern "C" __global__ void name(const from_type* from, to_type* to, int n) { \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                       \
    if (i < n) to[i] = conversion(from[i]);                                    \
  }
using u32 = unsigned;
using s64 = long long;
using u64 = unsigned long long;

#define ROUNDINGS(name, from_type, to_type, spelled)       \
  CONVERT(name##_rn, from_type, to_type, __##spelled##_rn) \
  CONVERT(name##_rz, from_type, to_type, __##spelled##_rz) \
  CONVERT(name##_rd, from_type, to_type, __##spelled##_rd) \
  CONVERT(name##_ru, from_type, to_type, __##spelled##_ru)

ROUNDINGS(f32_to_s32, float, int, float2int)
ROUNDINGS(f32_to_u32, float, u32, float2uint)
ROUNDINGS(f32_to_s64, float, s64, float2ll)
ROUNDINGS(f32_to_u64, float, u64, float2ull)
ROUNDINGS(f64_to_s32, double, int, double2int)
ROUNDINGS(f64_to_u32, double, u32, double2uint)
ROUNDINGS(f64_to_s64, double, s64, double2ll)
ROUNDINGS(f64_to_u64, double, u64, double2ull)
ROUNDINGS(f64_to_f32, double, float, double2float)
ROUNDINGS(s32_to_f32, int, float, int2float)
ROUNDINGS(u32_to_f32, u32, float, uint2float)
ROUNDINGS(s64_to_f32, s64, float, ll2float)
ROUNDINGS(u64_to_f32, u64, float, ull2float)
ROUNDINGS(s64_to_f64, s64, double, ll2double)
ROUNDINGS(u64_to_f64, u64, double, ull2double)
CONVERT(s32_to_f64, int, double, __int2double_rn)
CONVERT(u32_to_f64, u32, double, __uint2double_rn)
CONVERT(f32_to_f64, float, double, double)

// Plain casts between all widths of integers, as C++ defines them.
CONVERT(s64_to_s8, s64, signed char, (signed char))
CONVERT(s64_to_u8, s64, unsigned char, (unsigned char))
CONVERT(s64_to_s16, s64, short, (short))
CONVERT(s64_to_u16, s64, unsigned short, (unsigned short))
CONVERT(s64_to_s32, s64, int, (int))
CONVERT(s8_to_s64, signed char, s64, (s64))
CONVERT(u8_to_s64, unsigned char, s64, (s64))
CONVERT(s16_to_s64, short, s64, (s64))
CONVERT(u16_to_u64, unsigned short, u64, (u64))
CONVERT(s32_to_u64, int, u64, (u64))
CONVERT(f32_to_s8, float, int, (int)(signed char))
CONVERT(f32_to_s16, float, int, (int)(short))
CONVERT(s8_to_f32, signed char, float, (float))
CONVERT(u16_to_f32, unsigned short, float, (float))

// Halves of a double and their reunion in the other order of bits; bits of a float, reversed bytewise.
extern "C" __global__ void reinterpret(const double* x, const float* f, u64* to, u32* bits, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double swapped = __hiloint2double(__double2loint(x[i]), __double2hiint(x[i]));
  to[i] = (u64)__double_as_longlong(swapped) ^ (u64)__double_as_longlong(__longlong_as_double(5));
  bits[i] = __byte_perm(__float_as_uint(f[i]), 0, 0x0123);
}
