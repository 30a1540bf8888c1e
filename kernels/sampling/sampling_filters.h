// Filters and draw of a column, after its best logit is known: among a few candidates, one per thread, or among all
// logits.
#pragma once
#include "kernels/sampling/sampling_column.h"

namespace warpchat {

struct SampleRules {        // uniform over the block
  ptx::Reg<ptx::u64> best;  // as a candidate
  ptx::Reg<ptx::f32> best_logit;
  ptx::Reg<ptx::f32> factor;  // 1 / temperature
  ptx::Pred has_top_k, has_top_p;
  ptx::Reg<ptx::u64> random;
  ptx::Reg<ptx::f32> min_p_logit;  // lowest logit that min_p keeps; -infinity: off
};

SampleRules sample_rules(const SampleColumn& column, const ptx::Reg<ptx::u64>& best);

// Sum of weights at temperature 1 over all logits, before top_k.
ptx::Reg<ptx::u64> sum_of_all(const SampleColumn& column, const SampleRules& rules);

// Returns the token in one thread. total: sum_of_all for top_p without top_k, else unused. memory.candidates holds
// n_candidates, at most one per thread: a superset of what top_k keeps, or without top_k of what can be drawn.
// Overwrites the candidates.
void sample_from_candidates(const SampleColumn& column, const SampleRules& rules,
                            const ptx::Reg<ptx::u32>& n_candidates, const ptx::Reg<ptx::u64>& total,
                            ptx::Var<ptx::u32>& token);
void sample_from_all(const SampleColumn& column, const SampleRules& rules, ptx::Var<ptx::u32>& token);

}  // namespace warpchat
