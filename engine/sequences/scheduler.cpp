// Prompt and answer differ only in the number of tokens not computed yet: with one, its logits give the next token;
// more are prefilled first. So a sequence that lost its pages is simply prefilled again.
#include "engine/sequences/scheduler.h"

#include <algorithm>
#include <cassert>
#include <exception>
#include <new>
#include <utility>

#include "engine/device_sampler.h"
#include "engine/profile.h"
#include "engine/token_source.h"
#include "kernels/attention/kv_cache.h"
#include "models/out_of_memory.h"
#include "models/threads.h"

namespace warpchat {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

CachePages cache_of(Steps& steps) {
  return {.n_slots = steps.max_sequences(),
          .n_pages = steps.n_pages(),
          .page_positions = kPagePositions,
          .set_pages = [&steps](uint32_t slot, std::span<const uint32_t> pages) { steps.set_pages(slot, pages); },
          .copy_page = [&steps](uint32_t from, uint32_t to) { steps.copy_page(from, to); },
          .n_states = steps.n_states(),
          .copy_state = [&steps](uint32_t from, uint32_t to) { steps.copy_state(from, to); }};
}

constexpr uint32_t kMaxDeviceLoopTokens = 1024;              // tokens with reserved pages for a device-side decode loop
constexpr uint32_t kTokensTimed = 8;                         // in a device-side decode loop: averaged to time a token
constexpr std::chrono::milliseconds kLossPollInterval{100};  // interval of checks for a lost device
constexpr std::chrono::seconds kLossGracePeriod{1};  // grace period for a working thread to report a lost device

}  // namespace

std::optional<AnswerStep> ScheduledAnswer::next(std::chrono::milliseconds timeout) {
  const Clock::time_point until = Clock::now() + timeout;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
    if (std::optional<AnswerStep> step = steps_.pop(std::clamp(left, std::chrono::milliseconds(0), kLossPollInterval)))
      return step;
    const std::string loss = scheduler_.decoder_.steps().loss();
    if (!loss.empty() && Clock::now() - *(lost_at_ ? lost_at_ : lost_at_ = Clock::now()) > kLossGracePeriod)
      return GenerationEnd{EndReason::kFailed, {}, loss, {Remedy::Kind::kUseCpu}};
    if (left <= kLossPollInterval) return std::nullopt;
  }
}

void ScheduledAnswer::stop() {
  stop_ = true;
  scheduler_.wake();
}

// Where a constraint leaves one way to go on, that way; else what followed earlier, as far as it is allowed.
PromptLookup::Draft Job::find_draft(uint32_t n_max) {
  lookup.grow(tokens);
  PromptLookup::Draft found = lookup.next(tokens, n_max);
  if (!is_constrained()) return found;
  forced = request.constraint->forced();
  if (!forced.empty()) found = {std::span(forced).first(std::min<size_t>(n_max, forced.size())), DraftLength::kCertain};
  found.tokens = found.tokens.first(request.constraint->n_allowed(found.tokens));
  return found;
}

Token Job::sample(std::span<const float> logits) {
  return sampler->sample(logits, is_constrained() ? request.constraint->mask() : std::span<const uint32_t>());
}

Scheduler::Scheduler(Decoder& decoder, EndsAnswer ends_answer, std::span<const Token> end_tokens)
    : decoder_(decoder),
      ends_answer_(std::move(ends_answer)),
      end_tokens_(end_tokens.begin(), end_tokens.end()),
      device_sampler_(decoder.steps().sampler()),
      store_(cache_of(decoder.steps())),
      limits_{.max_columns = decoder.max_columns(),
              .max_positions = decoder.max_positions(),
              .max_verified = std::min({decoder.max_columns() - (decoder.max_sequences() - 1),
                                        decoder.max_logits_columns(), kMaxVerifyTokens}),
              .is_recurrent = store_.is_recurrent(),
              .has_sampler = device_sampler_ != nullptr},
      interleaved_{.is_timed = !decoder.steps().is_emulated()} {}

