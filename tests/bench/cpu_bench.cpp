// The CPU's inner loops alone: cpu_bench [--simd NAME] [--format Q4_K|attention] [--rows 1536] [--k 1536] [--columns
// 512]. Prints one line per format (packing, one column, many columns) and per length of attention. Times are of this
// thread's CPU, the best of many runs. cpu_bench --threads 2 [--columns 1]: one or a few columns of matrices that no
// cache holds, beside the read bandwidth of the same threads in the same seconds. Times are wall-clock, medians of
// rounds in turn.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "engine/cpu/attention.h"
#include "engine/cpu/products.h"
#include "engine/cpu/read_bandwidth.h"
#include "engine/cpu/simd_level.h"
#include "engine/cpu/thread_pool.h"
#include "engine/file_mappings.h"
#include "models/error.h"
#include "tests/bench/median.h"
#include "tests/support/gguf/quantise.h"

namespace warpchat {
namespace {

struct Options {
  std::string simd, format;
  uint32_t rows = 1536, k = 1536, threads = 0, columns = 0;  // columns: 0: 512, or 1 with --threads
};

double thread_seconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

template <class Work>
double best_seconds(int runs, const Work& work) {
  double best = 1e9;
  for (int i = 0; i < runs; ++i) {
    const double start = thread_seconds();
    work();
    best = std::min(best, thread_seconds() - start);
  }
  return best;
}

std::vector<float> random_floats(size_t n) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> values(n);
  for (float& v : values) v = normal(random);
  return values;
}

// One random row, repeated. Its values do not matter, as long as they are ordinary numbers.
std::vector<std::byte> random_rows(TensorType type, const Options& o) {
  const std::vector<std::byte> row = quantise_row(type, random_floats(o.k));
  std::vector<std::byte> rows;
  for (uint32_t i = 0; i < o.rows; ++i) rows.insert(rows.end(), row.begin(), row.end());
  return rows;
}

void measure_format(const TensorTypeTraits& format, const CpuKernels& kernels, const Options& o) {
  const std::vector<std::byte> data = random_rows(format.type, o);
  const TensorInfo tensor{"bench", format.type, {o.k, o.rows, 1, 1}, 2, data};
  ThreadPool pool(1);
  Arena arena(PackedMatrix::bytes_needed(kernels, tensor) * 4 + 4096, "weights");
  const FileMappings mappings;
  const double packing = best_seconds(3, [&] { PackedMatrix(pool, kernels, tensor, mappings, arena); });
  const PackedMatrix matrix(pool, kernels, tensor, mappings, arena);
  const uint32_t n_columns = o.columns > 0 ? o.columns : 512;
  const std::vector<float> x = random_floats(size_t{n_columns} * o.k);
  std::vector<float> out(size_t{n_columns} * o.rows);
  ProductRunner runner(pool, kernels, n_columns, o.k);
  const auto multiply = [&](uint32_t columns) {
    const Product product{&matrix, out.data()};
    runner.run({x.data(), columns, o.k}, {&product, 1});
  };
  const double one = best_seconds(300, [&] { multiply(1); });
  const double many = best_seconds(n_columns < 32 ? 300 : 7, [&] { multiply(n_columns); });
  const double bytes = static_cast<double>(matrix.n_bytes()), products = double(o.rows) * o.k;
  std::printf("%-7s pack %6.2f GB/s | 1 column %9.1f us %7.2f GB/s | %u columns %9.1f us %7.1f GMAC/s\n",
              std::string(format.name).c_str(), bytes / packing * 1e-9, one * 1e6, bytes / one * 1e-9, n_columns,
              many * 1e6, products * n_columns / many * 1e-9);
}

void measure_streaming(const TensorTypeTraits& format, const CpuKernels& kernels, const Options& options) {
  constexpr uint64_t kBytes = 512 << 20;
  constexpr int kRounds = 15;
  Options o = options;
  o.rows = static_cast<uint32_t>(kBytes / bytes_per_row(format.type, o.k));
  const std::vector<std::byte> data = random_rows(format.type, o);
  const TensorInfo tensor{"bench", format.type, {o.k, o.rows, 1, 1}, 2, data};
  ThreadPool pool(o.threads);
  Arena arena(PackedMatrix::bytes_needed(kernels, tensor), "weights");
  const FileMappings mappings;
  const PackedMatrix matrix(pool, kernels, tensor, mappings, arena);
  const uint32_t n_columns = std::max(1u, o.columns);
  const std::vector<float> x = random_floats(size_t{n_columns} * o.k);
  std::vector<float> out(size_t{n_columns} * o.rows);
  ProductRunner runner(pool, kernels, n_columns, o.k);
  const Product product{&matrix, out.data()};
  std::vector<double> rates, read, ratios;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    runner.run({x.data(), n_columns, o.k}, {&product, 1});
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    rates.push_back(static_cast<double>(matrix.n_bytes()) / seconds);
    read.push_back(read_bandwidth(pool, {arena.data(), arena.n_taken()}));
    ratios.push_back(rates.back() / read.back());
  }
  std::printf("%-7s %u columns %6.2f GB/s, read %6.2f GB/s, ratio %.2f\n", std::string(format.name).c_str(), n_columns,
              median(rates) * 1e-9, median(read) * 1e-9, median(ratios));
}

