#include "kernels/sampling_filters.h"

#include <bit>
#include <functional>
#include <limits>

#include "kernels/logit_order.h"
#include "kernels/philox.h"
#include "kernels/sampling_weight.h"
#include "kernels/warp_sums.h"

namespace warpchat {

using namespace ptx;

SampleRules sample_rules(const SampleColumn& column, const Reg<u64>& best) {
  Builder& b = column.b;
  const SampleSettings& s = column.settings;
  Reg<f32> best_logit = logit_of(column.ordered_of(best));
  // The lowest f32 that is not below the exact bound.
  Reg<f32> bound = b.convert<f32>(b.convert<f64>(best_logit) + s.log_min_p, Round::kUp);
  return {best,
          best_logit,
          b.min(b.rcp(s.temperature), std::numeric_limits<float>::max()),
          s.top_k != 0 && s.top_k < column.spec.n_vocab,
          s.top_p < 1.0f,
          philox(b, s.seed, s.position),
          bound};
}

Reg<u64> weight_of(const SampleColumn& column, const SampleRules& rules, const Reg<f32>& logit, In<f32> factor) {
  return sampling_weight(column.b, logit - rules.best_logit, factor, column.weight_bits());
}

Reg<u64> top_p_target(const SampleColumn& column, const Reg<u64>& total) {
  Builder& b = column.b;
  Reg<f64> share = b.convert<f64>(column.settings.top_p) * b.convert<f64>(total, Round::kZero);
  return b.max(b.convert<u64>(share, Round::kUp), uint64_t{1});
}

Reg<u64> sum_of_all(const SampleColumn& column, const SampleRules& rules) {
  Builder& b = column.b;
  Var<u64> sum = b.var("sum", uint64_t{0});
  column.for_all(1, [&](const Reg<u32>&, const Reg<f32>& logit) { sum += weight_of(column, rules, logit, 1.0f); });
  return block_sum(b, sum, column.memory.warp_slots, column.block);
}

// Each thread holds one candidate against all others: how many are better and what these weigh, then what lies before
// it in the order of ids.
void choose_of_few(const SampleColumn& column, const SampleRules& rules, const Reg<u32>& n_candidates,
                   const Reg<u64>& total) {
  Builder& b = column.b;
  const Shared<u64>&candidates = column.memory.candidates, &weights = column.memory.weights;
  Pred mine = column.block.thread() < n_candidates;
  Var<u64> own = b.var("candidate", uint64_t{0}), weight = b.var("weight", uint64_t{0});
  Var<f32> logit = b.var("logit", 0.0f);
  b.if_(mine, [&] {
    own = candidates.load(column.block.thread());
    logit = logit_of(column.ordered_of(own));
    weight = weight_of(column, rules, logit, 1.0f);
    weights.store(column.block.thread(), weight);
  });
  column.block.barrier();

  Var<u32> rank = b.var("rank", 0u);
  Var<u64> above = b.var("above", uint64_t{0});
  b.if_(mine && (rules.has_top_k || rules.has_top_p), [&] {
    b.for_("other", 0, n_candidates, 1, [&](Reg<u32> other) {
      Pred better = candidates.load(other) > own;
      b.predicated(better, [&] { rank += 1; });
      above += b.select(better, weights.load(other), uint64_t{0});
    });
  });
  Pred in_top_k = mine && (!rules.has_top_k || rank < column.settings.top_k);
  Reg<u64> counted = b.select(in_top_k, weight, uint64_t{0});
  Reg<u64> of_top_k = block_sum(b, counted, column.memory.warp_slots, column.block);
  Reg<u64> target = top_p_target(column, b.select(rules.has_top_k, of_top_k, total));
  Pred in_top_p = in_top_k && (!rules.has_top_p || above < target);
  Pred kept = in_top_p && (logit >= rules.min_p_logit || own == rules.best);

  Var<u64> share = b.var("share", uint64_t{0}), begin = b.var("begin", uint64_t{0});
  b.if_(kept, [&] { share = weight_of(column, rules, logit, rules.factor); });
  b.if_(mine, [&] { weights.store(column.block.thread(), share); });
  Reg<u64> of_kept = block_sum(b, share, column.memory.warp_slots, column.block);  // and its barriers
  Reg<u32> own_id = column.id_of(own);
  b.if_(kept, [&] {
    b.for_("other", 0, n_candidates, 1, [&](Reg<u32> other) {
      Pred earlier = column.id_of(candidates.load(other)) < own_id;
      begin += b.select(earlier, weights.load(other), uint64_t{0});
    });
  });
  Reg<u64> ticket = b.mul_hi(rules.random, of_kept);
  b.if_(kept && begin <= ticket && ticket < begin + share, [&] { column.commit(own_id); });
}

namespace {

// What is done to all logits, one after the other; each looks for the end of a head. In candidates' order, best first:
// of so many, or of so much weight. In that of ids: of the shares up to the ticket.
constexpr uint32_t kTopK = 0, kTopP = 1, kDraw = 2, kSteps = 3;

// What the head must reach, of all that a step counts.
Reg<u64> target_of(const SampleColumn& column, const SampleRules& rules, const Reg<u32>& step, const Reg<u64>& total) {
  Builder& b = column.b;
  Reg<u64> ticket = b.mul_hi(rules.random, total);
  Reg<u64> of_weight = b.select(step == kDraw, ticket + 1, top_p_target(column, total));
  return b.select(step == kTopK, wide(column.settings.top_k), of_weight);
}

// The last of the fewest of the step's keys, largest first, that reach its target together, of the candidates from
// `cut` on. A radix search: the interval [low, low + 2^bits) that holds it is cut into 2^digit parts, one a thread as
// far as that goes, until it is one number.
Reg<u64> end_of_head(const SampleColumn& column, const SampleRules& rules, const Reg<u32>& step, In<u64> cut) {
  Builder& b = column.b;
  Reg<u32> digit = 31 - b.clz(column.block.threads()), n_parts = Reg<u32>(b.var("one", 1u)) << digit;
  const uint64_t last_id = column.spec.n_vocab - 1;
  const Shared<u64>&parts = column.memory.candidates, &found = column.memory.found;
  Pred counts = step == kTopK, draws = step == kDraw;
  Reg<f32> factor = b.select(draws, rules.factor, 1.0f);
  Var<u64> low = b.var("low", b.select(draws, uint64_t{0}, cut)), above = b.var("above", uint64_t{0});
  Var<u64> target = b.var("target", uint64_t{0});
  Var<u32> bits = b.var("bits", 64 - b.clz(b.uniform(b.select(draws, last_id, rules.best) - low)));
  b.while_([&] { return b.uniform(bits) > 0; },
           [&] {
             Reg<u32> shift = b.select(bits > digit, bits - digit, 0u);
             parts.store(column.block.thread(), uint64_t{0});
             column.block.barrier();
             column.for_all(1, [&](const Reg<u32>& id, const Reg<f32>& logit) {
               Reg<u64> candidate = column.candidate(ordered_bits(logit), id);
               Reg<u64> place = b.select(draws, last_id - wide(id), candidate) - low;
               b.if_(candidate >= cut && (place >> bits) == 0, [&] {
                 Reg<u64> measure = b.select(counts, uint64_t{1}, weight_of(column, rules, logit, factor));
                 (parts + b.convert<u32>(place >> shift)).red(Atomic::kAdd, measure, Order::kRelaxed, Scope::kBlock);
               });
             });
             column.block.barrier();
             Reg<u32> part = (n_parts - 1) - column.block.thread();  // the largest keys are the first thread's
             Var<u64> own = b.var("own", uint64_t{0});
             b.if_(column.block.thread() < n_parts, [&] { own = parts.load(part); });
             const BlockScan scan = block_scan(b, own, column.memory.warp_slots, column.block);
             b.if_(target == 0, [&] { target = target_of(column, rules, step, scan.total); });
             Reg<u64> before = above + scan.before;
             b.if_(before < target && target <= before + own, [&] {
               found.store(0, {low + (wide(part) << shift), before});
             });
             column.block.barrier();
             Vec<u64, 2> next = found.load<2>();
             low = next[0];
             above = next[1];
             bits = shift;
           });
  return low;
}

}  // namespace

void choose_of_many(const SampleColumn& column, const SampleRules& rules) {
  Builder& b = column.b;
  Var<u64> cut = b.var("cut", uint64_t{0});
  b.for_("step", kTopK, kSteps, 1, [&](Reg<u32> step) {
    Pred draws = step == kDraw;
    b.if_(draws || (step == kTopK && rules.has_top_k) || (step == kTopP && rules.has_top_p), [&] {
      Reg<u64> of_min_p = b.min(column.lowest_of(ordered_bits(rules.min_p_logit)), rules.best);
      b.if_(draws, [&] { cut = b.max(cut, of_min_p); });
      cut = end_of_head(column, rules, step, cut);
    });
  });
  // The last step's end is an id.
  b.if_(column.block.thread() == 0, [&] { column.commit((column.spec.n_vocab - 1) - b.convert<u32>(cut)); });
}

}  // namespace warpchat
