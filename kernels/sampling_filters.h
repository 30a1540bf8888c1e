// The filters and the draw of a column, behind the search for its best logit: among a few candidates, one a thread, or
// among all logits.
#pragma once
#include "kernels/sampling_column.h"

namespace warpchat {

struct SampleRules {        // the same in all threads
  ptx::Reg<ptx::u64> best;  // candidate
  ptx::Reg<ptx::f32> best_logit;
  ptx::Reg<ptx::f32> factor;  // 1 / temperature
  ptx::Pred has_top_k, has_top_p;
  ptx::Reg<ptx::u64> random;
  ptx::Reg<ptx::f32> min_p_logit;  // the lowest that min_p keeps; -infinity if it is off
};

SampleRules sample_rules(const SampleColumn& column, const ptx::Reg<ptx::u64>& best);

// Over all logits, before top_k: the sum of weights at temperature 1.
ptx::Reg<ptx::u64> sum_of_all(const SampleColumn& column, const SampleRules& rules);

// One thread gets the token. Of few: `total` is sum_of_all where top_p comes without top_k, else not used;
// memory.candidates holds n_candidates, at most a thread each, all that top_k keeps among them; or, without it, all
// that can be drawn. What candidates holds is lost.
void choose_of_few(const SampleColumn& column, const SampleRules& rules, const ptx::Reg<ptx::u32>& n_candidates,
                   const ptx::Reg<ptx::u64>& total, ptx::Var<ptx::u32>& token);
void choose_of_many(const SampleColumn& column, const SampleRules& rules, ptx::Var<ptx::u32>& token);

}  // namespace warpchat
