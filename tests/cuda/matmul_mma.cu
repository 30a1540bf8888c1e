// c[M, N] += a[M, K] * b[K, N] by one mma.sync instruction, for every shape and type; one warp, all matrices row-major.
// Each lane gathers its fragment element by element from the tables of the PTX ISA, so that a wrong layout shows.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

struct Place {
  int row, column;
};

// Fragments of 16-bit elements and of 8-bit ones: `per` elements of one row (a) or column (b) lie in a register.
// a has registers for rows g and g + 8 first, then for the next columns; b has them down its column.
__device__ Place place_a(int i, int per, bool tall) {
  const int lane = threadIdx.x, reg = i / per;
  const int row_half = tall ? reg % 2 : 0, column_part = tall ? reg / 2 : reg;
  return {lane / 4 + 8 * row_half, lane % 4 * per + i % per + 4 * per * column_part};
}
__device__ Place place_b(int i, int per) {
  const int lane = threadIdx.x, reg = i / per;
  return {lane % 4 * per + i % per + 4 * per * reg, lane / 4};
}
// Sums: two neighbours of row g, then of row g + 8.
__device__ Place place_c(int i) {
  const int lane = threadIdx.x;
  return {lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2};
}

// Registers of 32 bits (64 for double) filled with elements of T.
template <class T, class Register, int kRegisters>
struct Fragment {
  static constexpr int kPer = sizeof(Register) / sizeof(T), kElements = kPer * kRegisters;
  union {
    T elements[kElements];
    Register registers[kRegisters];
  };
  __device__ Fragment() {}
  __device__ Register& operator[](int i) { return registers[i]; }
};

template <class T, class R, int kN>
__device__ void load_a(Fragment<T, R, kN>& f, const T* a, int k, bool tall) {
  for (int i = 0; i < f.kElements; ++i) {
    const Place at = place_a(i, f.kPer, tall);
    f.elements[i] = a[at.row * k + at.column];
  }
}
template <class T, class R, int kN>
__device__ void load_b(Fragment<T, R, kN>& f, const T* b) {
  for (int i = 0; i < f.kElements; ++i) {
    const Place at = place_b(i, f.kPer);
    f.elements[i] = b[at.row * 8 + at.column];
  }
}
template <class T, class R, int kN>
__device__ void load_c(Fragment<T, R, kN>& f, const T* c) {
  for (int i = 0; i < f.kElements; ++i) f.elements[i] = c[place_c(i).row * 8 + place_c(i).column];
}
template <class T, class R, int kN>
__device__ void store_c(Fragment<T, R, kN>& f, T* c) {
  for (int i = 0; i < f.kElements; ++i) c[place_c(i).row * 8 + place_c(i).column] = f.elements[i];
}

#define LOAD(T, TC, K, TALL, A_REGISTERS, B_REGISTERS, C_REGISTERS, RA, RC) \
  Fragment<T, RA, A_REGISTERS> fa;                                          \
  Fragment<T, RA, B_REGISTERS> fb;                                          \
  Fragment<TC, RC, C_REGISTERS> fc;                                         \
  load_a(fa, a, K, TALL);                                                   \
  load_b(fb, b);                                                            \
  load_c(fc, c);

// 16 x 8 results in four registers (C4), a in four or two registers, b in two or one.
#define MMA_A4_B2_C4(name, spelling, T, TC, K, RC, constraint)                                                \
  extern "C" __global__ void name(const T* a, const T* b, TC* c) {                                            \
    LOAD(T, TC, K, true, 4, 2, 4, unsigned, RC)                                                               \
    asm volatile("mma.sync.aligned." spelling " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"        \
                 : "+" constraint(fc[0]), "+" constraint(fc[1]), "+" constraint(fc[2]), "+" constraint(fc[3]) \
                 : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));                   \
    store_c(fc, c);                                                                                           \
  }
#define MMA_A2_B1_C4(name, spelling, T, TC, K, RC, constraint)                                                \
  extern "C" __global__ void name(const T* a, const T* b, TC* c) {                                            \
    LOAD(T, TC, K, true, 2, 1, 4, unsigned, RC)                                                               \
    asm volatile("mma.sync.aligned." spelling " {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"                 \
                 : "+" constraint(fc[0]), "+" constraint(fc[1]), "+" constraint(fc[2]), "+" constraint(fc[3]) \
                 : "r"(fa[0]), "r"(fa[1]), "r"(fb[0]));                                                       \
    store_c(fc, c);                                                                                           \
  }
// Half sums: 16 x 8 results in two registers.
#define MMA_A4_B2_C2(name, spelling, T, TC, K)                                              \
  extern "C" __global__ void name(const T* a, const T* b, TC* c) {                          \
    LOAD(T, TC, K, true, 4, 2, 2, unsigned, unsigned)                                       \
    asm volatile("mma.sync.aligned." spelling " {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"  \
                 : "+r"(fc[0]), "+r"(fc[1])                                                 \
                 : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1])); \
    store_c(fc, c);                                                                         \
  }
#define MMA_A2_B1_C2(name, spelling, T, TC, K)                                    \
  extern "C" __global__ void name(const T* a, const T* b, TC* c) {                \
    LOAD(T, TC, K, true, 2, 1, 2, unsigned, unsigned)                             \
    asm volatile("mma.sync.aligned." spelling " {%0,%1}, {%2,%3}, {%4}, {%0,%1};" \
                 : "+r"(fc[0]), "+r"(fc[1])                                       \
                 : "r"(fa[0]), "r"(fa[1]), "r"(fb[0]));                           \
    store_c(fc, c);                                                               \
  }
