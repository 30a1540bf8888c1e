// One thread asks for events, and decides; calls run on threads of their own.
#include "app/tools/tool_responder.h"

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>

#include "app/tools/tool_texts.h"
#include "engine/tool_calls.h"
#include "engine/untrusted_json.h"
#include "models/error.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kQuestionPoll{20};
constexpr size_t kShortestCut = 400;  // bytes of a result that does not fit the context

// Some models write the object as a text. Anything but an object cannot be read.
nlohmann::json read_arguments(const std::string& text) {
  if (text.empty()) return nlohmann::json::object();
  nlohmann::json arguments = try_parse_untrusted_json<nlohmann::json>(text);
  if (arguments.is_string()) arguments = try_parse_untrusted_json<nlohmann::json>(arguments.get<std::string>());
  return arguments;
}

CallStatus status_of(ToolStatus status) {
  switch (status) {
    case ToolStatus::kOk:
      return CallStatus::kOk;
    case ToolStatus::kDenied:
      return CallStatus::kDenied;
    case ToolStatus::kError:
    case ToolStatus::kStopped:
      break;
  }
  return CallStatus::kError;
}

void set_result(ToolCall& call, const ToolResult& result) {
  call.result = result.text;
  call.status = status_of(result.status);
}

// Tokens and times of all rounds: the prompt is the last one's.
Timings sum(const Timings& first, Timings next) {
  next.generated_tokens += first.generated_tokens;
  next.prompt_seconds += first.prompt_seconds;
  next.generate_seconds += first.generate_seconds;
  next.first_token_seconds = first.first_token_seconds;
  next.drafted_tokens += first.drafted_tokens;
  next.accepted_tokens += first.accepted_tokens;
  return next;
}

}  // namespace

class ToolResponder::ToolGeneration : public Generation {
 public:
  ToolGeneration(ToolResponder& of, std::vector<Message> messages, AnswerOptions options,
                 std::unique_ptr<Generation> generation)
      : of_(of), messages_(std::move(messages)), options_(std::move(options)), generation_(std::move(generation)) {
    if (messages_.empty() || messages_.back().role != "assistant") messages_.push_back({.role = "assistant"});
  }
  ~ToolGeneration() override {
    stop();
    own_.clear();  // waits for threads that use the members behind it
  }

  std::optional<Event> next_event(milliseconds timeout) override;
  void stop() override;
  void decide(bool is_allowed) override;

 private:
  struct Call {
    std::string fault;  // why it cannot be read, a sentence; empty: nothing is known
    nlohmann::json arguments;
    std::unique_ptr<RunningCall> running;  // null: has a result, or waits for its start
  };

  Message& answer() { return messages_.back(); }
  void on_event(Event event);
  void end_part(GenerationEnd end);
  void begin_calls();
  std::string new_id();
  std::optional<ToolResult> fault_of(const ToolCall& call, const Call& own) const;
  void decide_calls();
  void deny(ToolCall& call, const Tool& tool, const Decision& decision);
  void start_calls();
  bool collect();
  void next_round();
  std::unique_ptr<Generation> start_model();
  void end(GenerationEnd end);
  void tell_calls(std::string why_asked = "") { events_.push_back(ToolCallsChanged{calls_, std::move(why_asked)}); }
  void wait_for_calls(milliseconds timeout);
  bool is_stopped() {
    const std::lock_guard lock(mutex_);
    return is_stopped_;
  }

  ToolResponder& of_;
  std::vector<Message> messages_;  // the last one is the answer: earlier rounds, and what it continues
  AnswerOptions options_;
  std::unique_ptr<Generation> generation_;  // null: calls are decided about or run, or all is over
  std::deque<Event> events_;
  std::vector<ToolCall> calls_;
  std::vector<Call> own_;  // of each
  std::optional<Timings> before_;
  uint32_t n_rounds_ = 0;
  uint32_t n_ids_ = 0;
  bool is_over_ = false;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_stopped_ = false;  // guarded by mutex_
  uint64_t n_done_ = 0;      // calls that have ended and were not collected; guarded by mutex_
};

std::optional<Event> ToolResponder::ToolGeneration::next_event(milliseconds timeout) {
  if (events_.empty() && !is_over_) {
    if (!generation_)
      wait_for_calls(timeout);
    else if (std::optional<Event> event = generation_->next_event(timeout))
      on_event(std::move(*event));
  }
  if (events_.empty()) return std::nullopt;
  Event event = std::move(events_.front());
  events_.pop_front();
  return event;
}

