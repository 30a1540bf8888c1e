// Conversions between half, bfloat16 and every other type, with every rounding. to[i] = conversion(from[i]).
#include <cuda_bf16.h>
#include <cuda_fp16.h>

using f16 = __half;
using bf16 = __nv_bfloat16;

#define CONVERT(name, from_type, to_type, conversion)                          \
  extern "C" __global__ void name(const from_type* from, to_type* to, int n) { \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                       \
    if (i < n) to[i] = conversion(from[i]);                                    \
  }

CONVERT(f32_to_f16_rn, float, f16, __float2half_rn)
CONVERT(f32_to_f16_rz, float, f16, __float2half_rz)
CONVERT(f32_to_f16_rd, float, f16, __float2half_rd)
CONVERT(f32_to_f16_ru, float, f16, __float2half_ru)
CONVERT(f64_to_f16_rn, double, f16, __double2half)
CONVERT(f32_to_bf16_rn, float, bf16, __float2bfloat16_rn)
CONVERT(f32_to_bf16_rz, float, bf16, __float2bfloat16_rz)
CONVERT(f32_to_bf16_rd, float, bf16, __float2bfloat16_rd)
CONVERT(f32_to_bf16_ru, float, bf16, __float2bfloat16_ru)
CONVERT(f64_to_bf16_rn, double, bf16, __double2bfloat16)
CONVERT(f16_to_f32, f16, float, __half2float)
CONVERT(bf16_to_f32, bf16, float, __bfloat162float)
CONVERT(pairs_to_f16x2, float2, __half2, __float22half2_rn)
CONVERT(pairs_to_bf16x2, float2, __nv_bfloat162, __float22bfloat162_rn)
CONVERT(f16x2_to_pairs, __half2, float2, __half22float2)
CONVERT(bf16x2_to_pairs, __nv_bfloat162, float2, __bfloat1622float2)

#define FROM_REAL(type, spelled)                                            \
  CONVERT(type##_to_s32_rn, type, int, __##spelled##2int_rn)                \
  CONVERT(type##_to_s32_rz, type, int, __##spelled##2int_rz)                \
  CONVERT(type##_to_s32_rd, type, int, __##spelled##2int_rd)                \
  CONVERT(type##_to_s32_ru, type, int, __##spelled##2int_ru)                \
  CONVERT(type##_to_u32_rn, type, unsigned, __##spelled##2uint_rn)          \
  CONVERT(type##_to_u32_rz, type, unsigned, __##spelled##2uint_rz)          \
  CONVERT(type##_to_s64_rd, type, long long, __##spelled##2ll_rd)           \
  CONVERT(type##_to_u64_ru, type, unsigned long long, __##spelled##2ull_ru) \
  CONVERT(type##_to_s16_rn, type, short, __##spelled##2short_rn)            \
  CONVERT(type##_to_u16_rz, type, unsigned short, __##spelled##2ushort_rz)  \
  CONVERT(type##_to_s8_rz, type, signed char, __##spelled##2char_rz)        \
  CONVERT(type##_to_u8_rz, type, unsigned char, __##spelled##2uchar_rz)
FROM_REAL(f16, half)
FROM_REAL(bf16, bfloat16)

#define TO_REAL(type, spelled)                                                \
  CONVERT(s32_to_##type##_rn, int, type, __int2##spelled##_rn)                \
  CONVERT(s32_to_##type##_rz, int, type, __int2##spelled##_rz)                \
  CONVERT(s32_to_##type##_rd, int, type, __int2##spelled##_rd)                \
  CONVERT(s32_to_##type##_ru, int, type, __int2##spelled##_ru)                \
  CONVERT(u32_to_##type##_rn, unsigned, type, __uint2##spelled##_rn)          \
  CONVERT(u32_to_##type##_ru, unsigned, type, __uint2##spelled##_ru)          \
  CONVERT(s64_to_##type##_rn, long long, type, __ll2##spelled##_rn)           \
  CONVERT(u64_to_##type##_rz, unsigned long long, type, __ull2##spelled##_rz) \
  CONVERT(s16_to_##type##_rn, short, type, __short2##spelled##_rn)            \
  CONVERT(u16_to_##type##_rd, unsigned short, type, __ushort2##spelled##_rd)
TO_REAL(f16, half)
TO_REAL(bf16, bfloat16)
