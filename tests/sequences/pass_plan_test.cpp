// What a pass contains, for jobs in pages of a device that does nothing.
#include "engine/sequences/pass_plan.h"

#include <gtest/gtest.h>

#include "engine/sequences/scheduler.h"

namespace warpchat {
namespace {

struct JobState {
  uint32_t n_missing;
  bool is_answering = false;
  bool needs_replay = false;
  enum class Place { kInPages, kWaiting, kEnded } place = Place::kInPages;
};
constexpr JobState kStream{1, true}, kReplay{3, true, true}, kEvicted{20, true};
constexpr JobState kWaiting{20, false, false, JobState::Place::kWaiting};
constexpr JobState kEnded{1, true, false, JobState::Place::kEnded};
constexpr JobState prompt(uint32_t n_missing) { return {n_missing}; }

constexpr PassLimits limits(bool is_recurrent, bool has_sampler, uint32_t max_columns = 16) {
  return {.max_columns = max_columns,
          .max_positions = 64,
          .max_verified = 8,
          .is_recurrent = is_recurrent,
          .has_sampler = has_sampler};
}
constexpr PassLimits kHost = limits(false, false), kHostRecurrent = limits(true, false), kDevice = limits(false, true),
                     kDeviceRecurrent = limits(true, true), kFewColumns = limits(false, false, 5);

constexpr uint32_t kPassLength = 10;
constexpr InterleavedPrefill kUntimed{.is_timed = false}, kUnknown{.is_timed = true},
    kKnown{.is_timed = true, .max_tokens = 3, .n_passes = 31, .stream_seconds = 1},
    kDue{.is_timed = true, .max_tokens = 3, .n_passes = 32, .stream_seconds = 1};

class JobsInPages {
 public:
  Job& add(const JobState& state) {
    constexpr uint32_t kComputed = 5;
    const bool is_waiting = state.place == JobState::Place::kWaiting;
    jobs_.push_back(std::make_unique<Job>());
    Job& job = *jobs_.back();
    job.max = 100;
    job.timings.generated_tokens = state.is_answering ? 1 : 0;
    job.needs_replay = state.needs_replay;
    for (uint32_t i = 0; i < kComputed + state.n_missing; ++i)
      job.tokens.push_back(static_cast<Token>(100 * jobs_.size() + i));  // no job has another's prefix
    if (state.place == JobState::Place::kEnded) job.end.emplace();
    if (is_waiting) return job;
    job.sequence = store_.open({});
    EXPECT_TRUE(job.sequence->reserve(kComputed + state.n_missing));
    job.sequence->append(std::span(job.tokens).first(kComputed));
    return job;
  }
  const Jobs& all() const { return jobs_; }

