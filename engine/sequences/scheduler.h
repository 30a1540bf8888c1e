// Many answers by one decoder. One thread owns the passes: in each, every sequence that is being answered has its next
// token, and a prompt is read as far as the time of a pass allows. Sequences share the cache's pages; one whose pages
// others need waits, and is computed again when its turn comes.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
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
#include "engine/sequences/sequence_store.h"

namespace warpchat {

struct AnswerRequest {
  std::vector<Token> prompt;  // not empty, shorter than the context
  SamplingParams sampling;
  int32_t max_tokens = -1;  // -1: until the end of the answer or of the context
  bool ignore_end = false;  // go on past end-of-generation tokens (benchmarks)
  bool in_front = false;    // somebody waits for it: its prompt is read before others'
  bool drafts = true;       // several tokens a pass where they are likely; the same tokens
};

struct NextToken {
  Token token;
  double seconds;  // since the one before
};
using AnswerStep = std::variant<PromptProgress, NextToken, GenerationEnd>;

// An answer on its way, for whoever asked for it.
class ScheduledAnswer {
 public:
  std::optional<AnswerStep> next(std::chrono::milliseconds timeout);  // the end is last, also where the device is lost
  void stop();                                                        // asks; the answer ends within a pass

 private:
  friend class Scheduler;
  explicit ScheduledAnswer(class Scheduler& scheduler) : scheduler_(scheduler) {}
  Scheduler& scheduler_;
  Queue<AnswerStep> steps_;
  std::atomic<bool> stop_ = false;
  std::optional<std::chrono::steady_clock::time_point> lost_at_;  // when that was noticed
};

class Scheduler {
 public:
  using EndsAnswer = std::function<bool(Token)>;
  // end_tokens: of those that end an answer, for a device that goes on by itself.
  Scheduler(Decoder& decoder, EndsAnswer ends_answer, std::span<const Token> end_tokens = {});
  ~Scheduler();  // stops all answers; leaves a thread behind that hangs in a lost device

  // Waits its turn if all sequences or pages are in use. Error if the system gives no thread.
  std::shared_ptr<ScheduledAnswer> start(AnswerRequest request);
  uint32_t n_answers() const { return n_answers_; }  // that have not ended

 private:
  friend class ScheduledAnswer;
  struct Job;
  struct Share;  // of a pass
  void wake();
  void run();
  bool take_requests();  // waits for some if there is nothing to do; false: it is over
  void settle();
  void await_passes();
  void pass();
  void admit();
  bool reserve(Job& job, uint32_t n_positions);
  void decode(std::span<Job* const> streams, Job* prompt, std::vector<Token> draft);
  std::vector<Token> draft(Job& job);
  void take(std::span<const Share> shares);
  void took_beside(uint32_t n_of_prompt, double seconds);
  void decode_alone(Job& job);
  void take_rest(Job& job, TokenSource& source);
  void computed(Job& job, std::span<const Token> tokens);
  void begin_answer(Job& job);
  void give(Job& job, Token token, bool was_drafted = false);
  template <class SampleAt>
  void give_sampled(const Share& share, const SampleAt& sample_at);
  void finish(Job& job, EndReason reason, std::string error = "");
  void fail(Job& job, const std::string& error);
  void fail_all(const std::string& error);
  void fail_all_for_memory();

  Decoder& decoder_;
  EndsAnswer ends_answer_;
  std::vector<Token> end_tokens_;
  DeviceSampler* const device_sampler_;  // null: the host samples
  SequenceStore store_;
  std::deque<std::unique_ptr<Job>> jobs_;  // in turn: those in front, each in the order of its coming
  double stream_seconds_ = 0;              // of the last pass without a prompt
  uint32_t beside_ = 4;                    // tokens of a prompt that go with streams
  uint32_t n_beside_ = 0;                  // passes of both since then
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Job>> requests_;  // with the mutex held
  bool is_over_ = false, has_ended_ = false;    // likewise; the latter of the thread
  std::atomic<bool> wants_turn_ = false;        // somebody came, or wants to stop
  std::atomic<uint32_t> n_answers_ = 0;
  std::thread worker_;
};

}  // namespace warpchat
