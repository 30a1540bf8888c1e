#include "kernels/experts/expert_order.h"

#include <algorithm>
#include <optional>

#include "kernels/common/columns.h"
#include "kernels/common/spec_check.h"
#include "kernels/common/warp_sums.h"

namespace warpchat {

using namespace ptx;

namespace {

constexpr uint32_t kOrderWarps = kExpertOrderThreads / kWarpSize;
constexpr uint32_t kOrderCounters = 8192;  // of all warps, in shared memory

// Counting sort: each warp counts a range of assignments per expert, a scan over experts gives their offsets, and the
// warps go through their ranges again.
class OrderWriter {
 public:
  OrderWriter(Builder& b, const ExpertOrderSpec& spec)
      : b_(b),
        spec_(spec),
        max_tiles_(max_expert_tiles(spec.n, spec.tile, spec.columns * spec.n_used)),
        experts_(b.global<u32>("experts", uint64_t{spec.columns} * spec.n_used)),
        order_(b.global<u32>("order", uint64_t{spec.columns} * spec.n_used)),
        tiles_(b.global<u32>("tiles", uint64_t{max_tiles_} * 4)),
        n_columns_(declare_columns(b, spec.columns)),
        counters_(b.shared<u32>("counters", expert_counting_warps(spec) * spec.n)),
        begins_(b.shared<u32>("begins", spec.n)),
        slots_(b.shared<u64>("slots", kWarpSize)) {}

  void write() {
    b_.for_("counter", b_.thread(), expert_counting_warps(spec_) * spec_.n, kExpertOrderThreads,
            [&](Reg<u32> counter) { counters_.store(counter, 0); });
    b_.barrier();
    b_.region("count", [&] {
      each_use([&](const Group& g) {
        b_.if_(g.is_first, [&] { g.counter.store(0, g.counter.load() + g.n_alike); });
        b_.warp_barrier();
      });
    });
    b_.barrier();
    b_.region("tiles", [&] { deal_out(); });
    b_.barrier();
    b_.region("place", [&] {
      each_use([&](const Group& g) {
        Var<u32> before = b_.var("before", 0u);
        b_.if_(g.is_use, [&] { before = g.counter.load(); });
        b_.warp_barrier();
        b_.if_(g.is_use, [&] { order_.store(begins_.load(g.expert) + before + g.n_alike_below, g.use); });
        b_.if_(g.is_first, [&] { g.counter.store(0, before + g.n_alike); });
        b_.warp_barrier();
      });
    });
  }

 private:
  // One lane's entry among 32 consecutive assignments.
  struct Group {
    Reg<u32> use, expert;  // expert: 0 beyond the last assignment
    Pred is_use, is_first;
    Reg<u32> n_alike, n_alike_below;  // lanes with the same expert: in the warp, and below this lane
    Shared<u32> counter;              // of this warp and expert
  };
  template <class F>
  void each_use(F&& body) {
    Var<u32> n_assignments = b_.var("n_assignments", spec_.n_used);
    if (n_columns_) n_assignments = *n_columns_ * spec_.n_used;
    Reg<u32> rounds =
        (n_assignments + (expert_counting_warps(spec_) * kWarpSize - 1)) / (expert_counting_warps(spec_) * kWarpSize);
    Reg<u32> stretch = (rounds * kWarpSize).named("stretch");
    Reg<u32> first = (b_.warp() * stretch).named("first"), end = b_.min(first + stretch, n_assignments);
    b_.for_("group", first, end, kWarpSize, [&](Reg<u32> group) {
      Reg<u32> use = (group + b_.lane()).named("use");
      Pred is_use = use < end;
      Var<u32> loaded = b_.var("expert", ~0u);
      b_.if_(is_use, [&] { loaded = experts_.load(use, kReadOnly); });
      Reg<b32> alike = b_.match_any(loaded);
      Reg<u32> below = b_.popc(alike & b_.lanes_below());
      Reg<u32> expert = b_.select(is_use, loaded, 0u);
      body(Group{use, expert, is_use, is_use && below == 0, b_.popc(alike), below,
                 counters_ + (b_.warp() * spec_.n + expert)});
    });
  }

  // One thread per expert: counters become prefix sums over the warps, and the expert's tiles follow those of earlier
  // experts.
  void deal_out() {
    Reg<u32> expert = b_.thread();
    Pred is_expert = expert < spec_.n;
    Var<u32> count = b_.var("count", 0u);
    b_.if_(is_expert, [&] {
      b_.for_("counter", expert, expert_counting_warps(spec_) * spec_.n, spec_.n, [&](Reg<u32> counter) {
        Reg<u32> of_warp = counters_.load(counter);
        counters_.store(counter, count);
        count += of_warp;
      });
    });
    Reg<u32> n_tiles = (count + (spec_.tile - 1)) / spec_.tile;
    const BlockScan scan = block_scan(b_, b_.join<u64>(Reg<u32>(count), n_tiles), slots_, VirtualBlock(b_));
    const Vec<u32, 2> before = b_.split<u32>(scan.before);
    b_.if_(is_expert, [&] { begins_.store(expert, before[0]); });
    b_.for_("tile", 0, n_tiles, 1, [&](Reg<u32> tile) {
      Reg<u32> first = tile * spec_.tile;
      write_tile(before[1] + tile, {expert, before[0] + first, b_.min(count - first, spec_.tile), 0u});
    });
    b_.for_("none", b_.split<u32>(scan.total)[1] + b_.thread(), max_tiles_, kExpertOrderThreads, [&](Reg<u32> tile) {
      write_tile(tile, {0u, 0u, 0u, 0u});
    });
  }

  void write_tile(const Reg<u32>& tile, const In<u32> (&fields)[4]) { tiles_.store(tile * 4, fields); }

  Builder& b_;
  const ExpertOrderSpec& spec_;
  const uint32_t max_tiles_;
  Global<u32> experts_, order_, tiles_;
  const std::optional<Reg<u32>> n_columns_;
  Shared<u32> counters_;  // [counting warps, n]
  Shared<u32> begins_;    // [n]: offset of each expert's assignments in the order
  Shared<u64> slots_;     // for the scan
};

}  // namespace

uint32_t expert_counting_warps(const ExpertOrderSpec& s) { return std::min(kOrderWarps, kOrderCounters / s.n); }

std::string name_of(const ExpertOrderSpec& s) {
  return "expert_order_" + std::to_string(s.n) + "_u" + std::to_string(s.n_used) + "_t" + std::to_string(s.tile) +
         "_c" + std::to_string(s.columns);
}

Kernel expert_order(const ExpertOrderSpec& s, Target target) {
  require_between(1, kExpertOrderThreads, "expert_order", "n", s.n);
  require_between(1, kWarpSize, "expert_order", "n_used", s.n_used);
  require_between(1, 64, "expert_order", "tile", s.tile);
  require_between(1, kMaxBlocksInY, "expert_order", "columns", s.columns);
  Builder b(name_of(s), target);
  OrderWriter(b, s).write();
  const uint64_t n_assignments = uint64_t{s.columns} * s.n_used,
                 n_tiles = max_expert_tiles(s.n, s.tile, s.columns * s.n_used);
  return b.finish(Launch{1, kExpertOrderThreads}, {.bytes = 4 * (2 * n_assignments + 4 * n_tiles)});
}

}  // namespace warpchat
