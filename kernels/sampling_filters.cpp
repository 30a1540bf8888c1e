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

namespace {

// What a candidate adds to a sum: 1, or its weight.
using Measure = std::function<Reg<u64>(const Reg<f32>& logit)>;
using OnCandidate = std::function<void(const Reg<u64>& candidate, const Reg<f32>& logit)>;

void for_candidates(const SampleColumn& column, In<u64> cut, const OnCandidate& body) {
  column.for_all(1, [&](const Reg<u32>& id, const Reg<f32>& logit) {
    Reg<u64> candidate = column.candidate(ordered_bits(logit), id);
    column.b.if_(candidate >= cut, [&] { body(candidate, logit); });
  });
}

Reg<u64> sum_from(const SampleColumn& column, In<u64> cut, const Measure& measure) {
  Builder& b = column.b;
  Var<u64> sum = b.var("sum", uint64_t{0});
  for_candidates(column, cut, [&](const Reg<u64>&, const Reg<f32>& logit) { sum += measure(logit); });
  return block_sum(b, sum, column.memory.warp_slots, column.warps());
}

// Of the candidates from `cut` on, best first, the fewest that measure `target` together: the worst of them. A radix
// search: the interval [low, low + 2^bits) that holds it is cut into a part for each thread until it is one number.
Reg<u64> end_of_head(const SampleColumn& column, const SampleRules& rules, In<u64> cut, In<u64> target,
                     const Measure& measure) {
  Builder& b = column.b;
  const uint32_t threads = column.spec.threads, digit = std::bit_width(threads) - 1;
  const Shared<u64>& parts = column.memory.candidates;
  const Shared<u64>& found = column.memory.found;
  Var<u64> low = b.var<u64>("low", cut), above = b.var("above", uint64_t{0});
  Var<u32> bits = b.var("bits", 64 - b.clz(b.uniform(Reg<u64>(rules.best - low))));
  b.while_(
      [&] { return b.uniform(bits) > 0; },
      [&] {
        Reg<u32> shift = b.select(bits > digit, bits - digit, 0u);
        parts.store(b.thread(), uint64_t{0});
        b.barrier();
        for_candidates(column, low, [&](const Reg<u64>& candidate, const Reg<f32>& logit) {
          Reg<u64> place = candidate - low;
          b.if_((place >> bits) == 0, [&] {
            (parts + b.convert<u32>(place >> shift)).red(Atomic::kAdd, measure(logit), Order::kRelaxed, Scope::kBlock);
          });
        });
        b.barrier();
        Reg<u32> part = (threads - 1) - b.thread();  // the best part is the first thread's
        Reg<u64> own = parts.load(part);
        Reg<u64> before = above + block_scan(b, own, column.memory.warp_slots, column.warps()).before;
        b.if_(before < target && target <= before + own, [&] {
          found.store(0, {low + (wide(part) << shift), before});
        });
        b.barrier();
        Vec<u64, 2> next = found.load<2>();
        low = next[0];
        above = next[1];
        bits = shift;
      });
  return low;
}

// In the order of ids, a stretch of the vocabulary at a time: the candidate in whose share the ticket lies.
void draw_from(const SampleColumn& column, const SampleRules& rules, In<u64> cut, const Reg<u64>& ticket) {
  constexpr uint32_t kEach = 16;
  Builder& b = column.b;
  const uint32_t n_vocab = column.spec.n_vocab;
  const auto for_shares = [&](const Reg<u32>& first,
                              const std::function<void(const Reg<u32>&, const Reg<u64>&)>& body) {
    b.for_("id", first, b.min(first + kEach, n_vocab), 1, [&](Reg<u32> id) {
      Reg<f32> logit = column.logit(id);
      b.if_(column.candidate(ordered_bits(logit), id) >= cut,
            [&] { body(id, weight_of(column, rules, logit, rules.factor)); });
    });
  };
  Var<u64> passed = b.var("passed", uint64_t{0});
  b.for_("stretch", 0, n_vocab, column.spec.threads * kEach, [&](Reg<u32> stretch) {
    Reg<u32> first = stretch + b.thread() * kEach;
    Var<u64> own = b.var("own", uint64_t{0});
    for_shares(first, [&](const Reg<u32>&, const Reg<u64>& share) { own += share; });
    const BlockScan scan = block_scan(b, own, column.memory.warp_slots, column.warps());
    Var<u64> end = b.var("end", passed + scan.before);
    b.if_(end <= ticket && ticket < end + own, [&] {
      for_shares(first, [&](const Reg<u32>& id, const Reg<u64>& share) {
        end += share;
        b.if_(ticket < end, [&] { column.commit(id); });
        b.break_if(ticket < end);
      });
    });
    passed += scan.total;
    b.break_if(b.uniform(passed) > ticket);
  });
}

}  // namespace

