// A task is a range of rows and of column tiles: small enough for its reused data to stay in the L2 cache, and numerous
// enough to keep all threads busy. The split never changes a result.
#include "engine/cpu/products.h"

#include <algorithm>
#include <cassert>
#include <vector>

#include "engine/cpu/rounding.h"
#include "engine/cpu/thread_pool.h"

namespace warpchat {
namespace {

constexpr uint64_t kCachedInputBytes = 512 << 10;  // float tiles per task
constexpr uint32_t kTasksPerThread = 8;            // balances threads that start late or are slowed down

uint64_t integer_bytes(uint64_t k) { return (k + kInputBlock - 1) / kInputBlock * kInputBlockBytes; }  // per column
// With fewer columns a wide tile, which costs as much as a full one, is no faster than narrow ones.
constexpr uint32_t kFewestWideColumns = 8;

uint32_t round_up_columns(uint32_t columns) { return round_up(columns, 16u); }  // widest tile

// Split of one product into n_row_parts x n_column_parts tasks.
struct Cut {
  uint32_t groups, columns;  // per task
  uint32_t row_parts, column_parts;
  uint32_t n_tasks() const { return row_parts * column_parts; }
};

// How many of the columns, counted from the first, are in wide tiles.
uint32_t n_wide_columns(const CpuKernels& kernels, uint32_t columns) {
  if (kernels.wide_columns == 0) return 0;
  const uint32_t rest = columns % kernels.wide_columns;
  return rest >= kFewestWideColumns ? columns : columns - rest;
}

// share: this matrix's fraction of the work. Smaller matrices get fewer tasks, since each task starts from cold memory.
Cut cut(const PackedMatrix& matrix, uint32_t columns, uint32_t widest_tile, uint32_t n_threads, double share) {
  Cut c{};
  const uint64_t tile_bytes = uint64_t{matrix.k()} * widest_tile * sizeof(float);
  const uint32_t max = matrix.format().accepts_f32
                           ? std::max<uint32_t>(1, static_cast<uint32_t>(kCachedInputBytes / tile_bytes)) * widest_tile
                           : kColumnsAtOnce;
  c.columns = std::min(columns, round_up(ceil_div(columns, ceil_div(columns, max)), widest_tile));
  c.column_parts = ceil_div(columns, c.columns);
  const double wanted = std::max(1.0, n_threads * kTasksPerThread * share / c.column_parts);
  c.groups = std::max(1u, static_cast<uint32_t>(matrix.n_groups() / wanted));
  if (columns > 1) c.groups = std::min(c.groups, kGroupsAtOnce);
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
      widest_(std::max(kernels.tile_columns, kernels.wide_columns)),
      max_columns_(round_up_columns(max_columns)),
      integers_(max_columns_ * integer_bytes(max_k), "activations"),
      floats_(max_columns_ * uint64_t{max_k} * sizeof(float), "activations") {}

void ProductRunner::run(const ProductInput& input, std::span<const Product> products) {
  constexpr size_t kMaxProducts = 4;
  assert(products.size() <= kMaxProducts);
  Kinds kinds;
  Cut cuts[kMaxProducts];
  uint32_t n_tasks = 0;
  double all_bytes = 0;
  for (const Product& p : products) all_bytes += static_cast<double>(p.matrix->n_bytes());
  for (size_t i = 0; i < products.size(); ++i) {
    const Product& p = products[i];
    assert(p.matrix->k() == input.k);
    kinds.add(*p.matrix, p.gate);
    const double share = static_cast<double>(p.matrix->n_bytes()) / all_bytes;
    cuts[i] = cut(*p.matrix, input.columns, widest_, pool_.n_threads(), share);
    n_tasks += cuts[i].n_tasks();
  }
  prepare(input, kinds);
  pool_.for_each(n_tasks, [&](uint32_t task) {
    size_t i = 0;
    for (; task >= cuts[i].n_tasks(); ++i) task -= cuts[i].n_tasks();
    const Cut& c = cuts[i];
    const uint32_t group = task % c.row_parts * c.groups, column = task / c.row_parts * c.columns;
    Product part = products[i];
    part.out += uint64_t{column} * part.matrix->rows();
    multiply(part, input.k, group, std::min(group + c.groups, part.matrix->n_groups()),
             {column, std::min(c.columns, input.columns - column)});
  });
}

size_t ProductRunner::fitting(std::span<const ProductGroup> groups) const {
  size_t n = 0;
  for (uint32_t columns = 0; n < groups.size(); ++n) {
    columns += round_up_columns(groups[n].end - groups[n].first);
    if (n > 0 && columns > max_columns_) break;
  }
  return n;
}

// Each group has its own tiles. A single input column is prepared once for all groups.
void ProductRunner::run_groups(const ProductInput& input, const uint32_t* from, std::span<const ProductGroup> groups,
                               float* out) {
  assert(!groups.empty() && fitting(groups) == groups.size());
  struct Part {
    const ProductGroup* group;
    uint32_t column;  // output column
    Tile tiles;
    Cut cut = {};           // only in `multiplied`
    uint32_t end_task = 0;  // end of its range of task numbers
  };
  std::vector<Part> prepared, multiplied;
  Kinds kinds;
  uint32_t at = 0, n_tasks = 0;
  for (const ProductGroup& group : groups) {
    const uint32_t columns = group.end - group.first, first = group.first - groups.front().first;
    const auto part = [&](uint32_t column, uint32_t max) {
      return Part{&group, first + column, {at + column, std::min(max, columns - column)}};
    };
    kinds.add(*group.matrix, group.gate);
    if (input.columns > 1 || prepared.empty())
      for (uint32_t column = 0; column < columns; column += widest_) prepared.push_back(part(column, widest_));
    const Cut c = cut(*group.matrix, columns, widest_, pool_.n_threads(), 1.0 / static_cast<double>(groups.size()));
    for (uint32_t column = 0; column < columns; column += c.columns) {
      multiplied.push_back(part(column, c.columns));
      multiplied.back().cut = c;
      multiplied.back().end_task = n_tasks += c.row_parts;
    }
    if (input.columns > 1) at += round_up_columns(columns);
  }
  std::vector<std::vector<float>> gathered(pool_.n_threads());
  pool_.for_each(static_cast<uint32_t>(prepared.size()), [&](uint32_t i, uint32_t thread) {
    const auto& [group, column, tile, c, end] = prepared[i];
    const auto x_of = [&](uint32_t to) { return input.x + uint64_t{from ? from[to] : to} * input.k; };
    if (tile.columns == 1 || from == nullptr) return prepare_tile(input, x_of(column), tile, kinds);
    std::vector<float>& x = gathered[thread];
    x.resize(uint64_t{tile.columns} * input.k);
    for (uint32_t to = 0; to < tile.columns; ++to)
      std::copy_n(x_of(column + to), input.k, x.begin() + uint64_t{to} * input.k);
    prepare_tile(input, x.data(), tile, kinds);
  });
  pool_.for_each(n_tasks, [&](uint32_t task) {
    const auto& [group, column, tiles, c, end] = *std::ranges::upper_bound(multiplied, task, {}, &Part::end_task);
    const uint32_t row_group = (task - (end - c.row_parts)) * c.groups;
    multiply({group->matrix, out + uint64_t{column} * group->matrix->rows(), Epilogue::kStore, nullptr, group->gate},
             input.k, row_group, std::min(row_group + c.groups, group->matrix->n_groups()), tiles);
  });
}

void ProductRunner::Kinds::add(const PackedMatrix& matrix, const PackedMatrix* gate) {
  for (const PackedMatrix* m : {&matrix, gate})
    if (m != nullptr) (m->format().accepts_f32 ? floats : integers) = true;
}

void ProductRunner::prepare(const ProductInput& input, Kinds kinds) {
  pool_.for_each(ceil_div(input.columns, widest_), [&](uint32_t i) {
    const Tile tile{i * widest_, std::min(widest_, input.columns - i * widest_)};
    prepare_tile(input, input.x + uint64_t{tile.at} * input.k, tile, kinds);
  });
}

// x: the first column. Float tiles are never wide.
void ProductRunner::prepare_tile(const ProductInput& input, const float* x, const Tile& tile, Kinds kinds) {
  PrepareInput p{};
  p.stride = input.k;
  p.k = input.k;
  p.gain = input.gain;
  p.eps = input.eps;
  const bool is_wide = n_wide_columns(kernels_, tile.columns) > 0;
  if (is_wide && kinds.integers) {
    p.x = x;
    p.columns = tile.columns;
    p.integers = integers_at(tile.at, input.k);
    kernels_.prepare_wide(p);
  }
  kinds.integers &= !is_wide;
  if (!kinds.integers && !kinds.floats) return;
  for (uint32_t first = 0; first < tile.columns; first += p.columns) {
    p.x = x + uint64_t{first} * input.k;
    for (p.columns = kernels_.tile_columns; p.columns > tile.columns - first;) p.columns = narrower_tile(p.columns);
    p.integers = kinds.integers ? integers_at(tile.at + first, input.k) : nullptr;
    p.floats = kinds.floats ? floats_at(tile.at + first, input.k) : nullptr;
    kernels_.prepare(p);
  }
}

// product.out: output of the tiles' first column.
void ProductRunner::multiply(const Product& product, uint32_t k, uint32_t first_group, uint32_t end_group,
                             const Tile& tiles) const {
  const uint32_t rows = product.matrix->rows();
  const auto run = [&](const PackedMatrix& matrix, const float* bias, Epilogue epilogue) {
    const FormatKernels& format = matrix.format();
    MultiplyTiles m{};
    m.groups = matrix.group(first_group);
    m.group_bytes = matrix.group_bytes();
    m.first_row = first_group * kernels_.lanes;
    m.end_row = std::min(rows, end_group * kernels_.lanes);
    m.k = k;
    m.out_stride = rows;
    m.bias = bias;
    m.epilogue = epilogue;
    const auto run_columns = [&](MultiplyFunction run_tiles, uint32_t first, uint32_t end) {
      if (first == end) return;
      m.tiles = format.accepts_f32 ? reinterpret_cast<const uint8_t*>(floats_at(tiles.at + first, k))
                                   : integers_at(tiles.at + first, k);
      m.columns = end - first;
      m.out = product.out + uint64_t{first} * rows;
      run_tiles(m);
    };
    const uint32_t n_wide = format.accepts_f32 ? 0 : n_wide_columns(kernels_, tiles.columns);
    run_columns(format.multiply_wide, 0, n_wide);
    run_columns(format.multiply, n_wide, tiles.columns);
  };
  if (product.gate == nullptr) return run(*product.matrix, product.bias, product.epilogue);
  run(*product.gate, product.gate_bias, Epilogue::kStore);
  run(*product.matrix, product.bias, Epilogue::kSiluTimes);
}

// The tile that begins at this column.
uint8_t* ProductRunner::integers_at(uint32_t column, uint32_t k) const {
  return integers_.as<uint8_t>() + column * integer_bytes(k);
}
float* ProductRunner::floats_at(uint32_t column, uint32_t k) const {
  return floats_.as<float>() + uint64_t{column} * k;
}

}  // namespace warpchat