Scheduler::~Scheduler() {
  {
    std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  wake();
  if (!worker_.joinable()) return;
  std::unique_lock lock(mutex_);
  while (!has_ended_ && decoder_.steps().loss().empty()) changed_.wait_for(lock, kLossPollInterval);
  const bool hangs = !changed_.wait_for(lock, kLossGracePeriod, [this] { return has_ended_; });
  lock.unlock();
  hangs ? worker_.detach() : worker_.join();
}

void Scheduler::wake() {
  {
    std::lock_guard lock(mutex_);
    wants_turn_ = true;
  }
  decoder_.steps().stop_persistent_launch();
  changed_.notify_all();
}

void Scheduler::prepare() {
  const std::lock_guard lock(mutex_);
  if (has_ended_) throw Error("the thread that answers has ended after an error; load the model again");
  if (!worker_.joinable())
    worker_ = start_thread(
        "to answer", [this] { run(); }, [this](const char* error) { abandon(error); });
}

std::shared_ptr<ScheduledAnswer> Scheduler::start(AnswerRequest request) {
  const uint32_t context = decoder_.max_positions();
  assert(!request.prompt.empty() && request.prompt.size() < context);
  prepare();
  std::shared_ptr<ScheduledAnswer> answer(new ScheduledAnswer(*this));
  auto job = std::make_unique<Job>();
  job->of = answer;
  job->tokens = std::exchange(request.prompt, {});
  const uint64_t room = context - job->tokens.size();  // the last token of a full context is never decoded
  job->max = request.max_tokens < 0 ? room : std::min<uint64_t>(request.max_tokens, room);
  if (device_sampler_ == nullptr) {
    job->sampler.emplace(request.sampling);
    for (const Token token : job->tokens) job->sampler->accept(token);
  }
  job->timings.prompt_tokens = static_cast<uint32_t>(job->tokens.size());
  job->request = std::move(request);
  job->asked = Clock::now();
  {
    std::lock_guard lock(mutex_);
    requests_.push_back(std::move(job));
    ++n_answers_;
  }
  wake();
  return answer;
}

void Scheduler::run() {
  bool has_entered = false;
  for (bool goes_on = true; goes_on;) {
    try {
      goes_on = take_requests();
      if (goes_on && !std::exchange(has_entered, true)) decoder_.steps().enter_worker_thread();
      if (goes_on) pass();
    } catch (const std::bad_alloc&) {
      fail_all_for_memory();
    } catch (const std::exception& error) {
      fail_all(error.what());
    }
    settle();
  }
  const std::lock_guard lock(mutex_);
  has_ended_ = true;
  changed_.notify_all();
}

bool Scheduler::take_requests() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return is_over_ || !requests_.empty() || !jobs_.empty(); });
  wants_turn_ = false;
  while (!requests_.empty()) {
    const auto behind = requests_.front()->request.in_front
                            ? std::ranges::find_if(jobs_, [](const auto& other) { return !other->request.in_front; })
                            : jobs_.end();
    jobs_.splice(behind, requests_, requests_.begin());
  }
  const bool is_over = is_over_;  // later requests belong to the next call
  if (is_over)
    for (const auto& job : jobs_) job->of->stop_ = true;
  lock.unlock();
  for (const auto& job : jobs_)
    if (job->of->stop_) finish(*job, EndReason::kStopped);
  settle();
  return !is_over;
}

// Reports ends after all pending work: a caller that hears of one may change the device. Allocates no memory, since an
// answer may end because memory ran out.
void Scheduler::settle() noexcept {
  const auto has_ended = [](const std::unique_ptr<Job>& job) { return job->end.has_value(); };
  if (std::ranges::none_of(jobs_, has_ended)) return;
  if (decoder_.steps().profile().is_enabled()) {
    try {  // passes that run ahead of the tokens count for these answers; errors reappear in the next pass
      decoder_.wait();
    } catch (const std::exception&) {
    }
  }
  for (std::unique_ptr<Job>& job : jobs_) {
    if (!has_ended(job)) continue;
    job->sequence.reset();
    --n_answers_;
    job->end_place.front() = std::move(*job->end);
    job->of->steps_.push_reserved(std::move(job->end_place));
    job.reset();
  }
  std::erase(jobs_, nullptr);
}

