// A task is a stretch of rows and a stretch of column tiles, small enough for the tiles to stay in the second-level
// cache and numerous enough to keep all threads busy. How the work is cut never changes a result.
#include "engine/cpu/products.h"

#include <algorithm>
#include <cassert>
#include <vector>

#include "engine/cpu/thread_pool.h"

namespace warpchat {
namespace {

constexpr uint64_t kCachedInputBytes = 512 << 10;  // of a task's tiles
constexpr uint32_t kMostGroups = 8;                // of a task with several columns
constexpr uint32_t kTasksPerThread = 8;            // enough to even out threads that start late or are slowed down

uint64_t integer_bytes(uint64_t k) { return (k + kInputBlock - 1) / kInputBlock * kInputBlockBytes; }  // of a column
uint32_t ceil_div(uint32_t a, uint32_t b) { return (a + b - 1) / b; }

uint32_t round_up_columns(uint32_t columns) { return (columns + 15) / 16 * 16; }  // no tile is wider

// How one product is cut: n_row_parts x n_column_parts tasks.
struct Cut {
  uint32_t groups, columns;  // of a task
  uint32_t row_parts, column_parts;
  uint32_t n_tasks() const { return row_parts * column_parts; }
};

Cut cut(const PackedMatrix& matrix, uint32_t columns, uint32_t tile_columns, uint32_t n_threads) {
  Cut c{};
  const uint64_t tile_bytes = integer_bytes(matrix.k()) * tile_columns;
  const uint64_t tiles = std::max<uint64_t>(1, kCachedInputBytes / tile_bytes);
  c.columns = static_cast<uint32_t>(std::min<uint64_t>(columns, tiles * tile_columns));
  c.column_parts = ceil_div(columns, c.columns);
  const uint32_t wanted = std::max(1u, n_threads * kTasksPerThread / c.column_parts);
  c.groups = std::max(1u, matrix.n_groups() / wanted);
  if (columns > 1) c.groups = std::min(c.groups, kMostGroups);
  c.row_parts = ceil_div(matrix.n_groups(), c.groups);
  return c;
}

}  // namespace

uint64_t ProductRunner::bytes_needed(uint32_t max_columns, uint32_t max_k) {
  const uint64_t columns = round_up_columns(max_columns);
  uint64_t bytes;
  return __builtin_mul_overflow(columns, integer_bytes(max_k) + sizeof(float) * uint64_t{max_k}, &bytes) ? UINT64_MAX
                                                                                                         : bytes;
}

ProductRunner::ProductRunner(ThreadPool& pool, const CpuKernels& kernels, uint32_t max_columns, uint32_t max_k)
    : pool_(pool),
      kernels_(kernels),
      integers_(round_up_columns(max_columns) * integer_bytes(max_k), "activations"),
      floats_(round_up_columns(max_columns) * uint64_t{max_k} * sizeof(float), "activations") {}

void ProductRunner::run(const ProductInput& input, std::span<const Product> products) {
  constexpr size_t kMostProducts = 3;
  assert(products.size() <= kMostProducts);
  bool integers = false, floats = false;
  Cut cuts[kMostProducts];
  uint32_t n_tasks = 0;
  for (size_t i = 0; i < products.size(); ++i) {
    const Product& p = products[i];
    assert(p.matrix->k() == input.k);
    for (const PackedMatrix* matrix : {p.matrix, p.gate})
      if (matrix != nullptr) (matrix->format().takes_floats ? floats : integers) = true;
    cuts[i] = cut(*p.matrix, input.columns, kernels_.tile_columns, pool_.n_threads());
    n_tasks += cuts[i].n_tasks();
  }
  prepare(input, integers, floats);
  pool_.for_each(n_tasks, [&](uint32_t task) {
    size_t i = 0;
    for (; task >= cuts[i].n_tasks(); ++i) task -= cuts[i].n_tasks();
    const Cut& c = cuts[i];
    const uint32_t group = task % c.row_parts * c.groups, column = task / c.row_parts * c.columns;
    multiply(products[i], input, group, std::min(group + c.groups, products[i].matrix->n_groups()), column,
             std::min(column + c.columns, input.columns));
  });
}

void ProductRunner::prepare(const ProductInput& input, bool integers, bool floats) {
  const uint32_t width = kernels_.tile_columns;
  pool_.for_each(ceil_div(input.columns, width), [&](uint32_t tile) {
    const uint32_t first = tile * width, columns = std::min(width, input.columns - first);
    PrepareInput p{};
    p.x = input.x + uint64_t{first} * input.k;
    p.stride = input.k;
    p.k = input.k;
    p.columns = columns;
    p.width = columns > kernels_.narrow_columns ? width : columns > 1 ? kernels_.narrow_columns : 1;
    p.gain = input.gain;
    p.eps = input.eps;
    if (integers) p.integers = integers_.as<uint8_t>() + first * integer_bytes(input.k);
    if (floats) p.floats = floats_.as<float>() + uint64_t{first} * input.k;
    kernels_.prepare(p);
  });
}

void ProductRunner::multiply(const Product& product, const ProductInput& input, uint32_t first_group,
                             uint32_t end_group, uint32_t first_column, uint32_t end_column) const {
  const uint32_t rows = product.matrix->rows();
  const auto run = [&](const PackedMatrix& matrix, Epilogue epilogue) {
    MultiplyTiles m{};
    m.groups = matrix.group(first_group);
    m.group_bytes = matrix.group_bytes();
    m.first_row = first_group * kernels_.lanes;
    m.end_row = std::min(rows, end_group * kernels_.lanes);
    m.k = input.k;
    m.tiles = matrix.format().takes_floats
                  ? reinterpret_cast<const uint8_t*>(floats_.as<float>() + uint64_t{first_column} * input.k)
                  : integers_.as<uint8_t>() + first_column * integer_bytes(input.k);
    m.columns = end_column - first_column;
    m.out = product.out + uint64_t{first_column} * rows;
    m.out_stride = rows;
    m.bias = product.bias;
    m.epilogue = epilogue;
    matrix.format().multiply(m);
  };
  if (product.gate == nullptr) return run(*product.matrix, product.epilogue);
  run(*product.gate, Epilogue::kStore);
  run(*product.matrix, Epilogue::kSiluTimes);
}

}  // namespace warpchat
