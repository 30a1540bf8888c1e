#include "engine/sequences/pass_plan.h"

#include <algorithm>
#include <cmath>

#include "engine/sequences/scheduler.h"

namespace warpchat {

void InterleavedPrefill::adapt(uint32_t n_of_prompt, double seconds) {
  if (!is_timed) return;
  const double longer = std::max(seconds - stream_seconds, 0.01 * stream_seconds), n = n_of_prompt;
  const double wanted = n * (kMaxDecodeSlowdown - 1) * stream_seconds / longer;
  max_tokens = static_cast<uint32_t>(std::lround(std::clamp(wanted, std::max(1.0, n / 2), n * 2)));
}

uint32_t max_draft(const Job& job, const PassLimits& limits) {
  const uint32_t missing = job.missing();
  // A device's sampler samples every column that has logits, also those of known tokens.
  if (!job.request.drafts || missing >= limits.max_verified || (limits.has_sampler && missing > 1)) return 0;
  return static_cast<uint32_t>(
      std::min<uint64_t>({job.left() - 1, limits.max_positions - job.tokens.size(), limits.max_verified - missing}));
}

PassPlan plan_pass(const Jobs& jobs, const PassLimits& limits, const PassLength& pass_length,
                   const InterleavedPrefill& interleaved, const std::function<std::vector<Token>(Job&)>& find_draft) {
  PassPlan plan{.n_interleaved = interleaved.n_passes};
  std::vector<Job*> streams;
  for (const auto& job : jobs)
    if (job->is_stream()) streams.push_back(job.get());
  const auto waiting = std::ranges::find_if(jobs, [](const auto& job) { return job->is_live() && !job->is_stream(); });
  Job* prompt = waiting == jobs.end() ? nullptr : waiting->get();
  if (!streams.empty() && prompt != nullptr) {
    if (interleaved.needs_refresh()) prompt = nullptr;
    plan.n_interleaved = prompt == nullptr ? 0 : interleaved.n_passes + 1;
  }
  std::vector<Token> draft;
  if (streams.size() == 1 && prompt == nullptr) draft = find_draft(*streams.front());
  // A replay must use the draft verification kernels again, which take a single run.
  if (const auto replayed = std::ranges::find_if(streams, &Job::needs_replay); replayed != streams.end())
    streams = {*replayed}, prompt = nullptr;

  uint32_t room = limits.max_columns;
  for (Job* job : streams) plan.shares.push_back({job, job->missing(), true}), room -= job->missing();
  if (prompt != nullptr) {
    const uint32_t max = streams.empty() ? UINT32_MAX : interleaved.max_tokens, missing = prompt->missing();
    uint32_t n = std::min(pass_length.next(missing, max), room);
    // The state before a prompt's last token is checkpointed: a repeated prompt resumes there.
    if (limits.is_recurrent && n == missing && n > 1) --n;
    plan.shares.push_back({prompt, n, n == missing});
    plan.has_prompt = true;
  }
  if (plan.shares.empty()) return plan;
  Share& first = plan.shares.front();
  first.draft = std::move(draft);
  plan.verify_draft = !first.draft.empty() || (!streams.empty() && first.n_tokens > 1);
  // A mask follows from the token before it, which the host has to read first.
  const bool is_free =
      std::ranges::none_of(plan.shares, [](const Share& share) { return share.job->is_constrained(); });
  plan.can_run_ahead = limits.has_sampler && is_free && !limits.is_recurrent && !plan.has_prompt && first.draft.empty();
  // The loop's prefill does not stop for the checkpoint before a prompt's last token. Tokens that it has chosen ahead
  // are dropped where an answer becomes held, which a recurrent state cannot.
  const bool can_loop = !limits.is_recurrent || (first.job->missing() == 1 && is_free);
  plan.is_device_loop =
      limits.has_sampler && !first.job->is_held() && first.draft.empty() && jobs.size() == 1 && can_loop;
  return plan;
}

}  // namespace warpchat