void Scheduler::pass() {
  if (jobs_.empty()) return;
  throw_if_out_of_memory();
  admit();
  for (const auto& job : jobs_)  // jobs that lose pages to an earlier one come after it
    if (job->is_stream()) reserve(*job, job->missing());
  const PassPlan plan =
      plan_pass(jobs_, limits_, decoder_.pass_length(), interleaved_, [this](Job& job) { return find_draft(job); });
  interleaved_.n_passes = plan.n_interleaved;
  if (plan.shares.empty()) return;
  plan.is_device_loop ? decode_on_device(*plan.shares.front().job) : execute(plan);
}

// In order: each job starts once pages for all its missing tokens are free.
void Scheduler::admit() {
  for (const auto& job : jobs_) {
    if (job->sequence != nullptr) continue;
    std::unique_ptr<Sequence>& sequence = job->sequence;
    sequence = store_.open(std::span(job->tokens).first(job->tokens.size() - 1));
    if (sequence == nullptr) return;
    if (!sequence->reserve(job->missing())) {
      // Copy-on-write of a partly filled page needs another page.
      sequence->rewind(sequence->reach() / kPagePositions * kPagePositions);
      if (!sequence->reserve(job->missing())) {
        assert(store_.n_live() > 1 && "a cache smaller than the context");
        return sequence.reset();
      }
    }
    if (job->timings.generated_tokens == 0) {
      job->opened = Clock::now();
      job->timings.reused_tokens = sequence->reach();
    }
  }
}

// Reserves pages, if necessary by evicting the latest jobs. False if that reaches the job itself, which then waits.
bool Scheduler::reserve(Job& job, uint32_t n_positions) {
  while (!job.sequence->reserve(n_positions)) {
    const auto last = std::find_if(jobs_.rbegin(), jobs_.rend(), [](const auto& other) { return other->is_live(); });
    (*last)->sequence.reset();
    (*last)->needs_replay = false;
    if (last->get() == &job) return false;
  }
  return true;
}

// A draft for the job, with its pages; empty: none.
std::vector<Token> Scheduler::find_draft(Job& job) {
  const uint32_t max = max_draft(job, limits_);
  if (max == 0 || (store_.is_recurrent() && !store_.can_hold())) return {};
  const PromptLookup::Draft found = job.find_draft(max);
  const uint32_t n = job.draft_length.next(found.agreeing, static_cast<uint32_t>(found.tokens.size()));
  if (n == 0 || !decoder_.steps().can_verify_draft() || !job.sequence->reserve(job.missing() + n)) return {};
  return {found.tokens.begin(), found.tokens.begin() + n};
}

// One pass, and further ones while the device can run ahead.
void Scheduler::execute(const PassPlan& plan) {
  const Share& first = plan.shares.front();
  const Timings before = first.job->timings;
  auto began = first.draft.empty() ? Clock::now() : first.job->last;  // includes the end of a device-side loop
  if (!begin(plan)) {
    for (const Share& share : plan.shares) share.job->sequence->invalidate();
    return;
  }
  bool is_ahead = false;
  do {
    is_ahead = plan.can_run_ahead && !wants_turn_ && std::ranges::all_of(plan.shares, [this](const Share& share) {
                 return share.job->tokens.size() < limits_.max_positions && share.job->sequence->reserve(2);
               });
    if (is_ahead) decoder_.forward_sampled(), device_sampler_->sample();
    if (!first.is_sampled) decoder_.steps().end_pass()(/*wait=*/true);
    account(plan);
    record_time(plan, before, seconds_since(std::exchange(began, Clock::now())));
  } while (is_ahead && std::ranges::all_of(plan.shares, [](const Share& share) { return !share.job->end; }));
  if (is_ahead) account(plan);
}