 private:
  SequenceStore store_{{.n_slots = 8,
                        .n_pages = 8,
                        .page_positions = 64,
                        .set_pages = [](uint32_t, std::span<const uint32_t>) {},
                        .copy_page = [](uint32_t, uint32_t) {}}};
  Jobs jobs_;
};

// Each share as "job: tokens + draft -> sampled;", then what else the plan says.
std::string describe(const Jobs& jobs, const PassPlan& plan) {
  std::string text;
  for (const Share& share : plan.shares) {
    const auto is_its_job = [&](const auto& job) { return job.get() == share.job; };
    text += std::to_string(std::distance(jobs.begin(), std::ranges::find_if(jobs, is_its_job))) + ": " +
            std::to_string(share.n_tokens);
    if (share.n_drafted() > 0) text += " + " + std::to_string(share.n_drafted());
    text += " -> " + std::to_string(share.n_sampled()) + "; ";
  }
  if (plan.has_prompt) text += "prompt ";
  if (plan.verify_draft) text += "verify ";
  if (plan.can_run_ahead) text += "ahead ";
  if (plan.is_device_loop) text += "loop ";
  if (plan.n_interleaved > 0) text += "interleaved " + std::to_string(plan.n_interleaved);
  return text;
}

struct PlanCase {
  const char* name;
  PassLimits limits;
  std::vector<JobState> jobs;
  const char* plan;
  std::vector<Token> draft = {};  // if one is asked for
  InterleavedPrefill interleaved = kUntimed;
};

class PassPlans : public testing::TestWithParam<PlanCase> {};

TEST_P(PassPlans, Are) {
  const PlanCase& c = GetParam();
  JobsInPages jobs;
  for (const JobState& state : c.jobs) jobs.add(state);
  const PassPlan plan = plan_pass(jobs.all(), c.limits, PassLength(kPassLength, /*fixed=*/true, /*in_units=*/false),
                                  c.interleaved, [&](Job&) { return c.draft; });
  EXPECT_EQ(describe(jobs.all(), plan), c.plan);
  if (!plan.shares.empty()) {
    EXPECT_TRUE(plan.shares.front().draft.empty() || plan.shares.front().draft == c.draft);
  }
}

const std::vector<Token> kDraft = {7, 8};

INSTANTIATE_TEST_SUITE_P(
    Cases, PassPlans,
    testing::Values(
        PlanCase{"nothing", kHost, {}, ""}, PlanCase{"no_pages_for_the_only_job", kDevice, {kWaiting}, ""},
        // Streams.
        PlanCase{"streams", kHost, {kStream, kStream}, "0: 1 -> 1; 1: 1 -> 1; "},
        PlanCase{"streams_on_a_device_run_ahead", kDevice, {kStream, kStream}, "0: 1 -> 1; 1: 1 -> 1; ahead "},
        PlanCase{"recurrent_streams_do_not", kDeviceRecurrent, {kStream, kStream}, "0: 1 -> 1; 1: 1 -> 1; "},
        PlanCase{"one_that_has_ended", kHost, {kEnded, kStream}, "1: 1 -> 1; "},
        // Prompts.
        PlanCase{"prompt", kHost, {prompt(20), prompt(20)}, "0: 10 -> 0; prompt "},
        PlanCase{"end_of_a_prompt", kHost, {prompt(10)}, "0: 10 -> 1; prompt "},
        PlanCase{"prompt_on_a_device_beside_a_waiting_job", kDevice, {prompt(20), kWaiting}, "0: 10 -> 0; prompt "},
        PlanCase{"prompt_is_split_before_its_last_token", kHostRecurrent, {prompt(10)}, "0: 9 -> 0; prompt "},
        PlanCase{"prompt_with_more_than_a_pass_is_not", kHostRecurrent, {prompt(11)}, "0: 10 -> 0; prompt "},
        PlanCase{"last_token_of_a_prompt", kHostRecurrent, {prompt(1)}, "0: 1 -> 1; prompt "},
        PlanCase{"evicted_answer_is_prefilled", kHost, {kEvicted}, "0: 10 -> 0; prompt "},
        // A prompt beside streams.
        PlanCase{"mixed",
                 kHost,
                 {prompt(20), kStream, kStream},
                 "1: 1 -> 1; 2: 1 -> 1; 0: 4 -> 0; prompt interleaved 1",
                 kDraft},
        PlanCase{"mixed_with_the_end_of_a_prompt",
                 kDevice,
                 {kStream, prompt(3)},
                 "0: 1 -> 1; 1: 3 -> 1; prompt interleaved 1"},
        PlanCase{"mixed_recurrent", kHostRecurrent, {kStream, prompt(4)}, "0: 1 -> 1; 1: 3 -> 0; prompt interleaved 1"},
        PlanCase{"mixed_in_few_columns",
                 kFewColumns,
                 {kStream, kStream, kStream, prompt(20)},
                 "0: 1 -> 1; 1: 1 -> 1; 2: 1 -> 1; 3: 2 -> 0; prompt interleaved 1"},
        PlanCase{"time_of_streams_is_unknown",
                 kHost,
                 {kStream, kStream, prompt(20)},
                 "0: 1 -> 1; 1: 1 -> 1; ",
                 {},
                 kUnknown},
        PlanCase{"time_of_streams_is_known",
                 kHost,
                 {kStream, prompt(20)},
                 "0: 1 -> 1; 1: 3 -> 0; prompt interleaved 32",
                 {},
                 kKnown},
        PlanCase{"time_of_streams_is_due", kHost, {kStream, prompt(20)}, "0: 1 -> 1; ", {}, kDue},
        PlanCase{"time_is_due_without_a_prompt", kHost, {kStream, kWaiting}, "0: 1 -> 1; interleaved 32", {}, kDue},
        PlanCase{"time_is_due_without_streams", kHost, {prompt(20)}, "0: 10 -> 0; prompt interleaved 32", {}, kDue},
        // Drafts.
        PlanCase{"draft", kHost, {kStream, kWaiting}, "0: 1 + 2 -> 3; verify ", kDraft},
        PlanCase{"draft_on_a_device", kDevice, {kStream}, "0: 1 + 2 -> 3; verify ", kDraft},
        PlanCase{
            "draft_while_a_prompt_makes_way", kHost, {kStream, prompt(20)}, "0: 1 + 2 -> 3; verify ", kDraft, kDue},
        PlanCase{"draft_for_one_stream_only", kHost, {kStream, kStream}, "0: 1 -> 1; 1: 1 -> 1; ", kDraft},
        PlanCase{"replay", kHostRecurrent, {kStream, kReplay, prompt(5)}, "1: 3 -> 1; verify interleaved 1"},
        PlanCase{"replay_with_a_draft", kHostRecurrent, {kReplay}, "0: 3 + 2 -> 3; verify ", kDraft},
        PlanCase{"replay_on_a_device", kDeviceRecurrent, {kReplay}, "0: 3 -> 1; verify "},
        // The device's own loop.
        PlanCase{"device_loop", kDevice, {kStream}, "0: 1 -> 1; ahead loop "},
        PlanCase{"device_loop_from_a_prompt", kDevice, {prompt(20)}, "0: 10 -> 0; prompt loop "},
        PlanCase{"device_loop_recurrent", kDeviceRecurrent, {kStream}, "0: 1 -> 1; loop "},
        PlanCase{"device_loop_from_a_prompts_last_token", kDeviceRecurrent, {prompt(1)}, "0: 1 -> 1; prompt loop "},
        PlanCase{"no_loop_from_a_recurrent_prompt", kDeviceRecurrent, {prompt(2)}, "0: 1 -> 0; prompt "},
        PlanCase{"no_loop_while_a_job_waits", kDevice, {kStream, kWaiting}, "0: 1 -> 1; ahead "},
        PlanCase{"no_loop_on_the_host", kHost, {kStream}, "0: 1 -> 1; "}),
    [](const auto& c) { return c.param.name; });

TEST(MaxDraft, EndsWithAnswerContextAndColumns) {
  const struct {
    const char* name;
    PassLimits limits;
    JobState state;
    uint64_t left;
    uint32_t n_tokens, max;
  } cases[] = {
      {"columns", kHost, kStream, 50, 6, 7},
      {"columns after a replay", kHostRecurrent, kReplay, 50, 8, 5},
      {"no replay on a device", kDeviceRecurrent, kReplay, 50, 8, 0},
      {"no column left", kHost, {8, true}, 50, 13, 0},
      {"end of the answer", kHost, kStream, 4, 6, 3},
      {"last token", kHost, kStream, 1, 6, 0},
      {"end of the context", kHost, kStream, 50, 61, 3},
      {"full context", kHost, kStream, 50, 64, 0},
  };
  for (const auto& c : cases) {
    JobsInPages jobs;
    Job& job = jobs.add(c.state);
    job.max = c.left + 1;
    job.tokens.resize(c.n_tokens, 1);
    job.sequence->append(std::span(job.tokens).subspan(5, c.n_tokens - c.state.n_missing - 5));
    EXPECT_EQ(max_draft(job, c.limits), c.max) << c.name;
    job.request.drafts = false;
    EXPECT_EQ(max_draft(job, c.limits), 0u) << c.name;
  }
}

TEST(InterleavedPrefill, SlowsStreamsByItsFactor) {
  const struct {
    uint32_t max_tokens;
    double seconds;
    uint32_t next;
  } cases[] = {{10, 2.2, 10}, {10, 2.5, 8},  {10, 2.0, 12}, {10, 100, 5},
               {10, 1.0, 20}, {10, 0.5, 20}, {1, 100, 1},   {3, 100, 2}};
  for (const auto& c : cases) {
    InterleavedPrefill prefill{.is_timed = true, .max_tokens = c.max_tokens, .stream_seconds = 1};
    prefill.adapt(c.max_tokens, c.seconds);
    EXPECT_EQ(prefill.max_tokens, c.next) << c.seconds;
    prefill = {.is_timed = false, .max_tokens = c.max_tokens, .stream_seconds = 1};
    prefill.adapt(c.max_tokens, c.seconds);
    EXPECT_EQ(prefill.max_tokens, c.max_tokens) << "times mean nothing";
  }
}

}  // namespace
}  // namespace warpchat