// 8 x 8 results: a and b in one register each.
#define MMA_A1_B1_C2(name, spelling, T, TC, K, R, constraint, sum_constraint)  \
  extern "C" __global__ void name(const T* a, const T* b, TC* c) {             \
    LOAD(T, TC, K, false, 1, 1, 2, R, TC)                                      \
    asm volatile("mma.sync.aligned." spelling " {%0,%1}, {%2}, {%3}, {%0,%1};" \
                 : "+" sum_constraint(fc[0]), "+" sum_constraint(fc[1])        \
                 : constraint(fa[0]), constraint(fb[0]));                      \
    store_c(fc, c);                                                            \
  }

using s8 = signed char;
using u8 = unsigned char;

MMA_A2_B1_C4(mma_f16_f32_k8, "m16n8k8.row.col.f32.f16.f16.f32", __half, float, 8, float, "f")
MMA_A2_B1_C2(mma_f16_f16_k8, "m16n8k8.row.col.f16.f16.f16.f16", __half, __half, 8)
MMA_A1_B1_C2(mma_s8_m8_k16, "m8n8k16.row.col.s32.s8.s8.s32", s8, int, 16, unsigned, "r", "r")
MMA_A1_B1_C2(mma_u8_m8_k16, "m8n8k16.row.col.s32.u8.u8.s32", u8, int, 16, unsigned, "r", "r")
MMA_A1_B1_C2(mma_s8_m8_k16_sat, "m8n8k16.row.col.satfinite.s32.s8.s8.s32", s8, int, 16, unsigned, "r", "r")
#if __CUDA_ARCH__ >= 800
MMA_A4_B2_C4(mma_f16_f32_k16, "m16n8k16.row.col.f32.f16.f16.f32", __half, float, 16, float, "f")
MMA_A4_B2_C2(mma_f16_f16_k16, "m16n8k16.row.col.f16.f16.f16.f16", __half, __half, 16)
MMA_A2_B1_C4(mma_bf16_k8, "m16n8k8.row.col.f32.bf16.bf16.f32", __nv_bfloat16, float, 8, float, "f")
MMA_A4_B2_C4(mma_bf16_k16, "m16n8k16.row.col.f32.bf16.bf16.f32", __nv_bfloat16, float, 16, float, "f")
MMA_A2_B1_C4(mma_tf32_k4, "m16n8k4.row.col.f32.tf32.tf32.f32", float, float, 4, float, "f")
MMA_A4_B2_C4(mma_tf32_k8, "m16n8k8.row.col.f32.tf32.tf32.f32", float, float, 8, float, "f")
MMA_A1_B1_C2(mma_f64_k4, "m8n8k4.row.col.f64.f64.f64.f64", double, double, 4, double, "d", "d")
MMA_A2_B1_C4(mma_s8_k16, "m16n8k16.row.col.s32.s8.s8.s32", s8, int, 16, int, "r")
MMA_A4_B2_C4(mma_s8_k32, "m16n8k32.row.col.s32.s8.s8.s32", s8, int, 32, int, "r")
MMA_A4_B2_C4(mma_u8_k32, "m16n8k32.row.col.s32.u8.u8.s32", u8, int, 32, int, "r")
MMA_A4_B2_C4(mma_s8_k32_sat, "m16n8k32.row.col.satfinite.s32.s8.s8.s32", s8, int, 32, int, "r")

// a signed and b unsigned: both are passed as bytes.
extern "C" __global__ void mma_s8_u8_k32(const s8* a, const s8* b, int* c) {
  LOAD(s8, int, 32, true, 4, 2, 4, unsigned, int)
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+r"(fc[0]), "+r"(fc[1]), "+r"(fc[2]), "+r"(fc[3])
               : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
  store_c(fc, c);
}
#endif

// A 16 x 8 product of depth 16 whose operands reach the registers by ldmatrix: a by .x4, b by .x2.trans from row-major
// shared memory; two k8 instructions, so that sm_75 has it too.
extern "C" __global__ void mma_from_ldmatrix(const __half* a, const __half* b, float* c) {
  __shared__ __align__(16) __half shared_a[16][16], shared_b[16][8];
  const int lane = threadIdx.x;
  for (int i = lane; i < 256; i += 32) shared_a[i / 16][i % 16] = a[i];
  for (int i = lane; i < 128; i += 32) shared_b[i / 8][i % 8] = b[i];
  __syncwarp();
  unsigned fa[4], fb[2];
  float sum[4];
  for (int i = 0; i < 4; ++i) sum[i] = c[place_c(i).row * 8 + place_c(i).column];
  const unsigned row_a = __cvta_generic_to_shared(&shared_a[lane % 16][lane / 16 * 8]);
  const unsigned row_b = __cvta_generic_to_shared(&shared_b[lane % 16][0]);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3])
               : "r"(row_a));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(fb[0]), "=r"(fb[1]) : "r"(row_b));
  for (int half = 0; half < 2; ++half)
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(fa[2 * half]), "r"(fa[2 * half + 1]), "r"(fb[half]));
  for (int i = 0; i < 4; ++i) c[place_c(i).row * 8 + place_c(i).column] = sum[i];
}

// to[lane] = what ldmatrix .x1, plain and transposed, gives each lane of an 8 x 8 matrix.
extern "C" __global__ void ldmatrix_single(const unsigned short* from, unsigned* to) {
  __shared__ __align__(16) unsigned short matrix[64];
  matrix[threadIdx.x] = from[threadIdx.x];
  matrix[threadIdx.x + 32] = from[threadIdx.x + 32];
  __syncwarp();
  const unsigned row = __cvta_generic_to_shared(&matrix[threadIdx.x % 8 * 8]);
  unsigned plain, transposed;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(plain) : "r"(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];" : "=r"(transposed) : "r"(row));
  to[threadIdx.x] = plain;
  to[threadIdx.x + 32] = transposed;
}
