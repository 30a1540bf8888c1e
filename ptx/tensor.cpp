#include "ptx/tensor.h"

namespace ptx {
namespace {

constexpr std::string_view kLayouts[] = {"row", "col"};
constexpr std::string_view kShapes[] = {"m16n16k16", "m8n32k16", "m32n8k16"};

std::string spell_part(Layout layout) { return "." + std::string(kLayouts[static_cast<int>(layout)]); }
std::string spell_part(WmmaShape shape) { return "." + std::string(kShapes[static_cast<int>(shape)]); }
std::string name(Type type) { return "." + std::string(info(type).name); }

// 32-bit registers per lane of a fragment; PTX ISA, "Matrix Fragments for WMMA". For square tiles the sides' product is
// 256. Otherwise the short side's fragment has half as many registers, the long side's twice as many; f16 always has 8.
int fragment_registers(char matrix, WmmaShape shape, Type type) {
  if (matrix == 'c') return type == Type::kF16 ? 4 : 8;
  if (type == Type::kF16) return 8;
  const int square = type == Type::kBf16 ? 4 : 2;
  if (shape == WmmaShape::kM16N16K16) return square;
  const bool is_short = (matrix == 'a') == (shape == WmmaShape::kM8N32K16);
  return is_short ? square / 2 : square * 2;
}

Type register_type(char matrix, Type type) {
  if (matrix == 'c' && type != Type::kF16) return type;
  switch (type) {
    case Type::kF16:
      return Type::kF16x2;
    case Type::kBf16:
      return Type::kBf16x2;
    case Type::kU8:
      return Type::kU8x4;
    default:
      return Type::kS8x4;
  }
}

std::vector<Operand> registers(Body& body, int n, Type type, const char* role, Where at, bool assignable = false) {
  std::vector<Operand> all;
  for (int i = 0; i < n; ++i) all.push_back(new_register(body, type, role, at, assignable));
  return all;
}

}  // namespace

std::vector<Operand> Tensors::product(const char* spelling, Type result, const std::vector<Operand>& a,
                                      const std::vector<Operand>& b, const std::vector<Operand>& c, Where at) {
  std::vector<Operand> d = registers(*body_, static_cast<int>(c.size()), result, "mma", at);
  emit(*body_, spelling, {list_operand(d), list_operand(a), list_operand(b), list_operand(c)}, at);
  body_->code.back().n_results = 1;
  return d;
}

Vec<f32, 4> Tensors::mma(InVec<f16x2, 2> a, InVec<f16x2, 1> b, InVec<f32, 4> c) {
  return {*body_, product("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", Type::kF32, a.operands, b.operands,
                          c.operands, c.at)};
}
Vec<f16x2, 2> Tensors::mma(InVec<f16x2, 2> a, InVec<f16x2, 1> b, InVec<f16x2, 2> c) {
  return {*body_, product("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", Type::kF16x2, a.operands, b.operands,
                          c.operands, c.at)};
}
Vec<f32, 4> Tensors::mma(InVec<f16x2, 4> a, InVec<f16x2, 2> b, InVec<f32, 4> c) {
  return {*body_, product("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", Type::kF32, a.operands, b.operands,
                          c.operands, c.at)};
}
Vec<f16x2, 2> Tensors::mma(InVec<f16x2, 4> a, InVec<f16x2, 2> b, InVec<f16x2, 2> c) {
  return {*body_, product("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", Type::kF16x2, a.operands, b.operands,
                          c.operands, c.at)};
}
Vec<f32, 4> Tensors::mma(InVec<bf16x2, 2> a, InVec<bf16x2, 1> b, InVec<f32, 4> c) {
  return {*body_, product("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", Type::kF32, a.operands, b.operands,
                          c.operands, c.at)};
}
Vec<f32, 4> Tensors::mma(InVec<bf16x2, 4> a, InVec<bf16x2, 2> b, InVec<f32, 4> c) {
  return {*body_, product("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", Type::kF32, a.operands, b.operands,
                          c.operands, c.at)};
}

std::vector<Operand> Tensors::integer_product(const char* shape, Type a_type, Type b_type,
                                              const std::vector<Operand>& a, const std::vector<Operand>& b,
                                              const std::vector<Operand>& c, bool saturate, Where at) {
  const auto byte = [](Type type) { return type == Type::kU8x4 ? std::string(".u8") : std::string(".s8"); };
  const std::string spelling = "mma.sync.aligned." + std::string(shape) + ".row.col" + (saturate ? ".satfinite" : "") +
                               ".s32" + byte(a_type) + byte(b_type) + ".s32";
  return product(spelling.c_str(), Type::kS32, a, b, c, at);
}

std::vector<Operand> Tensors::load_matrices(int n, bool transposed, Type type, const Address& row, Where at) {
  std::vector<Operand> results = registers(*body_, n, type, "matrix", at);
  append(*body_,
         {.spelling = "ldmatrix.sync.aligned.m8n8.x" + std::to_string(n) + (transposed ? ".trans" : "") + ".shared.b16",
          .operands = {list_operand(results), operand_of(row)},
          .n_results = 1,
          .at = at});
  return results;
}

void Tensors::store_matrices(int n, bool transposed, const Address& row, const std::vector<Operand>& values, Where at) {
  emit(*body_, "stmatrix.sync.aligned.m8n8.x" + std::to_string(n) + (transposed ? ".trans" : "") + ".shared.b16",
       {operand_of(row), list_operand(values)}, at);
}

std::vector<Operand> Tensors::load_fragment(char matrix, WmmaShape shape, Layout layout, Type type, const Address& from,
                                            const AnyIn& stride) {
  std::vector<Operand> results = registers(*body_, fragment_registers(matrix, shape, type), register_type(matrix, type),
                                           "fragment", stride.at, matrix == 'c');
  append(*body_, {.spelling = std::string("wmma.load.") + matrix + ".sync.aligned" + spell_part(layout) +
                              spell_part(shape) + "." + std::string(spell(from.space)) + name(type),
                  .operands = {list_operand(results), operand_of(from), stride.operand},
                  .n_results = 1,
                  .at = stride.at});
  return results;
}

std::vector<Operand> Tensors::filled_fragment(Type type, const AnyIn& value) {
  std::vector<Operand> results = registers(*body_, fragment_registers('c', WmmaShape::kM16N16K16, type),
                                           register_type('c', type), "fragment", value.at, true);
  for (const Operand& r : results) assign(*body_, r.type, r, value.operand, value.at);
  return results;
}

void Tensors::check_shapes(char a, char b, WmmaShape a_shape, WmmaShape b_shape, WmmaShape d_shape, Where at) {
  if (a != 'a' || b != 'b') {
    fail(*body_, at, std::string("wmma multiplies fragments a and b, was given ") + a + " and " + b);
  }
  if (a_shape == b_shape && b_shape == d_shape) return;
  fail(*body_, at,
       "wmma of fragments of shapes " + spell_part(a_shape).substr(1) + ", " + spell_part(b_shape).substr(1) + " and " +
           spell_part(d_shape).substr(1) + "; expected one shape");
}

void Tensors::multiply(WmmaShape shape, Layout a_layout, Layout b_layout, Type type, Type sum,
                       const std::vector<Operand>& a, const std::vector<Operand>& b, const std::vector<Operand>& d,
                       Where at) {
  const std::string types =
      type == Type::kF16 ? name(sum) + name(sum) : name(sum) + name(type) + name(type) + name(sum);
  append(*body_,
         {.spelling = "wmma.mma.sync.aligned" + spell_part(a_layout) + spell_part(b_layout) + spell_part(shape) + types,
          .operands = {list_operand(d), list_operand(a), list_operand(b), list_operand(d)},
          .n_results = 1,
          .at = at});
}

void Tensors::store_fragment(WmmaShape shape, Layout layout, Type type, const Address& to,
                             const std::vector<Operand>& d, const AnyIn& stride) {
  emit(*body_,
       "wmma.store.d.sync.aligned" + spell_part(layout) + spell_part(shape) + "." + std::string(spell(to.space)) +
           name(type),
       {operand_of(to), list_operand(d), stride.operand}, stride.at);
}

}  // namespace ptx
