// Warps of all blocks write the best candidate of each slot (a range of the column's logits). The last block finds the
// overall best, and a lower bound of what can be sampled. It collects candidates above the bound, from the slots whose
// best exceeds it. A few are filtered in shared memory; if more remain than the block has threads, the same rules
// narrow down all logits. All arithmetic is integer, so both ways and every thread order give the same token.
#include "kernels/sampling/sampling.h"

#include <bit>
#include <cstring>
#include <limits>
#include <numbers>

#include "kernels/common/arrivals.h"
#include "kernels/common/columns.h"
#include "kernels/common/error_word.h"
#include "kernels/common/logit_order.h"
#include "kernels/common/spec_check.h"
#include "kernels/common/warp_sums.h"
#include "kernels/sampling/sample_function.h"
#include "kernels/sampling/sampling_filters.h"

namespace warpchat {

using namespace ptx;

namespace {

void require_sample_spec(const SampleSpec& s) {
  require_between(1, INT32_MAX, "sample", "n_vocab", s.n_vocab);
  require_between(1, UINT16_MAX, "sample", "columns", s.columns);
  require_spec(s.threads > 0 && s.threads % kWarpSize == 0 && s.threads <= kMaxSampleThreads, "sample", "threads",
               s.threads, "a multiple of 32 up to 1024");
  require_spec(std::has_single_bit(s.ring) && s.ring <= kLargestSampleRing, "sample", "ring", s.ring,
               "a power of two up to " + std::to_string(kLargestSampleRing));
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr uint32_t kNoToken = UINT32_MAX;
constexpr uint32_t kMaxBlocks = 64;  // per column; more gain nothing

struct Best {
  Reg<f32> of_thread;  // the thread's best logit; -infinity if it has none
  Reg<u64> of_all;     // candidate
  Pred all_finite;     // over the column's logits; if false, of_all is the first that is not finite
};

// Above all candidates; combined with the id's order, so the lowest id wins.
constexpr uint64_t kNotFinite = uint64_t{1} << 63;

// Best candidate of each of the block's slots; zero if a lane has none.
void find_best_of_slots(const SampleColumn& column) {
  Builder& b = column.b;
  Reg<u32> warps = column.block.threads() / kWarpSize;
  b.for_("slot", column.block.block() * warps + column.block.warp(), sample_slots(column.spec),
         column.block.blocks() * warps, [&](Reg<u32> slot) {
           Var<u64> best = b.var("best", uint64_t{0});
           column.for_slot(slot, [&](const Reg<u32>& first, SampleColumn::Logits& logits) {
             for (uint32_t i = 0; i < logits.size(); ++i) {
               Reg<u64> candidate = column.candidate(ordered_bits(logits[i]), first + i);
               Pred finite = b.is(FloatClass::kFinite, logits[i]);
               best = b.max(best, b.select(finite, candidate, column.order_of_id(candidate) | kNotFinite));
             }
           });
           Reg<u64> of_warp = warp_max(b, best);
           b.if_(b.lane() == 0, [&] { column.slots.store(slot, of_warp); });
         });
}

Pred is_last_block(const SampleColumn& column) {
  const Global<u32> arrivals = (column.state + static_cast<int64_t>(offsetof(SamplerState, n_arrived))).as<u32>();
  return last_to_arrive(column.b, column.block, arrivals, column.block.blocks(), column.memory.arrived);
}

Best find_best(const SampleColumn& column) {
  Builder& b = column.b;
  Var<u64> own = b.var("own", uint64_t{0});
  b.for_("slot", column.block.thread(), sample_slots(column.spec), column.block.threads(),
         [&](Reg<u32> slot) { own = b.max(own, column.slots.load(slot)); });
  Reg<u64> best = b.uniform(block_max(b, own, column.memory.warp_slots, column.block));
  return {b.select(own == uint64_t{0}, -kInfinity, logit_of(column.ordered_of(own))), best, best < kNotFinite};
}

void report_first_not_finite(const SampleColumn& column, const Best& best) {
  Builder& b = column.b;
  b.if_(column.block.thread() == 0, [&] {
    report_error(b, column.buffers.error, KernelError::kLogitNotFinite, column.id_of(best.of_all), column.spec.n_vocab,
                 column.column);
  });
}

// A logit that at least top_k others reach, if top_k is at most the number of threads: enough threads of each warp have
// a best logit that high.
Reg<f32> bound_of_top_k(const SampleColumn& column, const Reg<f32>& best_of_thread) {
  Builder& b = column.b;
  Var<f32> left = b.var("left", best_of_thread), reached = b.var<f32>("reached");
  Var<u32> n = b.var("n", 0u);
  Reg<u32> warps = column.block.threads() / kWarpSize;
  b.do_while([&] {
    reached = strided_max(b, left, 1);
    left = b.select(left == reached, -kInfinity, left);
    n += warps;
    return n < column.settings.top_k;
  });
  b.predicated(b.lane() == 0,
               [&] { column.memory.min.red(Atomic::kMin, ordered_bits(reached), Order::kRelaxed, Scope::kBlock); });
  column.block.barrier();
  return logit_of(column.memory.min.load());
}

// A logit below which the weights sum to less than half of what top_p discards, even if all logits were there. Uses
// only the exponent, so no approximation is needed.
Reg<f32> bound_of_top_p(const SampleColumn& column, const SampleRules& rules, const Reg<u64>& total) {
  Builder& b = column.b;
  Reg<f32> left_out = b.convert<f32>(total) * (1.0f - column.settings.top_p);
  Reg<u32> bits = (left_out * (0.5f / static_cast<float>(column.spec.n_vocab))).as<u32>();
  Reg<s32> exponent = (bits >> 23).as<s32>() - (127 + static_cast<int32_t>(column.weight_bits()));
  return b.fma(b.convert<f32>(exponent), std::numbers::ln2_v<float>, rules.best_logit);
}

// Collects candidates from the bound on, up to the capacity of memory.candidates; returns their number.
Reg<u32> collect(const SampleColumn& column, const Reg<f32>& bound) {
  Builder& b = column.b;
  const auto keep = [&](const Reg<u32>& id, const Reg<f32>& logit) {
    Reg<u32> place = column.memory.n_candidates.atom(Atomic::kAdd, 1, Order::kRelaxed, Scope::kBlock);
    const Shared<u64> to = column.memory.candidates + place * 2;
    Reg<u64> candidate = column.candidate(ordered_bits(logit), id);
    b.predicated(place < column.block.threads(), [&] { to.store(0, candidate); });
  };
  const uint32_t n_slots = sample_slots(column.spec);
  Reg<u64> min = column.lowest_of(ordered_bits(bound));
  b.for_("slots", column.block.warp() * kWarpSize, n_slots, column.block.threads(), [&](Reg<u32> slots) {
    Reg<u32> own = slots + b.lane();
    Pred has_any = own < n_slots && column.slots.load(b.min(own, n_slots - 1)) >= min;
    Var<u32> left = b.var("left", b.ballot(has_any).as<u32>());
    b.while_([&] { return left != 0; },
             [&] {
               Reg<u32> last = 31 - b.clz(left);
               column.for_each_of_slot(slots + last, [&](const Reg<u32>& id, const Reg<f32>& logit) {
                 b.if_(logit >= bound, [&] { keep(id, logit); });
               });
               left = left ^ (b.var("one", 1u) << last);
             });
  });
  column.block.barrier();
  return b.uniform(column.memory.n_candidates.load());
}

void filter_and_draw(const SampleColumn& column, const Best& best, Var<u32>& token) {
  Builder& b = column.b;
  const uint32_t n_vocab = column.spec.n_vocab;
  Reg<u32> threads = column.block.threads();
  const SampleRules rules = sample_rules(column, best.of_all);
  Var<u64> total = b.var("total", uint64_t{0});
  Var<f32> bound = b.var("bound", rules.min_p_logit);
  b.if_else(
      rules.has_top_k,
      [&] {
        bound = -kInfinity;
        b.if_(column.settings.top_k <= threads, [&] { bound = bound_of_top_k(column, best.of_thread); });
      },
      [&] {
        b.if_(rules.has_top_p, [&] {
          total = sum_of_all(column, rules);
          bound = b.max(bound, bound_of_top_p(column, rules, total));
        });
      });
  bound = b.min(bound, rules.best_logit);
  Var<u32> n_candidates = b.var("n_candidates", n_vocab);
  Pred is_bound = b.uniform(bound) > std::numeric_limits<float>::lowest();
  b.if_(is_bound || threads >= n_vocab, [&] { n_candidates = collect(column, bound); });
  b.if_else(
      n_candidates <= threads,
      [&] { b.region("few", [&] { sample_from_candidates(column, rules, n_candidates, total, token); }); },
      [&] { b.region("many", [&] { sample_from_all(column, rules, token); }); });
}

}  // namespace

std::string name_of(const SampleSpec& s) {
  return "sample_" + std::to_string(s.n_vocab) + "_c" + std::to_string(s.columns) + "_t" + std::to_string(s.threads) +
         "_r" + std::to_string(s.ring) + (s.advances ? "_advances" : "");
}

uint64_t sampler_counts_offset(const SampleSpec& s) {
  return (sizeof(SamplerState) + uint64_t{s.ring} * sizeof(uint32_t) + 15) / 16 * 16;
}

uint64_t sampler_slots_offset(const SampleSpec& s) {
  return sampler_counts_offset(s) + (uint64_t{s.n_vocab} * sizeof(uint32_t) + 15) / 16 * 16;
}

uint64_t sampler_state_stride(const SampleSpec& s) {
  return sampler_slots_offset(s) + (uint64_t{sample_slots(s)} * sizeof(uint64_t) + 15) / 16 * 16;
}

std::vector<uint8_t> packed_sampler_state(const SampleSpec& s, SamplerState state, std::span<const uint32_t> recent) {
  const bool has_penalties = state.penalty_window > 0 &&
                             (state.repeat_penalty != 1 || state.presence_penalty != 0 || state.frequency_penalty != 0);
  state.n_accepted = recent.size();
  std::vector<uint8_t> bytes(has_penalties ? sampler_slots_offset(s) : sizeof state);
  std::memcpy(bytes.data(), &state, sizeof state);
  if (!has_penalties) return bytes;
  std::vector<uint32_t> ring(s.ring), counts(s.n_vocab);
  const size_t n = std::min<size_t>({recent.size(), s.ring, state.penalty_window});
  for (size_t i = recent.size() - n; i < recent.size(); ++i) {
    ring[i % s.ring] = recent[i];
    if (recent[i] < s.n_vocab) ++counts[recent[i]];
  }
  std::memcpy(&bytes[sizeof state], ring.data(), ring.size() * sizeof(uint32_t));
  std::memcpy(&bytes[sampler_counts_offset(s)], counts.data(), counts.size() * sizeof(uint32_t));
  return bytes;
}

void sample_body(Builder& b, const SampleSpec& spec, const SampleBuffers& buffers, const Reg<u32>& column_index,
                 const VirtualBlock& block, const Shared<u8>& memory) {
  const SampleColumn column(b, spec, buffers, column_index, block, memory);
  find_best_of_slots(column);
  b.if_(is_last_block(column), [&] {
    const Best best = find_best(column);
    Var<u32> token = b.var("token", kNoToken);  // except in the one thread that finds it
    const auto take_best = [&] { token = b.select(block.thread() == 0, column.id_of(best.of_all), kNoToken); };
    const auto choose = [&] {
      b.if_else(column.settings.temperature <= 0.0f, take_best, [&] { filter_and_draw(column, best, token); });
    };
    b.if_else(best.all_finite, choose, [&] { report_first_not_finite(column, best); });
    b.if_(token != kNoToken, [&] { column.commit(token); });
    block.barrier();
  });
}

namespace {

// Columns, threads and advance are the caller's.
std::string function_name(const SampleSpec& spec) {
  return name_of(SampleSpec{.n_vocab = spec.n_vocab, .ring = spec.ring}) + "_body";
}

}  // namespace

SampleFunction::SampleFunction(const SampleSpec& spec, Target target)
    : BodyFunction(function_of(function_name(spec), target, [&](Builder& b, const VirtualBlock& block) {
        const SampleBuffers buffers{address<f32>(b, "logits"),    address<u8>(b, "states"),
                                    address<u32>(b, "tokens", 4), address<u32>(b, "positions", 4),
                                    address<u32>(b, "error", 4),  b.argument<u32>("advance", Sharing::kWarp)};
        const Shared<u8> memory = b.shared<u8>("own_memory", kSampleSharedBytes);
        sample_body(b, spec, buffers, block.block(Axis::kY), block, memory);
      })) {}

void SampleFunction::call(const VirtualBlock& block, const SampleBuffers& buffers) const {
  block.call(function_,
             {buffers.logits, buffers.states, buffers.tokens, buffers.positions, buffers.error, buffers.advance});
}

Kernel sample(const SampleSpec& s, Target target) {
  require_sample_spec(s);
  Builder b(name_of(s), target);
  const SampleBuffers buffers{b.global<f32>("logits", uint64_t{s.columns} * s.n_vocab),
                              b.global<u8>("states", s.columns * sampler_state_stride(s)),
                              b.global<u32>("tokens", s.columns),
                              b.global<u32>("positions", s.columns),
                              b.global<u32>("error", kErrorWords),
                              b.var("advance", s.advances ? 1u : 0u)};
  b.min_blocks_per_sm(1);  // otherwise ptxas spills rather than limit occupancy to one block
  leave_beyond_columns(b, declare_columns(b, s.columns), b.block(Axis::kY));
  SampleFunction(s, target).call(VirtualBlock(b), buffers);
  const uint32_t warps = s.threads / kWarpSize;
  return b.finish(Launch{{std::min(ceil_div(sample_slots(s), warps), kMaxBlocks), s.columns}, s.threads},
                  {.bytes = uint64_t{s.columns} * (uint64_t{s.n_vocab} * 8 + sizeof(SamplerState)),
                   .flops = uint64_t{s.columns} * s.n_vocab});
}

}  // namespace warpchat