// Begins the pass, and the sampling of its logits on a device that samples. False if a stop ended it.
bool Scheduler::begin(const PassPlan& plan) {
  std::vector<Token> ahead;  // known tokens and draft
  if (const Share& first = plan.shares.front(); !first.draft.empty()) {
    ahead = first.job->tokens;
    ahead.insert(ahead.end(), first.draft.begin(), first.draft.end());
    if (store_.is_recurrent()) first.job->sequence->hold_state();
  }
  std::vector<Run> runs;
  for (const Share& share : plan.shares) {
    const Job& job = *share.job;
    const std::span<const Token> tokens = share.draft.empty() ? job.tokens : ahead;
    const uint32_t reach = job.sequence->reach();
    const Logits wanted = share.n_drafted() > 0 ? Logits::kAll : share.is_sampled ? Logits::kLast : Logits::kNone;
    runs.push_back({job.sequence->slot(), reach, tokens.subspan(reach, share.n_tokens + share.n_drafted()), wanted,
                    plan.verify_draft});
  }
  if (!decoder_.forward(runs, jobs_.size() == 1 ? &jobs_.front()->of->stop_ : nullptr)) return false;
  if (device_sampler_ != nullptr && plan.shares.front().is_sampled) begin_sampling(plan, ahead);
  return true;
}

// While the device computes the pass: the masks of constrained answers take the host a moment.
void Scheduler::begin_sampling(const PassPlan& plan, std::span<const Token> ahead) {
  std::vector<DeviceSampler::Start> starts;
  std::vector<TokenConstraint::Masks> masks(plan.shares.size());
  for (size_t s = 0; s < plan.shares.size(); ++s) {
    const Share& share = plan.shares[s];
    Job& job = *share.job;
    try {
      if (job.is_constrained() && share.is_sampled) masks[s] = job.request.constraint->masks(share.draft);
    } catch (const Error& error) {  // its columns are computed in vain
      finish(job, EndReason::kFailed, error.what());
    }
    const std::span<const Token> tokens = share.draft.empty() ? job.tokens : ahead;
    for (uint32_t i = 0; i < share.n_sampled(); ++i)
      starts.push_back({job.request.sampling, tokens.first(job.tokens.size() + i),
                        masks[s].empty() ? std::span<const uint32_t>() : masks[s][i]});
  }
  device_sampler_->start(starts);
  device_sampler_->sample();
}

// Consumes the results of the oldest pass.
void Scheduler::account(const PassPlan& plan) {
  std::span<const Token> sampled;
  if (device_sampler_ != nullptr && plan.shares.front().is_sampled) sampled = device_sampler_->read();
  uint32_t n_columns = 0;
  for (const Share& share : plan.shares) {
    Job& job = *share.job;
    n_columns += share.n_tokens + share.n_drafted();
    const std::span<const Token> of_share = sampled.first(sampled.empty() ? 0 : share.n_sampled());
    sampled = sampled.subspan(of_share.size());
    if (job.end) continue;
    if (share.draft.empty()) on_computed(job, job.next(share.n_tokens)), job.needs_replay = false;
    if (share.is_sampled && job.timings.generated_tokens == 0) begin_answer(job);
    if (!share.is_sampled || job.end) continue;
    try {
      emit_sampled(share, of_share, n_columns - share.n_sampled());
    } catch (const Error& error) {  // affects only this job's logits
      fail(job, error.what());
    }
  }
}