Reg<u64> sum_of_all(const SampleColumn& column, const SampleRules& rules) {
  return sum_from(column, 0u, [&](const Reg<f32>& logit) { return weight_of(column, rules, logit, 1.0f); });
}

// Each thread holds one candidate against all others: how many are better and what these weigh, then what lies before
// it in the order of ids.
void choose_of_few(const SampleColumn& column, const SampleRules& rules, const Reg<u32>& n_candidates,
                   const Reg<u64>& total) {
  Builder& b = column.b;
  const Shared<u64>&candidates = column.memory.candidates, &weights = column.memory.weights;
  Pred mine = b.thread() < n_candidates;
  Var<u64> own = b.var("candidate", uint64_t{0}), weight = b.var("weight", uint64_t{0});
  Var<f32> logit = b.var("logit", 0.0f);
  b.if_(mine, [&] {
    own = candidates.load(b.thread());
    logit = logit_of(column.ordered_of(own));
    weight = weight_of(column, rules, logit, 1.0f);
    weights.store(b.thread(), weight);
  });
  b.barrier();

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
  Reg<u64> of_top_k = block_sum(b, counted, column.memory.warp_slots, column.warps());
  Reg<u64> target = top_p_target(column, b.select(rules.has_top_k, of_top_k, total));
  Pred in_top_p = in_top_k && (!rules.has_top_p || above < target);
  Pred kept = in_top_p && (logit >= rules.min_p_logit || own == rules.best);

  Var<u64> share = b.var("share", uint64_t{0}), begin = b.var("begin", uint64_t{0});
  b.if_(kept, [&] { share = weight_of(column, rules, logit, rules.factor); });
  b.if_(mine, [&] { weights.store(b.thread(), share); });
  Reg<u64> of_kept = block_sum(b, share, column.memory.warp_slots, column.warps());  // and its barriers
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

void choose_of_many(const SampleColumn& column, const SampleRules& rules, const Reg<u64>& total) {
  Builder& b = column.b;
  const auto weight = [&](const Reg<f32>& logit) { return weight_of(column, rules, logit, 1.0f); };
  const auto share = [&](const Reg<f32>& logit) { return weight_of(column, rules, logit, rules.factor); };
  Var<u64> cut = b.var("cut", uint64_t{0});
  b.for_("filter", 0, 2, 1, [&](Reg<u32> filter) {  // top_k, then top_p: a head of so many, or of so much weight
    Pred counts = filter == 0;
    Var<u64> target = b.var("target", wide(column.settings.top_k));
    b.if_((counts && rules.has_top_k) || (!counts && rules.has_top_p), [&] {
      b.if_(!counts, [&] {
        Var<u64> reachable = b.var("reachable", total);
        b.if_(rules.has_top_k, [&] { reachable = sum_from(column, cut, weight); });
        target = top_p_target(column, reachable);
      });
      cut = end_of_head(column, rules, cut, target,
                        [&](const Reg<f32>& logit) { return b.select(counts, uint64_t{1}, weight(logit)); });
    });
  });
  cut = b.max(cut, b.min(column.lowest_of(ordered_bits(rules.min_p_logit)), rules.best));
  Reg<u64> ticket = b.uniform(b.mul_hi(rules.random, sum_from(column, cut, share)));
  draw_from(column, rules, cut, ticket);
}

}  // namespace warpchat
