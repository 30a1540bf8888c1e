// Warp-level matrix products: mma on registers with a fixed layout, ldmatrix and stmatrix for shared memory, and wmma
// with opaque fragments. All lanes take part, so the warp must be convergent.
#pragma once
#include "ptx/memory.h"

namespace ptx {

template <class T>
concept Byte4 = OneOf<T, u8x4, s8x4>;

// Contents of one 32-bit fragment register: two f16 or four bytes.
namespace maps {
template <class T>
T packed(T);
f16x2 packed(f16);
bf16x2 packed(bf16);
u8x4 packed(u8);
s8x4 packed(s8);
}  // namespace maps
template <class T>
using Packed = decltype(maps::packed(T{}));

enum class Layout : uint8_t { kRow, kColumn };
enum class WmmaShape : uint8_t { kM16N16K16, kM8N32K16, kM32N8K16 };

// Operand A [m, k] or B [k, n] of a wmma product. T: f16 bf16 u8 s8.
template <class T>
struct Fragment {
  char matrix;  // 'a' or 'b'
  WmmaShape shape;
  Layout layout;
  std::vector<Operand> registers;
};

// Accumulators C and D [m, n] of a wmma product, as variables. T: f16 f32 s32. Each lane has `size()` values whose
// positions are unspecified, so every value must be treated alike.
template <class T>
class Accumulator {
 public:
  Accumulator(Body& body, WmmaShape shape, const std::vector<Operand>& registers) : shape_(shape) {
    for (const Operand& r : registers) values_.emplace_back(body, r);
  }
  Var<Packed<T>>& operator[](int i) { return values_.at(i); }
  int size() const { return static_cast<int>(values_.size()); }
  WmmaShape shape() const { return shape_; }
  std::vector<Operand> operands() const {
    std::vector<Operand> all;
    for (const auto& value : values_) all.push_back(value.operand());
    return all;
  }

 private:
  WmmaShape shape_;
  std::vector<Var<Packed<T>>> values_;
};

class Tensors {
 public:
  explicit Tensors(Body& body) : body_(&body) {}

  // a * b + c with row-major `a` and column-major `b`; register layouts as in the PTX ISA's figures.
  Vec<f32, 4> mma(InVec<f16x2, 2> a, InVec<f16x2, 1> b, InVec<f32, 4> c);      // m16n8k8
  Vec<f16x2, 2> mma(InVec<f16x2, 2> a, InVec<f16x2, 1> b, InVec<f16x2, 2> c);  // m16n8k8
  Vec<f32, 4> mma(InVec<f16x2, 4> a, InVec<f16x2, 2> b, InVec<f32, 4> c);      // m16n8k16; sm_80
  Vec<f16x2, 2> mma(InVec<f16x2, 4> a, InVec<f16x2, 2> b, InVec<f16x2, 2> c);  // m16n8k16; sm_80
  Vec<f32, 4> mma(InVec<bf16x2, 2> a, InVec<bf16x2, 1> b, InVec<f32, 4> c);    // m16n8k8; sm_80
  Vec<f32, 4> mma(InVec<bf16x2, 4> a, InVec<bf16x2, 2> b, InVec<f32, 4> c);    // m16n8k16; sm_80
  // Integers, each operand signed or unsigned; the sum wraps, or is clamped with `saturate`.
  template <Byte4 A, Byte4 B>
  Vec<s32, 2> mma(const Vec<A, 1>& a, const Vec<B, 1>& b, InVec<s32, 2> c, bool saturate = false) {  // m8n8k16
    return {*body_, integer_mma("m8n8k16", a, b, c, saturate)};
  }
  template <Byte4 A, Byte4 B>
  Vec<s32, 4> mma(const Vec<A, 2>& a, const Vec<B, 1>& b, InVec<s32, 4> c, bool saturate = false) {  // m16n8k16; sm_80
    return {*body_, integer_mma("m16n8k16", a, b, c, saturate)};
  }
  template <Byte4 A, Byte4 B>
  Vec<s32, 4> mma(const Vec<A, 4>& a, const Vec<B, 2>& b, InVec<s32, 4> c, bool saturate = false) {  // m16n8k32; sm_80
    return {*body_, integer_mma("m16n8k32", a, b, c, saturate)};
  }