// Emits the token sampled from the first column's logits, and continues with the next column while the token equals the
// draft. sampled: the columns' tokens; empty: sampled here. Recurrent states accept a draft as a whole or not at all.
void Scheduler::emit_sampled(const Share& share, std::span<const Token> sampled, uint32_t column) {
  Job& job = *share.job;
  uint32_t n_accepted = 0;
  for (;; ++n_accepted) {
    const Token token = sampled.empty() ? job.sample(decoder_.logits(column + n_accepted)) : sampled[n_accepted];
    emit_token(job, token, /*was_drafted=*/n_accepted > 0);
    if (job.end || n_accepted == share.n_drafted() || token != share.draft[n_accepted]) break;
  }
  if (share.draft.empty()) return;
  job.timings.drafted_tokens += share.n_drafted(), job.timings.accepted_tokens += n_accepted;
  job.needs_replay = store_.is_recurrent() && n_accepted < share.n_drafted();
  job.needs_replay ? job.sequence->restore_checkpoint() : on_computed(job, job.next(share.n_tokens + n_accepted));
}

// Adapts the next plans to the pass's duration. before: the first job's timings before it.
void Scheduler::record_time(const PassPlan& plan, const Timings& before, double seconds) {
  const Share &first = plan.shares.front(), &last = plan.shares.back();
  if (plan.has_prompt && plan.shares.size() > 1) return interleaved_.adapt(last.n_tokens, seconds);
  if (plan.has_prompt) return decoder_.pass_length().record_time(last.n_tokens, seconds);
  if (!plan.verify_draft) interleaved_.stream_seconds = seconds;
  if (plan.shares.size() > 1 || first.job->end) return;
  // Where the device samples, plain passes of a free answer run ahead: decode_on_device() times tokens.
  if (device_sampler_ != nullptr && !plan.verify_draft && !first.job->is_constrained()) return;
  if (plan.verify_draft && first.draft.empty()) return first.job->draft_length.caught_up(seconds);
  const uint32_t n_accepted = first.job->timings.accepted_tokens - before.accepted_tokens;
  first.job->draft_length.record_time(first.n_drafted(), n_accepted, seconds);
}

// Decodes on the device without the host between tokens, in the persistent kernel or as graphs. A waiting request ends
// it at a token or within a prefill pass, and so does a draft.
void Scheduler::decode_on_device(Job& job) {
  Sequence& sequence = *job.sequence;
  const uint32_t missing = job.missing();
  auto max = static_cast<uint32_t>(std::min<uint64_t>(job.left(), kMaxDeviceLoopTokens));
  // State checkpoints are only possible between launches.
  if (store_.is_recurrent()) max = std::min(max, std::max(1u, sequence.until_copy() - missing));
  const uint32_t n_positions = std::min(missing + max, decoder_.max_positions() - sequence.reach());
  if (!reserve(job, n_positions)) return;
  const std::optional<uint32_t> column =
      decoder_.prefill(job.next(missing), sequence.reach(), sequence.slot(),
                       {&wants_turn_, [&](std::span<const Token> of_pass) { on_computed(job, of_pass); }});
  if (!column && store_.is_recurrent()) sequence.invalidate();
  if (!column) return;
  decoder_.wait();
  if (job.timings.generated_tokens == 0) begin_answer(job);
  if (job.end) return;
  const std::unique_ptr<TokenSource> source =
      make_token_source(decoder_, {job.request.sampling, job.tokens, sequence.reach(), *column, max,
                                   job.request.ignore_end ? std::vector<Token>() : end_tokens_,
                                   /*may_rewind=*/!store_.is_recurrent()});
  Clock::time_point timed_from;
  for (uint32_t n = 0; n < max && !job.end; ++n) {
    const std::optional<Token> token = source->next(wants_turn_);
    if (!token) break;
    if (n > 0) on_computed(job, job.next(1));
    emit_token(job, *token);
    if (n % kTokensTimed == 0) {  // the first token also waited for earlier work
      const Clock::time_point since = std::exchange(timed_from, job.last);
      if (n > 0)
        job.draft_length.record_time(0, 0, std::chrono::duration<double>(job.last - since).count() / kTokensTimed);
    }
    if (!job.end && (job.is_held() || !find_draft(job).empty())) break;
  }
  if (store_.is_recurrent()) drain_source(job, *source);
  if (!job.end && job.missing() == 0) sequence.rewind(sequence.reach() - 1);  // its logits were never computed
}

