// Continuous batching over one decoder. One thread plans each pass (pass_plan.h), executes it and accounts for its
// results: the next token of every sequence being answered, and as much of a prompt as its time allows. Sequences share
// the cache's pages; one that is evicted waits and is prefilled again when its turn comes.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <variant>
#include <vector>

#include "engine/decoder.h"
#include "engine/events.h"
#include "engine/queue.h"
#include "engine/sampler.h"
#include "engine/sequences/drafts.h"
#include "engine/sequences/pass_plan.h"
#include "engine/sequences/sequence_store.h"
#include "engine/sequences/token_constraint.h"

namespace warpchat {

struct AnswerRequest {
  std::vector<Token> prompt;  // not empty, shorter than the context
  SamplingParams sampling;
  int32_t max_tokens = -1;  // -1: until the end of the answer or of the context
  bool ignore_end = false;  // go on past end-of-generation tokens (benchmarks)
  bool in_front = false;    // prefilled before others, because the user waits for it
  bool drafts = true;       // verifies drafts, several tokens per pass; the tokens stay the same
  std::shared_ptr<TokenConstraint> constraint = {};  // of the tokens, for this answer alone; null: any
};

struct NextToken {
  Token token;
  double seconds;  // since the previous token
};
using AnswerStep = std::variant<PromptProgress, NextToken, GenerationEnd>;

// A running answer, as its caller sees it.
class ScheduledAnswer {
 public:
  std::optional<AnswerStep> next(std::chrono::milliseconds timeout);  // the end comes last, also if the device is lost
  void stop();                                                        // asynchronous; the answer ends within a pass

 private:
  friend class Scheduler;
  explicit ScheduledAnswer(class Scheduler& scheduler) : scheduler_(scheduler) {}
  Scheduler& scheduler_;
  Queue<AnswerStep> steps_;
  std::atomic<bool> stop_ = false;
  std::optional<std::chrono::steady_clock::time_point> lost_at_;  // when the loss was noticed
};

// A request and its answer, as the scheduler and its plans see them.
struct Job {
  std::shared_ptr<ScheduledAnswer> of;
  AnswerRequest request;
  uint64_t max;                        // maximum tokens of the answer
  std::vector<Token> tokens;           // the prompt, then the answer
  std::unique_ptr<Sequence> sequence;  // null while waiting
  std::optional<Sampler> sampler;      // for sampling on the host
  PromptLookup lookup;                 // over `tokens`
  std::vector<Token> forced;           // by the constraint, at the last search for a draft
  DraftLength draft_length;
  bool needs_replay = false;  // the state was restored from before a rejected draft; accepted tokens must be replayed
  std::chrono::steady_clock::time_point asked, opened, read, last;
  Timings timings;
  std::optional<GenerationEnd> end;
  Queue<AnswerStep>::Place end_place = Queue<AnswerStep>::reserve();  // the end arrives even if memory has run out

  uint64_t left() const { return max - timings.generated_tokens; }
  bool is_live() const { return sequence != nullptr && !end; }
  uint32_t missing() const { return static_cast<uint32_t>(tokens.size()) - sequence->reach(); }
  bool is_stream() const { return is_live() && timings.generated_tokens > 0 && (missing() == 1 || needs_replay); }
  PromptLookup::Draft find_draft(uint32_t n_max);  // valid until the next call, or until `tokens` grows
  Token sample(std::span<const float> logits);     // on the host
  bool is_constrained() const { return request.constraint != nullptr; }
  bool is_held() const { return is_constrained() && !request.constraint->is_free(); }  // at the next token
  // The first n tokens not computed yet.
  std::span<const Token> next(size_t n) const { return std::span(tokens).subspan(sequence->reach(), n); }
};

class Scheduler {
 public:
  using EndsAnswer = std::function<bool(Token)>;
  // end_tokens: some or all end-of-generation tokens, for a device-side decode loop.
  Scheduler(Decoder& decoder, EndsAnswer ends_answer, std::span<const Token> end_tokens = {});
  ~Scheduler();  // stops all answers; detaches a thread that hangs in a lost device

  // Starts the thread that answers, unless it runs. Error if the system refuses.
  void prepare();

  // The answer waits if all sequences or pages are in use. Error if the system cannot start a thread.
  std::shared_ptr<ScheduledAnswer> start(AnswerRequest request);
  uint32_t n_answers() const { return n_answers_; }  // running or waiting

 private:
  friend class ScheduledAnswer;
  void wake();
  void run();
  bool take_requests();  // waits while idle; false: shutting down
  void settle() noexcept;
  void pass();
  void admit();
  bool reserve(Job& job, uint32_t n_positions);
  std::vector<Token> find_draft(Job& job);
  void execute(const PassPlan& plan);
  bool begin(const PassPlan& plan);
  void begin_sampling(const PassPlan& plan, std::span<const Token> ahead);
  void account(const PassPlan& plan);
  void record_time(const PassPlan& plan, const Timings& before, double seconds);
  void decode_on_device(Job& job);
  void drain_source(Job& job, TokenSource& source);
  void on_computed(Job& job, std::span<const Token> tokens);
  void begin_answer(Job& job);
  void emit_token(Job& job, Token token, bool was_drafted = false);
  void emit_sampled(const Share& share, std::span<const Token> sampled, uint32_t column);
  void finish(Job& job, EndReason reason, std::string error = "");
  void fail(Job& job, const std::string& error);
  void fail_all(const std::string& error);
  void fail_all_for_memory();
  void abandon(const char* error);

  Decoder& decoder_;
  EndsAnswer ends_answer_;
  std::vector<Token> end_tokens_;
  DeviceSampler* const device_sampler_;  // null: sampling on the host
  SequenceStore store_;
  const PassLimits limits_;
  Jobs jobs_;  // in order: `in_front` first, each group by arrival
  InterleavedPrefill interleaved_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Jobs requests_;                             // guarded by mutex_
  bool is_over_ = false, has_ended_ = false;  // guarded by mutex_; has_ended_: the worker thread
  std::atomic<bool> wants_turn_ = false;      // a request or a stop is waiting
  std::atomic<uint32_t> n_answers_ = 0;
  std::thread worker_;
};

}  // namespace warpchat