  // Loads N (1, 2, 4) matrices of 8 rows of 16 bytes; lane 8 i + r passes the address of row r of matrix i, 16-byte
  // aligned. Lane l gets elements 2 (l % 4) and the next of row l / 4; transposed, of column l / 4.
  template <int N, class T>
  Vec<Packed<T>, N> ldmatrix(const Shared<T>& row, Where at = Where::current()) {
    return {*body_, load_matrices(N, false, Packed<T>::kType, row.address(), at)};
  }
  template <int N, class T>
  Vec<Packed<T>, N> ldmatrix_transposed(const Shared<T>& row, Where at = Where::current()) {
    return {*body_, load_matrices(N, true, Packed<T>::kType, row.address(), at)};
  }
  template <int N, class T>
  void stmatrix(const Shared<T>& row, InVec<Packed<T>, N> values) {  // sm_90
    store_matrices(N, false, row.address(), values.operands, values.at);
  }
  template <int N, class T>
  void stmatrix_transposed(const Shared<T>& row, InVec<Packed<T>, N> values) {  // sm_90
    store_matrices(N, true, row.address(), values.operands, values.at);
  }

  // wmma. `from` is 32-byte aligned, rows (or columns) are `stride` elements apart; bf16 sm_80.
  template <class T, Space S>
  Fragment<T> wmma_load_a(WmmaShape shape, Layout layout, const Pointer<T, S>& from, In<u32> stride) {
    return {'a', shape, layout, load_fragment('a', shape, layout, T::kType, from.address(), stride)};
  }
  template <class T, Space S>
  Fragment<T> wmma_load_b(WmmaShape shape, Layout layout, const Pointer<T, S>& from, In<u32> stride) {
    return {'b', shape, layout, load_fragment('b', shape, layout, T::kType, from.address(), stride)};
  }
  template <class T, Space S>
  Accumulator<T> wmma_load_c(WmmaShape shape, Layout layout, const Pointer<T, S>& from, In<u32> stride) {
    return {*body_, shape, load_fragment('c', shape, layout, T::kType, from.address(), stride)};
  }
  template <class T>
  Accumulator<T> wmma_accumulator(WmmaShape shape, In<Packed<T>> value) {
    return {*body_, shape, filled_fragment(T::kType, value)};
  }
  // d = a * b + d. f16 with f16 or f32 sums, bf16 with f32, u8 or s8 (for both operands) with s32.
  template <class T, class D>
  void wmma(const Fragment<T>& a, const Fragment<T>& b, Accumulator<D>& d, Where at = Where::current()) {
    check_shapes(a.matrix, b.matrix, a.shape, b.shape, d.shape(), at);
    multiply(a.shape, a.layout, b.layout, T::kType, D::kType, a.registers, b.registers, d.operands(), at);
  }
  template <class T, Space S>
  void wmma_store(const Pointer<T, S>& to, const Accumulator<T>& d, Layout layout, In<u32> stride) {
    store_fragment(d.shape(), layout, T::kType, to.address(), d.operands(), stride);
  }

 private:
  template <class A, class B, int NA, int NB, int NC>
  std::vector<Operand> integer_mma(const char* shape, const Vec<A, NA>& a, const Vec<B, NB>& b, const InVec<s32, NC>& c,
                                   bool saturate) {
    return integer_product(shape, A::kType, B::kType, a.operands(), b.operands(), c.operands, saturate, c.at);
  }
  std::vector<Operand> integer_product(const char* shape, Type a_type, Type b_type, const std::vector<Operand>& a,
                                       const std::vector<Operand>& b, const std::vector<Operand>& c, bool saturate,
                                       Where at);
  std::vector<Operand> product(const char* spelling, Type result, const std::vector<Operand>& a,
                               const std::vector<Operand>& b, const std::vector<Operand>& c, Where at);
  std::vector<Operand> load_matrices(int n, bool transposed, Type type, const Address& row, Where at);
  void store_matrices(int n, bool transposed, const Address& row, const std::vector<Operand>& values, Where at);
  std::vector<Operand> load_fragment(char matrix, WmmaShape shape, Layout layout, Type type, const Address& from,
                                     const AnyIn& stride);
  std::vector<Operand> filled_fragment(Type type, const AnyIn& value);
  void check_shapes(char a, char b, WmmaShape a_shape, WmmaShape b_shape, WmmaShape d_shape, Where at);
  void multiply(WmmaShape shape, Layout a_layout, Layout b_layout, Type type, Type sum, const std::vector<Operand>& a,
                const std::vector<Operand>& b, const std::vector<Operand>& d, Where at);
  void store_fragment(WmmaShape shape, Layout layout, Type type, const Address& to, const std::vector<Operand>& d,
                      const AnyIn& stride);
  Body* body_;
};

}  // namespace ptx