void measure_attention(const CpuKernels& kernels, uint32_t n_heads, uint32_t head_dim, uint32_t position,
                       uint32_t columns, KvTypes types = {}) {
  ModelConfig config{};
  config.n_layers = 1, config.n_heads = n_heads, config.n_kv_heads = 2, config.head_dim = head_dim;
  ThreadPool pool(1);
  CachedAttention attention(pool, kernels, config, position + columns, 1, types);
  const std::vector<float> q = random_floats(size_t{columns} * config.n_heads * head_dim);
  std::vector<float> out(q.size());
  for (uint32_t p = 0; p < position + columns; ++p)
    for (uint32_t h = 0; h < config.n_kv_heads; ++h) attention.store(0, 0, h, p, &q[p % 5], &q[p % 7]);
  const CachedRun run{0, position, columns};
  const double seconds = best_seconds(columns == 1 ? 200 : 5, [&] {
    attention.run(0, {&run, 1}, q.data(), out.data());
  });
  const double cache_bytes =
      double(position + columns) * static_cast<double>(CachedAttention::cache_bytes_per_position(config, types));
  const double products = 2.0 * columns * (position + (columns + 1) / 2.0) * config.n_heads * head_dim;
  std::printf("attention %u heads on 2 of %3u%s, position %5u, %3u columns %9.1f us %7.2f GB/s %7.1f GMAC/s\n", n_heads,
              head_dim, types.k == KvType::kF16 ? "" : " as codes", position, columns, seconds * 1e6,
              cache_bytes / seconds * 1e-9, products / seconds * 1e-9);
}

int run(const Options& o) {
  const CpuKernels& kernels = choose_kernels(o.simd);
  if (o.threads > 0) {
    std::printf("%s, %u threads, k %u\n", kernels.shown, o.threads, o.k);
  } else {
    std::printf("%s, matrices of %u x %u\n", kernels.shown, o.rows, o.k);
  }
  for (const TensorTypeTraits& format : supported_tensor_types())
    if (o.k % format.block_weights == 0 && (o.format.empty() || o.format == format.name))
      (o.threads > 0 ? measure_streaming : measure_format)(format, kernels, o);
  if ((!o.format.empty() && o.format != "attention") || o.threads > 0) return 0;
  for (uint32_t n_heads : {4u, 8u, 14u, 16u}) measure_attention(kernels, n_heads, 128, 4095, 1);
  for (uint32_t columns : {1u, 512u})
    measure_attention(kernels, 12, 128, 3584, columns, {KvType::kQ8_0, KvType::kQ8_0});
  for (uint32_t head_dim : {64u, 128u})
    for (auto [position, columns] : {std::pair{63u, 1u}, {511u, 1u}, {4095u, 1u}, {0u, 512u}, {3584u, 512u}})
      measure_attention(kernels, 12, head_dim, position, columns);
  return 0;
}

}  // namespace
}  // namespace warpchat

int main(int argc, char** argv) {
  warpchat::Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string flag = argv[i];
    if (flag == "--simd") options.simd = argv[i + 1];
    if (flag == "--format") options.format = argv[i + 1];
    if (flag == "--rows") options.rows = static_cast<uint32_t>(std::atoi(argv[i + 1]));
    if (flag == "--threads") options.threads = static_cast<uint32_t>(std::atoi(argv[i + 1]));
    if (flag == "--columns") options.columns = static_cast<uint32_t>(std::atoi(argv[i + 1]));
    if (flag == "--k") options.k = static_cast<uint32_t>(std::atoi(argv[i + 1]));
  }
  try {
    return warpchat::run(options);
  } catch (const warpchat::Error& error) {
    std::fprintf(stderr, "cpu_bench: %s\n", error.what());
    return 1;
  }
}
