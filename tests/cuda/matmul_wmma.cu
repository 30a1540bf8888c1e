// c += a * b on the tensor cores through nvcuda::wmma, in every type, shape and layout; one warp a tile of c.
// a is [m, k], b [k, n], c [m, n]; a leading dimension counts the elements of a row, of a column in column order.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;
using Rows = wmma::row_major;
using Columns = wmma::col_major;

template <class Order>
struct IsRows {
  static constexpr bool value = false;
};
template <>
struct IsRows<Rows> {
  static constexpr bool value = true;
};

template <int M, int N, int K, class Type, class OrderA, class OrderB, class OrderC, class Stored, class Sum>
__device__ void multiply(const Stored* a, const Stored* b, Sum* c, int lda, int ldb, int ldc, int k) {
  wmma::fragment<wmma::matrix_a, M, N, K, Type, OrderA> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, Type, OrderB> fb;
  wmma::fragment<wmma::accumulator, M, N, K, Sum> fc;
  const auto order = IsRows<OrderC>::value ? wmma::mem_row_major : wmma::mem_col_major;
  const int row = blockIdx.y * M, column = blockIdx.x * N;
  Sum* tile = IsRows<OrderC>::value ? c + row * ldc + column : c + column * ldc + row;
  wmma::load_matrix_sync(fc, tile, ldc, order);
#pragma unroll 1
  for (int i = 0; i < k; i += K) {
    wmma::load_matrix_sync(fa, IsRows<OrderA>::value ? a + row * lda + i : a + i * lda + row, lda);
    wmma::load_matrix_sync(fb, IsRows<OrderB>::value ? b + i * ldb + column : b + column * ldb + i, ldb);
    wmma::mma_sync(fc, fa, fb, fc);
  }
  wmma::store_matrix_sync(tile, fc, ldc, order);
}

#define MULTIPLY(name, m, n, k, type, stored, sum, order_a, order_b, order_c)                                      \
  extern "C" __global__ void name(const stored* a, const stored* b, sum* c, int lda, int ldb, int ldc, int size) { \
    multiply<m, n, k, type, order_a, order_b, order_c>(a, b, c, lda, ldb, ldc, size);                              \
  }

// Every shape, every order of a, b and c at least once with each type.
#define MULTIPLY_ORDERS(name, m, n, k, type, stored, sum)                  \
  MULTIPLY(name##_rrr, m, n, k, type, stored, sum, Rows, Rows, Rows)       \
  MULTIPLY(name##_rcr, m, n, k, type, stored, sum, Rows, Columns, Rows)    \
  MULTIPLY(name##_crc, m, n, k, type, stored, sum, Columns, Rows, Columns) \
  MULTIPLY(name##_ccc, m, n, k, type, stored, sum, Columns, Columns, Columns)

#define MULTIPLY_SHAPES(name, type, stored, sum)                                     \
  MULTIPLY_ORDERS(name##_16x16x16, 16, 16, 16, type, stored, sum)                    \
  MULTIPLY(name##_32x8x16_rcr, 32, 8, 16, type, stored, sum, Rows, Columns, Rows)    \
  MULTIPLY(name##_32x8x16_crc, 32, 8, 16, type, stored, sum, Columns, Rows, Columns) \
  MULTIPLY(name##_8x32x16_rcr, 8, 32, 16, type, stored, sum, Rows, Columns, Rows)    \
  MULTIPLY(name##_8x32x16_crc, 8, 32, 16, type, stored, sum, Columns, Rows, Columns)

MULTIPLY_SHAPES(wmma_f16_f32, __half, __half, float)
MULTIPLY_SHAPES(wmma_f16_f16, __half, __half, __half)
MULTIPLY_SHAPES(wmma_s8, signed char, signed char, int)
MULTIPLY_SHAPES(wmma_u8, unsigned char, unsigned char, int)
#if __CUDA_ARCH__ >= 800
MULTIPLY_SHAPES(wmma_bf16, __nv_bfloat16, __nv_bfloat16, float)
MULTIPLY_ORDERS(wmma_tf32_16x16x8, 16, 16, 8, wmma::precision::tf32, float, float)
MULTIPLY_ORDERS(wmma_f64_8x8x4, 8, 8, 4, double, double, double)
#endif

// c = max(alpha * a * b, 0), one 16 x 16 tile through shared memory; sums in half at first, then in float.
extern "C" __global__ void wmma_epilogue(const __half* a, const __half* b, float* c, int k, float alpha) {
  __shared__ __align__(32) __half shared_a[16 * 24], shared_b[16 * 24];  // rows padded to 24 elements
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, Rows> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, Rows> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.0f);
  for (int start = 0; start < k; start += 16) {
    for (int i = threadIdx.x; i < 256; i += 32) {
      shared_a[i / 16 * 24 + i % 16] = a[i / 16 * k + start + i % 16];
      shared_b[i / 16 * 24 + i % 16] = b[(start + i / 16) * 16 + i % 16];
    }
    __syncwarp();
    wmma::load_matrix_sync(fa, shared_a, 24);
    wmma::load_matrix_sync(fb, shared_b, 24);
    wmma::mma_sync(fc, fa, fb, fc);
    __syncwarp();
  }
  for (int i = 0; i < fc.num_elements; ++i) fc.x[i] = fmaxf(alpha * fc.x[i], 0.0f);
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

// Sums that leave 32 bits stay at the ends of their range.
extern "C" __global__ void wmma_s8_saturating(const signed char* a, const signed char* b, int* c, int k) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, Rows> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, Columns> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, int> fc;
  wmma::load_matrix_sync(fc, c, 16, wmma::mem_row_major);
  for (int i = 0; i < k; i += 16) {
    wmma::load_matrix_sync(fa, a + i, k);
    wmma::load_matrix_sync(fb, b + i, k);
    wmma::mma_sync(fc, fa, fb, fc, true);
  }
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}