// Tokens computed beyond those returned stay in the recurrent state. After an answer's end, that may be its last token
// only.
void Scheduler::drain_source(Job& job, TokenSource& source) {
  const std::optional<std::vector<Token>> rest = source.end();
  if (!rest) return job.sequence->invalidate();
  for (size_t i = 0; i < rest->size(); ++i) {
    const bool is_wanted = !job.end;
    if (!is_wanted && i + 1 < rest->size()) return job.sequence->invalidate();
    on_computed(job, job.next(1));
    if (is_wanted) emit_token(job, (*rest)[i]);
  }
}

// Records that the tokens' keys and values are in the cache. `tokens` may point into the job's own.
void Scheduler::on_computed(Job& job, std::span<const Token> tokens) {
  job.sequence->append(tokens);
  if (job.timings.generated_tokens > 0) return;
  if (job.missing() == 1) job.sequence->keep_state();
  const uint32_t reused = job.timings.reused_tokens;
  job.of->steps_.push(PromptProgress{job.sequence->reach() - reused, job.timings.prompt_tokens - reused});
}

// Call after the prefill time has been recorded.
void Scheduler::begin_answer(Job& job) {
  job.timings.prompt_seconds = seconds_since(job.opened);
  job.read = job.last = Clock::now();
  if (std::ranges::none_of(jobs_, [](const auto& other) { return other->is_stream(); }))
    decoder_.steps().profile().begin_tokens();
  if (job.max == 0) finish(job, EndReason::kTokenLimit);
}

void Scheduler::emit_token(Job& job, Token token, bool was_drafted) {
  Timings& timings = job.timings;
  if (job.is_constrained()) job.request.constraint->accept(token);
  job.tokens.push_back(token);
  if (job.sampler) job.sampler->accept(token);
  if (timings.generated_tokens++ == 0) timings.first_token_seconds = seconds_since(job.asked);
  if (!job.request.ignore_end && ends_answer_(token)) return finish(job, EndReason::kEndOfText);
  const double seconds = seconds_since(std::exchange(job.last, Clock::now()));
  decoder_.steps().profile().end_token(seconds, was_drafted);
  job.of->steps_.push(NextToken{token, seconds});
  const bool may_end = job.is_constrained() && !job.request.ignore_end;
  if (may_end && job.request.constraint->is_over()) return finish(job, EndReason::kEndOfText);  // a pass less
  if (job.left() == 0)
    finish(job, job.tokens.size() == limits_.max_positions ? EndReason::kContextFull : EndReason::kTokenLimit);
}

void Scheduler::finish(Job& job, EndReason reason, std::string error) {
  if (job.end) return;
  if (job.timings.generated_tokens > 0) job.timings.generate_seconds = seconds_since(job.read);
  job.end = {reason, job.timings, std::move(error)};
}

// After a failed pass the cache's contents are unknown, and so is which pass failed.
void Scheduler::fail(Job& job, const std::string& error) {
  store_.forget();
  if (job.sequence != nullptr) job.sequence->rewind(0);
  finish(job, EndReason::kFailed, error);
}

void Scheduler::fail_all(const std::string& error) {
  for (const auto& job : jobs_) fail(*job, error);
}

void Scheduler::fail_all_for_memory() {
  try {
    fail_all(kOutOfMemory);
  } catch (const std::bad_alloc&) {
    fail_all("out of memory");  // short enough to need no allocation
  }
}

// The last catch of the thread: what has not ended ends now, and nothing begins any more.
void Scheduler::abandon(const char* error) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.splice(jobs_.end(), requests_);
    has_ended_ = true;
  }
  changed_.notify_all();
  for (const auto& job : jobs_) finish(*job, EndReason::kFailed, error);
  settle();
}

}  // namespace warpchat