// For an answer to a question, or for results.
void ToolResponder::ToolGeneration::wait_for_calls(milliseconds timeout) {
  const bool is_asked = std::ranges::find(calls_, CallStatus::kAsking, &ToolCall::status) != calls_.end();
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, is_asked ? std::min(timeout, kQuestionPoll) : timeout,
                      [&] { return is_asked ? is_stopped_ : n_done_ > 0; });
  }
  if (!is_asked && collect()) return next_round();
  if (is_asked && is_stopped()) end({EndReason::kStopped});
}

void ToolResponder::ToolGeneration::on_event(Event event) {
  if (auto* its_end = std::get_if<GenerationEnd>(&event)) return end_part(std::move(*its_end));
  if (const auto* delta = std::get_if<TextDelta>(&event))
    (delta->thinking ? answer().reasoning : answer().content) += delta->text;
  if (const auto* found = std::get_if<Reclassified>(&event)) {
    reclassify(answer().content, answer().reasoning, found->thinking);
    if (found->thinking) calls_.clear(), own_.clear();  // a call within a thought is none
  }
  if (const auto* call = std::get_if<ToolCallDelta>(&event)) {
    append_delta(calls_, *call);
    own_.resize(calls_.size());
    own_[call->index].fault += call->fault;
  }
  events_.push_back(std::move(event));
}

void ToolResponder::ToolGeneration::end_part(GenerationEnd end) {
  generation_.reset();
  end.timings = before_ ? sum(*before_, end.timings) : end.timings;
  before_ = end.timings;
  if (calls_.empty()) return this->end(std::move(end));
  if (end.reason != EndReason::kEndOfText) {
    for (ToolCall& call : calls_) set_result(call, unfinished_result());
    tell_calls();
    return this->end(std::move(end));
  }
  if (n_rounds_ < of_.limits_.max_rounds) return begin_calls();
  for (ToolCall& call : calls_) set_result(call, round_limit_result(of_.limits_.max_rounds));
  tell_calls();
  events_.push_back(Notice{"the answer ends after " + counted(of_.limits_.max_rounds, "round") +
                           " with calls of tools, which is the limit (--max-tool-rounds)"});
  this->end(std::move(end));
}

void ToolResponder::ToolGeneration::begin_calls() {
  for (size_t i = 0; i < calls_.size(); ++i) {
    ToolCall& call = calls_[i];
    if (call.id.empty() || std::ranges::count(calls_, call.id, &ToolCall::id) > 1) call.id = new_id();
    own_[i].arguments = read_arguments(call.arguments);
    const std::optional<ToolResult> fault = fault_of(call, own_[i]);
    call.arguments = fault ? "{}" : own_[i].arguments.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    if (fault) set_result(call, *fault);
  }
  decide_calls();
}

// Nine letters and digits, as some templates want them; of this answer's calls each another.
std::string ToolResponder::ToolGeneration::new_id() {
  for (;;) {
    char id[10];
    std::snprintf(id, sizeof id, "c%08u", ++n_ids_);
    if (std::ranges::count(calls_, id, &ToolCall::id) == 0) return id;
  }
}

std::optional<ToolResult> ToolResponder::ToolGeneration::fault_of(const ToolCall& call, const Call& own) const {
  if (!own.fault.empty()) return failed_result(own.fault);
  if (own.arguments.is_discarded()) return unreadable_result("its arguments are no valid JSON");
  if (!own.arguments.is_object()) return unreadable_result("its arguments are no JSON object");
  if (call.name.empty()) return unreadable_result("it names no tool");
  return std::nullopt;
}

// Up to the first that the user is asked about; then all are started.
void ToolResponder::ToolGeneration::decide_calls() {
  for (ToolCall& call : calls_) {
    if (call.status != CallStatus::kNone) continue;
    const Tool* tool = of_.tools_->find(call.name);
    const Decision decision = tool == nullptr ? Decision{Decision::Verdict::kAllow} : of_.approval_->decide(*tool);
    if (decision.verdict == Decision::Verdict::kDeny) {
      deny(call, *tool, decision);
      continue;
    }
    const bool asks = decision.verdict == Decision::Verdict::kAsk;
    call.status = asks ? CallStatus::kAsking : CallStatus::kRunning;
    if (asks) return tell_calls(why_asked(decision));
  }
  start_calls();
}

void ToolResponder::ToolGeneration::deny(ToolCall& call, const Tool& tool, const Decision& decision) {
  set_result(call, denied_result(call.name));
  const bool was_forbidden =
      decision.reason == Decision::Reason::kConversation || decision.reason == Decision::Reason::kLasting;
  events_.push_back(Notice{"the call of " + tool.name + " was denied" +
                           (was_forbidden ? ", as you have chosen" : "; --approve " + tool.name + " allows it")});
}

