// Lowering of matrix operations: number and type of each fragment's registers.
#include <algorithm>

#include "ptx/emulator/function_loader.h"
#include "ptx/emulator/matrix_shape.h"

namespace ptx::emulator {

std::string spelling_of(const Statement& s);

namespace {

MatrixType matrix_type(std::string_view name) {
  constexpr std::string_view kNames[] = {"f16", "bf16", "tf32", "f32", "f64",  "s8",  "u8",
                                         "s4",  "u4",   "b1",   "s32", "e4m3", "e5m2"};
  return static_cast<MatrixType>(std::ranges::find(kNames, name) - std::begin(kNames));
}

// "m16n8k16"
void read_shape(std::string_view text, MatrixShape& shape) {
  uint32_t* const parts[3] = {&shape.m, &shape.n, &shape.k};
  int part = -1;
  for (char c : text) {
    if (c < '0' || c > '9')
      *parts[++part] = 0;
    else
      *parts[part] = *parts[part] * 10 + static_cast<uint32_t>(c - '0');
  }
}

Type register_type(MatrixType t) {
  switch (t) {
    case MatrixType::f64:
      return Type::f64;
    case MatrixType::f32:
      return Type::f32;
    case MatrixType::f16:
      return Type::f16x2;
    case MatrixType::bf16:
      return Type::bf16x2;
    case MatrixType::tf32:
      return Type::tf32;
    default:
      return Type::u32;
  }
}

}  // namespace

// All registers of an mma fragment must have the same declared type, or be untyped.
void FunctionLoader::check_one_type(const Statement& s, const Operand& fragment) const {
  Type type = Type::none;
  for (const Operand& e : fragment.elements) {
    if (e.kind != OperandKind::kRegister || is_untyped(type_of(e))) continue;
    if (type != Type::none && type != type_of(e))
      refuse(e.at, spelling_of(s) + ": registers of different types in one fragment");
    type = type_of(e);
  }
}

void FunctionLoader::lower_matrix(const Statement& s, const Match& m) {
  MatrixShape shape;
  shape.is_wmma = s.opcode == "wmma";
  read_shape(m.word("shape"), shape);
  shape.d = matrix_type(m.word("d"));
  shape.c = matrix_type(m.word("c"));
  shape.a = m.has("a") ? matrix_type(m.word("a")) : MatrixType::f16;
  shape.b = m.has("e")                                 ? matrix_type(m.word("e"))
            : shape.a == MatrixType::b1 || !m.has("b") ? shape.a
                                                       : matrix_type(m.word("b"));
  shape.saturates = m.has("satfinite");
  shape.uses_and = m.word("op") == "and" || m.word("b") == "and";
  if (s.opcode == "mma" && m.word("shape") == "m8n8k4" && shape.a == MatrixType::f16)
    return lower_quad_pair_product(s, m);
  const uint32_t counts[4] = {fragment_registers(shape, shape.d, shape.m * shape.n, true),
                              fragment_registers(shape, shape.a, shape.m * shape.k, false),
                              fragment_registers(shape, shape.b, shape.k * shape.n, false),
                              fragment_registers(shape, shape.c, shape.m * shape.n, true)};
  emit_product("mma", s, shape, counts);
}

// counts: registers of the fragments d, a, b, c, in operand order.
void FunctionLoader::emit_product(const char* name, const Statement& s, const MatrixShape& shape,
                                  const uint32_t (&counts)[4]) {
  const MatrixType types[4] = {shape.d, shape.a, shape.b, shape.c};
  std::vector<ColumnId> list;
  for (size_t i = 0; i < 4; ++i) {
    const std::string what = spelling_of(s) + ": operand " + std::to_string(i + 1);
    if (s.opcode == "mma") check_one_type(s, s.operands[i]);
    for (ColumnId c : vector_columns(s.operands[i], register_type(types[i]), counts[i], what.c_str()))
      list.push_back(c);
  }
  Draft& draft = emit(name);
  draft.list = std::move(list);
  draft.list_defs = counts[0];
  draft.code.immediate = shape.pack();
}

// mma.m8n8k4 of f16: four products at once, each by two quads of lanes.
void FunctionLoader::lower_quad_pair_product(const Statement& s, const Match& m) {
  MatrixShape shape{8, 8, 4, matrix_type(m.word("d")), MatrixType::f16, MatrixType::f16, matrix_type(m.word("c"))};
  shape.a_by_column = m.word("la") == "col";
  shape.b_by_column = m.word("lb") == "col";
  const uint32_t counts[4] = {shape.d == MatrixType::f16 ? 4u : 8u, 2, 2, shape.c == MatrixType::f16 ? 4u : 8u};
  emit_product("mma.quad_pair", s, shape, counts);
}

void FunctionLoader::lower_matrix_load(const Statement& s, const Match& m) {
  const std::string what = spelling_of(s);
  if (s.opcode == "movmatrix") {
    Draft& draft = emit("movmatrix");
    draft.code.d = column_of(s.operands[0].index);
    draft.code.a = source(s.operands[1], Type::b32);
    return;
  }
  const bool loads = s.opcode == "ldmatrix";
  const uint32_t count = static_cast<uint32_t>(m.word("num")[1] - '0');
  const Place place =
      place_of(s.operands[loads ? 1 : 0], m.word("space").empty() ? Space::generic : Space::shared, s.at);
  std::vector<ColumnId> registers = vector_columns(s.operands[loads ? 0 : 1], Type::b32, count, what.c_str());
  Draft& draft = emit(s.opcode);
  set_place(draft, place);
  draft.code.flags |= m.has("trans") ? 1u << access::kFreeShift : 0;
  draft.code.count = static_cast<uint8_t>(count);
  draft.list = std::move(registers);
  draft.list_defs = loads ? count : 0;
}

void FunctionLoader::lower_wmma_memory(const Statement& s, const Match& m) {
  const bool loads = m.word("op") == "load";
  const std::string which(m.word("m")), what = spelling_of(s);
  MatrixShape shape;
  shape.is_wmma = true;
  read_shape(m.word("shape"), shape);
  const MatrixType type = matrix_type(m.word("t"));
  const uint32_t rows = which == "b" ? shape.k : shape.m, columns = which == "a" ? shape.k : shape.n;
  const bool is_accumulator = which == "c" || which == "d";
  const uint32_t count = fragment_registers(shape, type, rows * columns, is_accumulator);
  const Place place = place_of(s.operands[loads ? 1 : 0], space_of(s, m), s.at);
  std::vector<ColumnId> registers = vector_columns(s.operands[loads ? 0 : 1], register_type(type), count, what.c_str());
  if (place.offset != static_cast<int32_t>(place.offset)) refuse(s.at, what + ": the offset needs more than 32 bits");
  const ColumnId stride = s.operands.size() > 2 ? source(s.operands[2], Type::u32) : kNoColumn;
  Draft& draft = emit(loads ? "wmma.load" : "wmma.store");
  set_place(draft, place);
  draft.code.b = stride;
  draft.code.count = static_cast<uint8_t>(count);
  const uint64_t form =
      rows | columns << 8 | uint64_t{bits_of(type)} << 16 | (m.word("layout") == "col" ? 1ull << 23 : 0);
  draft.code.immediate = static_cast<int64_t>(form << 32 | static_cast<uint32_t>(place.offset));
  draft.list = std::move(registers);
  draft.list_defs = loads ? count : 0;
}

}  // namespace ptx::emulator
