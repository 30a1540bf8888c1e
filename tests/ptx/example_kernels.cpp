#include "example_kernels.h"

#include <limits>

namespace ptx::testing {
namespace {

constexpr uint32_t ceil_div(uint32_t n, uint32_t d) { return (n + d - 1) / d; }

// Combines `value` over all threads and returns it to every thread; slots holds one element per warp.
template <class Combine>
Reg<f32> block_reduce(Builder& b, const Shared<f32>& slots, int warps, In<f32> value, Combine combine) {
  Var<f32> partial = b.var<f32>("partial", value);
  for (uint32_t distance = kWarpSize / 2; distance > 0; distance /= 2) {
    partial = combine(partial, b.shuffle_xor(partial, distance));
  }
  b.if_(b.lane() == 0, [&] { slots.store(b.warp(), partial); });
  b.barrier();
  Var<f32> total = b.var<f32>("total", slots.load());
  for (int warp = 1; warp < warps; ++warp) total = combine(total, slots.load(warp));
  b.barrier();  // the slots may be overwritten
  return total;
}

}  // namespace

Kernel vector_add(uint32_t n, Target target) {
  Builder b("vector_add", target);
  Global<f32> x = b.global<f32>("x", n), y = b.global<f32>("y", n), sum = b.global<f32>("sum", n);
  Reg<u32> i = (b.block() * 256 + b.thread()).named("i");
  b.if_(i < n, [&] {
    Reg<f32> left = x.load(i), right = y.load(i);
    sum.store(i, left + right);
  });
  return b.finish(Launch{ceil_div(n, 256), 256}, Cost{.bytes = 12ull * n, .flops = n});
}

Kernel softmax(uint32_t rows, uint32_t columns, Target target) {
  constexpr uint32_t kThreads = 128;
  Builder b("softmax", target);
  Global<f32> in = b.global<f32>("in", uint64_t{rows} * columns), out = b.global<f32>("out", uint64_t{rows} * columns);
  Shared<f32> slots = b.shared<f32>("slots", kThreads / kWarpSize);
  Reg<u64> row_start = wide(b.block()) * columns;
  Global<f32> from = in + row_start, to = out + row_start;
  Var<f32> highest = b.var("highest", -std::numeric_limits<float>::infinity());
  b.for_("column", b.thread(), columns, kThreads,
         [&](Reg<u32> column) { highest = b.max(highest, from.load(column)); });
  Reg<f32> top =
      block_reduce(b, slots, kThreads / kWarpSize, highest, [&](In<f32> l, In<f32> r) { return b.max(l, r); });
  const auto exponential = [&](const Reg<f32>& x) { return b.ex2((x - top) * 1.44269504f); };  // e^(x - top)
  Var<f32> sum = b.var("sum", 0.0f);
  b.for_("column", b.thread(), columns, kThreads, [&](Reg<u32> column) { sum += exponential(from.load(column)); });
  Reg<f32> total = block_reduce(b, slots, kThreads / kWarpSize, sum, [&](In<f32> l, In<f32> r) { return b.add(l, r); });
  b.for_("column", b.thread(), columns, kThreads,
         [&](Reg<u32> column) { to.store(column, exponential(from.load(column)) / total); });
  return b.finish(Launch{rows, kThreads});
}

Kernel matmul(uint32_t m, uint32_t n, uint32_t k, Target target) {
  constexpr uint32_t kTile = 64, kDepth = 32, kPitch = kDepth + 8;  // 80-byte rows: ldmatrix without bank conflicts
  const bool wide_mma = runs(target, sm_80);
  Builder b("matmul", target);
  Global<f16> a = b.global<f16>("a", uint64_t{m} * k), bt = b.global<f16>("b", uint64_t{n} * k);
  Global<f32> c = b.global<f32>("c", uint64_t{m} * n);
  Shared<f16> a_tile = b.shared<f16>("a_tile", kTile * kPitch), b_tile = b.shared<f16>("b_tile", kTile * kPitch);
  Reg<u32> first_row = b.block(Axis::kY) * kTile, first_column = b.block(Axis::kX) * kTile;

  // 128 threads copy a tile of 64 rows of 32 f16 values in two rounds of 16 bytes each.
  const auto fetch = [&](const Shared<f16>& tile, const Global<f16>& from, const Reg<u32>& first,
                         const Reg<u32>& depth) {
    for (uint32_t round = 0; round < 2; ++round) {
      Reg<u32> row = (b.thread() >> 2) + round * 32, column = (b.thread() & 3) * 8;
      Global<f16> source = from + wide(first + row) * k + (depth + column);
      Shared<f16> target_cell = tile + row * kPitch + column;
      if (wide_mma)
        b.copy_async(target_cell, source, Bytes<16>{});
      else
        target_cell.as<b32>().store(0, source.as<b32>().load<4>());
    }
  };

  // Each of the four warps owns 32 x 32 results: 2 x 4 products of 16 x 8.
  Reg<u32> warp_row = (b.warp() >> 1) * 32, warp_column = (b.warp() & 1) * 32;
  std::vector<VarVec<f32, 4>> sums;
  for (int i = 0; i < 8; ++i) sums.push_back(b.vars<f32, 4>("c", 0.0f));
  b.for_("depth", 0, k, kDepth, [&](Reg<u32> depth) {
    b.region("fetch", [&] {
      fetch(a_tile, a, first_row, depth);
      fetch(b_tile, bt, first_column, depth);
      if (wide_mma) b.wait_copies();
      b.barrier();
    });
    b.region("multiply", [&] {
      for (uint32_t step = 0; step < kDepth; step += 16) {
        Reg<u32> lane_row = b.lane() & 15, lane_column = (b.lane() >> 4) * 8 + step;
        for (uint32_t i = 0; i < 2; ++i) {
          auto rows = b.ldmatrix<4>(a_tile + (warp_row + lane_row + i * 16) * kPitch + lane_column);
          for (uint32_t j = 0; j < 2; ++j) {
            // Matrices 0 and 2 are the two depths of columns 0-7, 1 and 3 of columns 8-15.
            auto columns = b.ldmatrix<4>(b_tile + (warp_column + lane_row + j * 16) * kPitch + lane_column);
            for (int half = 0; half < 2; ++half) {
              VarVec<f32, 4>& sum = sums[i * 4 + j * 2 + half];
              if (wide_mma) {
                sum = b.mma(rows, Vec<f16x2, 2>(columns[half], columns[half + 2]), sum);
              } else {
                sum = b.mma(rows.slice<2>(0), Vec<f16x2, 1>(columns[half]), sum);
                sum = b.mma(rows.slice<2>(2), Vec<f16x2, 1>(columns[half + 2]), sum);
              }
            }
          }
        }
      }
      b.barrier();
    });
  });
  // Lane l holds columns 2 (l % 4) and the next of rows l / 4 and 8 + l / 4.
  Reg<u32> row = first_row + warp_row + (b.lane() >> 2), column = first_column + warp_column + (b.lane() & 3) * 2;
  for (uint32_t i = 0; i < 2; ++i) {
    for (uint32_t j = 0; j < 4; ++j) {
      Global<f32> to = c + wide(row + i * 16) * n + (column + j * 8);
      to.store(0, {sums[i * 4 + j][0], sums[i * 4 + j][1]});
      to.store(uint64_t{8} * n, {sums[i * 4 + j][2], sums[i * 4 + j][3]});
    }
  }
  return b.finish(Launch{{n / kTile, m / kTile}, 128}, Cost{.flops = 2ull * m * n * k});
}

Kernel gemv_s8(uint32_t rows, uint32_t k, Target target) {
  constexpr uint32_t kWarps = 4;
  Builder b("gemv_s8", target);
  Global<s8> weights = b.global<s8>("weights", uint64_t{rows} * k), x = b.global<s8>("x", k);
  Global<f32> scale = b.global<f32>("scale", rows), y = b.global<f32>("y", rows);
  Reg<u32> row = (b.block() * kWarps + b.warp()).named("row");
  b.if_(row < rows, [&] {  // a warp shares its row, so this never splits it
    Global<s8x4> row_start = (weights + wide(row) * k).as<s8x4>();
    Var<s32> sum = b.var("sum", 0);
    b.for_("chunk", b.lane(), k / 16, kWarpSize, [&](Reg<u32> chunk) {
      Vec<s8x4, 4> w = row_start.load<4>(chunk * 4, kReadOnly), v = x.as<s8x4>().load<4>(chunk * 4, kReadOnly);
      for (int i = 0; i < 4; ++i) sum = b.dp4a(w[i], v[i], sum);
    });
    for (uint32_t distance = kWarpSize / 2; distance > 0; distance /= 2) sum += b.shuffle_xor(sum, distance);
    b.if_(b.lane() == 0, [&] { y.store(row, b.convert<f32>(sum) * scale.load(row)); });
  });
  return b.finish(Launch{ceil_div(rows, kWarps), kWarps * kWarpSize}, Cost{.bytes = uint64_t{rows} * k});
}

Kernel scan(uint32_t n, Target target) {
  constexpr uint32_t kThreads = 256, kWarps = kThreads / kWarpSize;
  constexpr uint32_t kAggregate = 1, kPrefix = 2;  // meaning of a tile's sum, in the upper word of its state
  Builder b("scan", target);
  Global<u32> in = b.global<u32>("in", n), out = b.global<u32>("out", n);
  Global<u64> state = b.global<u64>("state", ceil_div(n, kThreads));
  Global<u32> ticket = b.global<u32>("ticket", 1);
  Shared<u32> warp_sums = b.shared<u32>("warp_sums", kWarps), tile_slot = b.shared<u32>("tile", 1);
  Shared<u32> before_slot = b.shared<u32>("before", 1);

  // Tiles are numbered in the order in which blocks start, so a tile only waits for running ones.
  b.if_(b.thread() == 0, [&] { tile_slot.store(0, ticket.atom(Atomic::kAdd, 1)); });
  b.barrier();
  Reg<u32> tile = b.uniform(tile_slot.load());
  Reg<u32> i = (tile * kThreads + b.thread()).named("i");
  Var<u32> sum = b.var("sum", 0u);
  b.if_(i < n, [&] { sum = in.load(i); });
  for (uint32_t distance = 1; distance < kWarpSize; distance *= 2) {
    auto below = b.shuffle_up_checked(sum, distance);
    b.predicated(below.in_range, [&] { sum += below.value; });
  }
  b.if_(b.lane() == kWarpSize - 1, [&] { warp_sums.store(b.warp(), sum); });
  b.barrier();
  Var<u32> total = b.var("total", 0u);
  for (uint32_t warp = 0; warp < kWarps; ++warp) {
    Reg<u32> part = warp_sums.load(warp);
    b.predicated(b.warp() > warp, [&] { sum += part; });
    total += part;
  }

  // One thread walks back over earlier tiles to the first whose prefix is known.
  b.if_(b.thread() == 0, [&] {
    const auto publish = [&](uint64_t kind, const Reg<u32>& value) {
      (state + tile).store_release(wide(value) | kind << 32, Scope::kGpu);
    };
    publish(kAggregate, total);
    Var<u32> before = b.var("before", 0u);
    Var<u32> unknown = b.var("unknown", tile);  // tiles whose sum is not in `before` yet
    b.while_([&] { return unknown > 0; },
             [&] {
               Reg<u64> seen = (state + (unknown - 1)).load_acquire(Scope::kGpu);
               Reg<u32> kind = b.convert<u32>(seen >> 32), part = b.convert<u32>(seen);
               b.if_(kind != 0, [&] {
                 before += part;
                 unknown = b.select(kind == kPrefix, 0, unknown - 1);
               });
             });
    publish(kPrefix, before + total);
    before_slot.store(0, before);
  });
  b.barrier();
  b.if_(i < n, [&] { out.store(i, before_slot.load() + sum); });
  return b.finish(Launch{ceil_div(n, kThreads), kThreads});
}

Kernel sort_blocks(uint32_t blocks, Target target) {
  constexpr uint32_t kNumbers = 1024, kThreads = kNumbers / 2;
  Builder b("sort_blocks", target);
  Global<u32> numbers = b.global<u32>("numbers", uint64_t{blocks} * kNumbers);
  Shared<u32> tile = b.shared<u32>("tile", kNumbers);
  Global<u32> block_start = numbers + b.block() * kNumbers;
  for (uint32_t half = 0; half < 2; ++half) {
    Reg<u32> cell = b.thread() + half * kThreads;
    tile.store(cell, block_start.load(cell));
  }
  b.barrier();
  // Bitonic: runs of `run` numbers, alternately ascending and descending, are merged with distances run / 2, ..., 1.
  for (uint32_t run = 2; run <= kNumbers; run *= 2) {
    for (uint32_t distance = run / 2; distance > 0; distance /= 2) {
      Reg<u32> low_cell = b.thread() * 2 - (b.thread() & (distance - 1));
      Shared<u32> cells = tile + low_cell;
      Reg<u32> left = cells.load(), right = cells.load(distance);
      Pred descending = (low_cell & run) != 0;
      Reg<u32> smaller = b.min(left, right), larger = b.max(left, right);
      cells.store(0, b.select(descending, larger, smaller));
      cells.store(distance, b.select(descending, smaller, larger));
      b.barrier();
    }
  }
  for (uint32_t half = 0; half < 2; ++half) {
    Reg<u32> cell = b.thread() + half * kThreads;
    block_start.store(cell, tile.load(cell));
  }
  return b.finish(Launch{blocks, kThreads});
}

Kernel grid_sums(uint32_t blocks, uint32_t rounds, Target target) {
  Builder b("grid_sums", target);
  Global<f32> values = b.global<f32>("values", blocks), out = b.global<f32>("out", blocks);
  Global<u32> arrived = b.global<u32>("arrived", 1);
  Var<u32> expected = b.var("expected", 0u);
  // Every block's earlier writes become visible to all later reads. The counter only grows and is never reset.
  const auto grid_barrier = [&] {
    b.barrier();
    expected += blocks;
    b.if_(b.thread() == 0, [&] {
      arrived.red(Atomic::kAdd, 1, Order::kRelease, Scope::kGpu);
      b.while_([&] { return arrived.load_acquire(Scope::kGpu) < expected; }, [] {});
    });
    b.barrier();
  };
  Var<f32> mine = b.var("mine", b.convert<f32>(b.block() + 1));
  b.for_("round", 0, rounds, 1, [&](Reg<u32>) {
    b.if_(b.thread() == 0, [&] { values.store(b.block(), mine); });
    grid_barrier();
    Var<f32> sum = b.var("sum", 0.0f);
    b.for_("block", 0, blocks, 1, [&](Reg<u32> block) { sum += values.load(block); });
    mine = b.fma(sum, 0.125f, mine);
    grid_barrier();  // all reads precede the next writes
  });
  b.if_(b.thread() == 0, [&] { out.store(b.block(), mine); });
  return b.finish(Launch{.blocks = blocks, .threads = 64, .cooperative = true});
}

Kernel histogram(uint32_t n, Target target) {
  constexpr uint32_t kThreads = 256, kEach = 4;
  Builder b("histogram", target);
  Global<u8> in = b.global<u8>("in", n);
  Global<u32> counts = b.global<u32>("counts", 256);
  Shared<u32> bins = b.shared<u32>("bins", 256);
  bins.store(b.thread(), 0);
  b.barrier();
  Reg<u32> first = (b.block() * kThreads + b.thread()) * kEach;
  for (uint32_t i = 0; i < kEach; ++i) {
    Reg<u32> cell = first + i;
    b.if_(cell < n, [&] { (bins + in.load(cell)).red(Atomic::kAdd, 1, Order::kRelaxed, Scope::kBlock); });
  }
  b.barrier();
  (counts + b.thread()).red(Atomic::kAdd, bins.load(b.thread()));
  return b.finish(Launch{ceil_div(n, kThreads * kEach), kThreads});
}

Kernel matmul_wmma(uint32_t m, uint32_t n, uint32_t k, Target target) {
  constexpr uint32_t kTile = 16;
  const WmmaShape shape = WmmaShape::kM16N16K16;
  Builder b("matmul_wmma", target);
  Global<f16> a = b.global<f16>("a", uint64_t{m} * k, 32), bt = b.global<f16>("b", uint64_t{n} * k, 32);
  Global<f32> c = b.global<f32>("c", uint64_t{m} * n, 32);
  Reg<u32> row = b.block(Axis::kY) * kTile, column = b.block(Axis::kX) * kTile;
  Accumulator<f32> sums = b.wmma_accumulator<f32>(shape, 0.0f);
  b.for_("depth", 0, k, kTile, [&](Reg<u32> depth) {
    auto rows = b.wmma_load_a(shape, Layout::kRow, a + wide(row) * k + depth, k);
    auto columns = b.wmma_load_b(shape, Layout::kColumn, bt + wide(column) * k + depth, k);
    b.wmma(rows, columns, sums);
  });
  b.wmma_store(c + wide(row) * n + column, sums, Layout::kRow, n);
  return b.finish(Launch{{n / kTile, m / kTile}, kWarpSize});
}

namespace {

template <class Pair>
Kernel fma_pairs(const char* name, uint32_t pairs, Target target) {
  Builder b(name, target);
  Global<Pair> x = b.global<Pair>("x", pairs), y = b.global<Pair>("y", pairs), z = b.global<Pair>("z", pairs);
  Global<Pair> out = b.global<Pair>("out", pairs);
  Reg<u32> i = (b.block() * 128 + b.thread()).named("i");
  b.return_if(i >= pairs);
  Reg<Pair> left = x.load(i), right = y.load(i), addend = z.load(i);
  out.store(i, b.fma(left, right, addend));
  return b.finish(Launch{ceil_div(pairs, 128), 128});
}

}  // namespace

Kernel fma_f16(uint32_t pairs, Target target) { return fma_pairs<f16x2>("fma_f16", pairs, target); }
Kernel fma_bf16(uint32_t pairs, Target target) { return fma_pairs<bf16x2>("fma_bf16", pairs, target); }

Kernel bulk_sums(uint32_t blocks, uint32_t rounds, Target target) {
  constexpr uint32_t kCells = 256, kStages = 2, kThreads = 128;
  Builder b("bulk_sums", target);
  Global<f32> x = b.global<f32>("x", uint64_t{blocks} * rounds * kCells), sums = b.global<f32>("sums", blocks);
  Shared<f32> ring = b.dynamic_shared<f32>("ring", kStages * kCells, 128);
  Shared<f32> slots = b.shared<f32>("slots", kThreads / kWarpSize);
  std::vector<Mbarrier> full = b.mbarriers("full", kStages);
  Global<f32> block_start = x + wide(b.block()) * (rounds * kCells);
  const auto fetch = [&](uint32_t round) {
    full[round % kStages].arrive_expecting(kCells * 4);
    b.copy_bulk(ring + round % kStages * kCells, block_start + round * kCells, kCells * 4, full[round % kStages]);
  };
  b.if_(b.thread() == 0, [&] {
    for (const Mbarrier& barrier : full) barrier.init(1);
    b.fence_mbarrier_init();
  });
  b.barrier();
  b.if_(b.thread() == 0, [&] {
    for (uint32_t round = 0; round < kStages && round < rounds; ++round) fetch(round);
  });
  Var<f32> sum = b.var("sum", 0.0f);
  for (uint32_t round = 0; round < rounds; ++round) {
    full[round % kStages].wait(round / kStages % 2);
    Shared<f32> stage = ring + round % kStages * kCells;
    for (uint32_t half = 0; half < kCells; half += kThreads) sum += stage.load(b.thread() + half);
    b.barrier();  // all have read it: the stage may be overwritten
    if (round + kStages < rounds) b.if_(b.thread() == 0, [&] { fetch(round + kStages); });
  }
  Reg<f32> total = block_reduce(b, slots, kThreads / kWarpSize, sum, [&](In<f32> l, In<f32> r) { return b.add(l, r); });
  b.if_(b.thread() == 0, [&] { sums.store(b.block(), total); });
  return b.finish(Launch{blocks, kThreads});
}

}  // namespace ptx::testing
