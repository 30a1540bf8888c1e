// A logit and its index in one number that orders as the choice does: the integer maximum needs no order of arrival.
#include "kernels/argmax.h"

#include "kernels/bodies.h"
#include "kernels/columns.h"
#include "kernels/logit_order.h"
#include "kernels/spec_check.h"
#include "kernels/warp_sums.h"

namespace warpchat {

using namespace ptx;

namespace {

constexpr uint32_t kArgmaxThreads = 256, kEach = 16;  // logits of a thread
constexpr uint32_t kPerBlock = kArgmaxThreads * kEach;

// Upper word: rises with the logit, 0 for NaN. Lower word: falls with the index.
Reg<u64> candidate(Builder& b, const Reg<f32>& logit, const Reg<u32>& index) {
  Reg<u32> rank = b.select(b.is(FloatClass::kNan, logit), 0, ordered_bits(logit));
  return b.join<u64>(~index, rank);
}

}  // namespace

std::string name_of(const ArgmaxSpec& s) { return "argmax_" + std::to_string(s.n) + "_c" + std::to_string(s.columns); }

// Of each column the best so far, u64, and the arrivals, u32.
uint64_t argmax_scratch_bytes(const ArgmaxSpec& s) { return uint64_t{s.columns} * 12; }

Launch argmax_launch(const ArgmaxSpec& s) { return {{ceil_div(s.n, kPerBlock), s.columns}, kArgmaxThreads}; }

void argmax_body(Builder& b, const ArgmaxSpec& s, const ArgmaxAddresses& at, const VirtualBlock& block) {
  const uint32_t blocks = argmax_launch(s).blocks.x;
  Shared<u64> best_of_warp = block.shared<u64>("best_of_warp", kArgmaxThreads / kWarpSize);
  Reg<u32> column = block.block(Axis::kY).named("column");
  leave_beyond_columns(b, at.n_columns, column);
  Global<f32> row = at.logits + wide(column) * s.n;
  Global<u64> best_of_column = at.scratch.as<u64>() + wide(column);
  Global<u32> arrivals = (at.scratch + uint64_t{s.columns} * 8).as<u32>() + wide(column);

  Var<u64> best = b.var("best", uint64_t{0});
  for (uint32_t i = 0; i < kEach; ++i) {
    Reg<u32> index = block.block() * kPerBlock + (block.thread() + i * kArgmaxThreads);
    b.if_(index < s.n, [&] { best = b.max(best, candidate(b, row.load(index, block.cache(kReadOnly)), index)); });
  }
  Reg<u64> of_warp = warp_max(b, best);
  b.if_(b.lane() == 0, [&] { best_of_warp.store(block.warp(), of_warp); });
  block.barrier();
  b.if_(block.thread() == 0, [&] {
    Var<u64> of_block = b.var("of_block", best_of_warp.load());
    for (uint32_t warp = 1; warp < kArgmaxThreads / kWarpSize; ++warp)
      of_block = b.max(of_block, best_of_warp.load(warp));
    best_of_column.red(Atomic::kMax, of_block);
    // Counts modulo the blocks and takes the best away: both are zero for the next launch.
    Reg<u32> before = arrivals.atom(Atomic::kIncrement, blocks - 1, Order::kAcquireRelease);
    b.if_(before == blocks - 1, [&] {
      Reg<u64> of_all = best_of_column.atom(Atomic::kExchange, uint64_t{0});
      at.out.store(column, ~b.convert<u32>(of_all));
    });
  });
}

Kernel argmax(const ArgmaxSpec& s, Target target) {
  require_between(1, INT32_MAX, "argmax", "n", s.n);
  require_between(1, UINT16_MAX, "argmax", "columns", s.columns);
  Builder b(name_of(s), target);
  Global<f32> logits = b.global<f32>("logits", uint64_t{s.columns} * s.n);
  Global<u32> out = b.global<u32>("out", s.columns);
  Global<u8> scratch = b.global<u8>("scratch", argmax_scratch_bytes(s));
  argmax_body(b, s, {logits, out, scratch, declare_columns(b, s.columns)}, VirtualBlock(b));
  return b.finish(argmax_launch(s),
                  {.bytes = uint64_t{s.columns} * (uint64_t{s.n} * 4 + 4), .flops = uint64_t{s.columns} * s.n});
}

}  // namespace warpchat
