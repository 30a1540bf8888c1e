#include "kernels/sampling/sampling_filters.h"

#include <bit>
#include <functional>
#include <limits>

#include "kernels/common/logit_order.h"
#include "kernels/common/warp_sums.h"
#include "kernels/sampling/philox.h"
#include "kernels/sampling/sampling_weight.h"

namespace warpchat {

using namespace ptx;

SampleRules sample_rules(const SampleColumn& column, const Reg<u64>& best) {
  Builder& b = column.b;
  const SampleSettings& s = column.settings;
  Reg<f32> best_logit = logit_of(column.ordered_of(best));
  // The lowest f32 not below the exact bound.
  Reg<f32> bound = b.convert<f32>(b.convert<f64>(best_logit) + s.log_min_p, Round::kUp);
  return {best,
          best_logit,
          b.min(b.rcp(s.temperature), std::numeric_limits<float>::max()),
          s.top_k != 0 && s.top_k < column.spec.n_vocab,
          s.top_p < 1.0f,
          philox(b, s.seed, s.position),
          bound};
}

namespace {

// exp(logit - best) at temperature 1.
Reg<u64> weight_of(const SampleColumn& column, const SampleRules& rules, const Reg<f32>& logit) {
  return sampling_weight(column.b, logit - rules.best_logit, column.weight_bits());
}
// The same at another temperature; factor: 1 / temperature, finite.
Reg<u64> weight_of(const SampleColumn& column, const SampleRules& rules, const Reg<f32>& logit, In<f32> factor) {
  return sampling_weight(column.b, (logit - rules.best_logit) * factor, column.weight_bits());
}

// Weight that the top_p set must reach, out of `total`; at least 1.
Reg<u64> top_p_target(const SampleColumn& column, const Reg<u64>& total) {
  Builder& b = column.b;
  Reg<f64> share = b.convert<f64>(column.settings.top_p) * b.convert<f64>(total, Round::kZero);
  return b.max(b.convert<u64>(share, Round::kUp), uint64_t{1});
}

}  // namespace

Reg<u64> sum_of_all(const SampleColumn& column, const SampleRules& rules) {
  Builder& b = column.b;
  Var<u64> sum = b.var("sum", uint64_t{0});
  column.for_all([&](const Reg<u32>&, const Reg<f32>& logit) { sum += weight_of(column, rules, logit); });
  return block_sum(b, sum, column.memory.warp_slots, column.block);
}

// Each thread compares its candidate with all others, twice: in candidate order for the count and weight of better ones
// (top_k, top_p), then in id order for the prefix sum of the draw.
void sample_from_candidates(const SampleColumn& column, const SampleRules& rules, const Reg<u32>& n_candidates,
                            const Reg<u64>& total, Var<u32>& token) {
  Builder& b = column.b;
  const Shared<u64>& candidates = column.memory.candidates;
  const Shared<u64> of_thread = candidates + column.block.thread() * 2;
  Reg<u32> end = n_candidates * 2;
  Pred mine = column.block.thread() < n_candidates;
  Var<u64> own = b.var("candidate", uint64_t{0});
  b.predicated(mine, [&] { own = of_thread.load(); });
  Reg<f32> logit = logit_of(column.ordered_of(own));
  Reg<u32> max = b.select(rules.has_top_k, column.settings.top_k, UINT32_MAX);
  Var<pred> kept = b.var("kept", mine);
  Var<u64> weight = b.var<u64>("weight"), before = b.var<u64>("before"), of_kept = b.var<u64>("of_kept");
  b.for_("round", 0, 2, 1, [&](Reg<u32> round) {
    Pred draws = round == 1;
    Reg<f32> factor = b.select(draws, rules.factor, 1.0f);
    weight = b.select(kept, weight_of(column, rules, logit, factor), uint64_t{0});
    Reg<u64> key = b.select(draws, column.order_of_id(own), own);
    b.predicated(mine, [&] { of_thread.store(0, {key, weight}); });
    column.block.barrier();
    Var<u32> rank = b.var("rank", 0u);
    before = uint64_t{0};
    b.if_(kept && (draws || rules.has_top_k || rules.has_top_p), [&] {
      b.for_("other", 0, end, 2, [&](Reg<u32> other) {
        const Vec<u64, 2> key_and_weight = candidates.load<2>(other);
        Pred is_before = key_and_weight[0] > key;
        b.predicated(is_before, [&] {
          rank += 1;
          before += key_and_weight[1];
        });
      });
    });
    Pred counts = kept && (draws || rank < max);
    of_kept = block_sum(b, b.select(counts, weight, uint64_t{0}), column.memory.warp_slots, column.block);
    Reg<u64> target = top_p_target(column, b.select(rules.has_top_k, of_kept, total));
    Pred in_top_p = before < b.select(rules.has_top_p, target, UINT64_MAX);
    Pred in_min_p = logit >= rules.min_p_logit || own == rules.best;
    kept = counts && (draws || (in_top_p && in_min_p));
  });
  Reg<u64> ticket = b.mul_hi(rules.random, of_kept);
  Pred chosen = kept && before <= ticket && ticket < before + weight;
  token = b.select(chosen, column.id_of(own), token);
}

namespace {

// The steps over all logits, in sequence; each finds the end of a prefix. kTopK and kTopP: in candidate order, best
// first, by count or by weight. kDraw: in id order, by share up to the drawn number.
constexpr uint32_t kTopK = 0, kTopP = 1, kDraw = 2, kSteps = 3;

struct Step {
  Pred counts, draws;  // kTopK, kDraw
};

// Target of the prefix, out of the step's total.
Reg<u64> target_of(const SampleColumn& column, const SampleRules& rules, const Step& step, const Reg<u64>& total) {
  Builder& b = column.b;
  Reg<u64> ticket = b.mul_hi(rules.random, total);
  Reg<u64> of_weight = b.select(step.draws, ticket + 1, top_p_target(column, total));
  return b.select(step.counts, wide(column.settings.top_k), of_weight);
}

// The last key of the shortest prefix (largest keys first) that reaches the target, among candidates from `cut` on. A
// radix search: the interval [low, low + 2^bits) is divided into 2^digit parts, one per thread as far as possible,
// until one value remains.
Reg<u64> end_of_head(const SampleColumn& column, const SampleRules& rules, const Step& step, In<u64> cut) {
  Builder& b = column.b;
  Reg<u32> digit = 31 - b.clz(column.block.threads()), n_parts = 1u << digit;
  Reg<u32> part = (n_parts - 1) - column.block.thread();  // the first thread has the largest keys
  const uint64_t last_id = column.spec.n_vocab - 1;
  const Shared<u64>&parts = column.memory.parts, &found = column.memory.found, of_thread = parts + part;
  Reg<f32> factor = b.select(step.draws, rules.factor, 1.0f);
  Var<u64> low = b.var("low", b.select(step.draws, uint64_t{0}, cut)), above = b.var("above", uint64_t{0});
  Var<u64> target = b.var("target", uint64_t{0});
  Var<u32> bits = b.var("bits", 64 - b.clz(b.uniform(b.select(step.draws, last_id, rules.best) - low)));
  b.while_([&] { return bits > 0; },
           [&] {
             Reg<u32> shift = b.select(bits > digit, bits - digit, 0u);
             parts.store(column.block.thread(), uint64_t{0});
             column.block.barrier();
             column.for_all([&](const Reg<u32>& id, const Reg<f32>& logit) {
               Reg<u64> candidate = column.candidate(ordered_bits(logit), id);
               Reg<u64> place = b.select(step.draws, column.order_of_id(candidate), candidate) - low;
               b.if_(candidate >= cut && (place >> bits) == 0, [&] {
                 Reg<u64> measure = b.select(step.counts, uint64_t{1}, weight_of(column, rules, logit, factor));
                 (parts + b.convert<u32>(place >> shift)).red(Atomic::kAdd, measure, Order::kRelaxed, Scope::kBlock);
               });
             });
             column.block.barrier();
             Var<u64> own = b.var("own", uint64_t{0});
             b.predicated(column.block.thread() < n_parts, [&] { own = of_thread.load(); });
             const BlockScan scan = block_scan(b, own, column.memory.warp_slots, column.block);
             b.if_(target == 0, [&] { target = target_of(column, rules, step, scan.total); });
             Reg<u64> before = above + scan.before, begin = low + (wide(part) << shift);
             b.predicated(before < target && target <= before + own, [&] { found.store(0, {begin, before}); });
             column.block.barrier();
             Vec<u64, 2> next = found.load<2>();
             low = next[0];
             above = next[1];
             bits = shift;
           });
  return low;
}

}  // namespace

void sample_from_all(const SampleColumn& column, const SampleRules& rules, Var<u32>& token) {
  Builder& b = column.b;
  Var<u64> cut = b.var("cut", uint64_t{0});
  Reg<u64> of_min_p = b.min(column.lowest_of(ordered_bits(rules.min_p_logit)), rules.best);
  b.for_("step", kTopK, kSteps, 1, [&](Reg<u32> number) {
    const Step step{number == kTopK, number == kDraw};
    b.if_(step.draws || (step.counts && rules.has_top_k) || (number == kTopP && rules.has_top_p), [&] {
      cut = b.select(step.draws, b.max(cut, of_min_p), cut);
      cut = end_of_head(column, rules, step, cut);
    });
  });
  // The last step ends at an id.
  token = b.select(column.block.thread() == 0, (column.spec.n_vocab - 1) - b.convert<u32>(cut), token);
}

}  // namespace warpchat