void ToolResponder::ToolGeneration::decide(bool is_allowed) {
  const auto asked = std::ranges::find(calls_, CallStatus::kAsking, &ToolCall::status);
  if (asked == calls_.end()) return;
  if (is_allowed)
    asked->status = CallStatus::kRunning;
  else
    set_result(*asked, denied_result(asked->name));
  decide_calls();
}

void ToolResponder::ToolGeneration::start_calls() {
  for (size_t i = 0; i < calls_.size(); ++i) {
    if (calls_[i].status != CallStatus::kRunning) continue;
    own_[i].running = of_.tools_->start(calls_[i].name, std::move(own_[i].arguments), {}, [this] {
      const std::lock_guard lock(mutex_);
      ++n_done_;
      changed_.notify_all();
    });
  }
  {
    const std::lock_guard lock(mutex_);
    ++n_done_;  // those that need no call
    if (is_stopped_)
      for (Call& own : own_)
        if (own.running) own.running->stop();
  }
  tell_calls();
}

// Takes the results that are there. True: all are.
bool ToolResponder::ToolGeneration::collect() {
  {
    const std::lock_guard lock(mutex_);
    n_done_ = 0;
  }
  bool is_whole = true, has_new = false;
  for (size_t i = 0; i < calls_.size(); ++i) {
    if (!own_[i].running) continue;
    if (!own_[i].running->is_done()) {
      is_whole = false;
      continue;
    }
    set_result(calls_[i], own_[i].running->wait());
    own_[i].running.reset();
    has_new = true;
  }
  if (has_new) tell_calls();
  return is_whole;
}

void ToolResponder::ToolGeneration::next_round() {
  if (is_stopped()) return end({EndReason::kStopped});
  answer().rounds.push_back({std::move(answer().content), std::move(answer().reasoning), std::move(calls_)});
  answer().content.clear(), answer().reasoning.clear(), answer().reasoning_ended = false;
  calls_.clear(), own_.clear();
  ++n_rounds_;
  events_.push_back(RoundEnded{});
  try {
    std::unique_ptr<Generation> next = start_model();
    const std::lock_guard lock(mutex_);
    generation_ = std::move(next);
    if (is_stopped_) generation_->stop();
  } catch (const std::exception& error) {
    end({EndReason::kFailed, {}, error.what(), remedy_of(error)});
  }
}

// Halves the longest result until the prompt fits.
std::unique_ptr<Generation> ToolResponder::ToolGeneration::start_model() {
  std::vector<ToolCall>& calls = answer().rounds.back().calls;
  for (;;) {
    try {
      return of_.model_->start(messages_, options_);
    } catch (const PromptTooLong&) {
      const auto longest = std::ranges::max_element(calls, {}, [](const ToolCall& call) { return call.result.size(); });
      if (longest->result.size() < kShortestCut) throw;
      longest->result = cut_result(std::move(longest->result), longest->result.size() / 2);
    }
  }
}

void ToolResponder::ToolGeneration::end(GenerationEnd end) {
  if (before_ && end.timings == Timings()) end.timings = *before_;
  is_over_ = true;
  events_.push_back(std::move(end));
}

void ToolResponder::ToolGeneration::stop() {
  const std::lock_guard lock(mutex_);
  is_stopped_ = true;
  if (generation_) generation_->stop();
  for (Call& own : own_)
    if (own.running) own.running->stop();
  changed_.notify_all();
}

void add_tools(AnswerOptions& options, const Tools& tools) {
  for (const Tool& tool : tools.list()) options.tools.push_back({tool.name, tool.description, tool.schema});
}

AnswerOptions ToolResponder::with_tools(AnswerOptions options) const {
  options.holds_arguments = limits_.holds_arguments;
  add_tools(options, *tools_);
  return options;
}

std::unique_ptr<Generation> ToolResponder::start(const Prompt& prompt, const AnswerOptions& options,
                                                 const OnReady& ready) {
  const auto* messages = std::get_if<std::vector<Message>>(&prompt);
  if (messages == nullptr || tools_->list().empty()) return model_->start(prompt, options, ready);
  const AnswerOptions own = with_tools(options);
  return std::make_unique<ToolGeneration>(*this, *messages, own, model_->start(prompt, own, ready));
}

std::optional<uint32_t> ToolResponder::count(const Prompt& prompt, const AnswerOptions& options) {
  return model_->count(prompt, std::holds_alternative<std::vector<Message>>(prompt) ? with_tools(options) : options);
}

}  // namespace warpchat
