// Handles the events of a generation from start to end.
#include "app/chat/answering.h"

#include <utility>

#include "app/model_choice/model_lookup.h"
#include "app/platform/log.h"
#include "engine/tool_calls.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

MessageStatus status_of(EndReason reason) {
  switch (reason) {
    case EndReason::kStopped:
      return MessageStatus::kStopped;
    case EndReason::kFailed:
      return MessageStatus::kFailed;
    case EndReason::kEndOfText:
    case EndReason::kTokenLimit:
    case EndReason::kContextFull:
    case EndReason::kContentFilter:
      break;
  }
  return MessageStatus::kComplete;
}

AnswerCut cut_by(EndReason reason) {
  if (reason == EndReason::kTokenLimit) return AnswerCut::kTokenLimit;
  return reason == EndReason::kContextFull ? AnswerCut::kContextFull : AnswerCut::kNone;
}

// Sums the timings of an answer that was continued.
Timings sum(const Timings& first, Timings second) {
  second.generated_tokens += first.generated_tokens;
  second.generate_seconds += first.generate_seconds;
  return second;
}

}  // namespace

double Speed::add(float seconds) {
  recent_.push_back(seconds);
  sum_ += static_cast<double>(seconds);
  while (recent_.size() > 1 && sum_ - static_cast<double>(recent_.front()) >= 1) {
    sum_ -= static_cast<double>(recent_.front());
    recent_.pop_front();
  }
  constexpr double kMin =
      1e-3;  // seconds, the shortest meaningful span: several remote tokens may arrive in one packet
  return sum_ >= kMin ? static_cast<double>(recent_.size()) / sum_ : 0;
}

void Answering::begin(std::shared_ptr<Responder> responder, std::unique_ptr<Generation> generation, bool continues) {
  responder_ = std::move(responder);
  generation_ = std::move(generation);
  continues_ = continues;
  has_new_text_ = has_token_ = false;
  before_.reset();
  asked_ = Clock::now();
  speed_ = {};
  thinking_seconds_.reset();
  const ResponderFacts facts = responder_->facts();
  if (continues) {
    before_ = answer().timings;
    thinking_seconds_ = answer().thinking_seconds;
    slot_.change(updates::ContinueAnswer{facts.model, facts.endpoint, shown_name(facts.model)});
  } else {
    ChatMessage message;
    message.key = state_.new_key();
    message.role = "assistant";
    message.model = facts.model;
    message.model_name = shown_name(facts.model);
    message.endpoint = facts.endpoint;
    message.status = MessageStatus::kStreaming;
    slot_.change(updates::BeginAnswer{std::move(message)});
  }
  branch_.answer_begins();
}

void Answering::stop() {
  if (generation_) generation_->stop();
}

void Answering::decide(bool is_allowed) {
  if (!generation_) return;
  generation_->decide(is_allowed);
  follow(std::chrono::milliseconds(0));  // the state has it at once, or the next question
}

bool Answering::follow(std::chrono::milliseconds timeout) {
  constexpr int kMaxEvents = 64;  // per turn, to keep the front end responsive
  int n = 0;
  for (; n < kMaxEvents && generation_; ++n) {
    const std::optional<Event> event = generation_->next_event(n == 0 ? timeout : std::chrono::milliseconds(0));
    if (!event) break;
    on_event(*event);
  }
  if (generation_ && has_new_text_) branch_.answer_grows();
  return n > 0;
}

void Answering::on_event(const Event& event) {
  if (const auto* progress = std::get_if<PromptProgress>(&event)) slot_.change(updates::SetPromptProgress{*progress});
  if (const auto* usage = std::get_if<Usage>(&event)) {
    slot_.change(updates::SetContextUsed{usage->prompt_tokens + usage->generated_tokens});
    if (usage->unseen_turns != slot_.now().unseen_turns) slot_.change(updates::SetUnseenTurns{usage->unseen_turns});
  }
  if (const auto* delta = std::get_if<TextDelta>(&event)) take_text(*delta);
  if (const auto* found = std::get_if<Reclassified>(&event)) reclassify(found->thinking);
  if (const auto* call = std::get_if<ToolCallDelta>(&event)) slot_.change(updates::AddToolCall{*call});
  if (const auto* changed = std::get_if<ToolCallsChanged>(&event)) take_calls(*changed);
  if (std::holds_alternative<RoundEnded>(event)) end_round();
  if (const auto* notice = std::get_if<Notice>(&event)) state_.tell(notice->text);
  if (const auto* generation_end = std::get_if<GenerationEnd>(&event)) end(*generation_end);
}

void Answering::reclassify(bool thinking) {
  if (thinking) thinking_seconds_ = std::chrono::duration<double>(Clock::now() - asked_).count();
  slot_.change(updates::Reclassify{thinking});
  branch_.answer_is_reclassified();
}

void Answering::take_calls(const ToolCallsChanged& changed) {
  slot_.change(updates::SetToolCalls{changed});
  if (!slot_.shown() && asked_call(answer()) != nullptr)
    state_.tell("'" + printable(slot_.now().title, 60) + "' asks whether a tool may be called");
}

void Answering::end_round() {
  slot_.change(updates::EndRound{});
  has_new_text_ = true;
}

// A responder without token information reports pieces with their times instead.
void Answering::take_text(const TextDelta& delta) {
  const bool is_token = delta.token >= 0 || delta.seconds > 0 || !has_token_;
  const bool is_first = !std::exchange(has_token_, true);
  const double since_asked = std::chrono::duration<double>(Clock::now() - asked_).count();
  has_new_text_ |= !delta.text.empty();
  if (delta.thinking) thinking_seconds_ = thinking_seconds_.value_or(0) + delta.seconds;
  const auto seconds = static_cast<float>(is_first ? since_asked : delta.seconds);
  const double speed = is_token && !is_first ? speed_.add(seconds) : slot_.now().tokens_per_second;
  slot_.change(updates::AddPiece{delta.text, delta.thinking, is_token, seconds, speed, thinking_seconds_});
}

void Answering::end(GenerationEnd end) {
  generation_.reset();
  responder_.reset();
  timings_ = end.timings;
  if (has_nothing() && end.reason != EndReason::kStopped && end.reason != EndReason::kFailed)
    end.reason = EndReason::kFailed, end.error = "the model returned an empty answer";
  tell_end(end);
  slot_.change(updates::EndAnswer{status_of(end.reason), cut_by(end.reason),
                                  before_ ? sum(*before_, end.timings) : end.timings, end.error, end.remedy,
                                  end.reasoning_ended});
  if (const uint32_t n = end.timings.prompt_tokens + end.timings.generated_tokens; n > 0 && has_new_text_)
    slot_.change(updates::SetContextUsed{n});
  has_nothing() ? branch_.drop_answer() : branch_.answer_ends();
}

// The failure is shown at the message if the conversation is shown.
void Answering::tell_failure(const GenerationEnd& end) {
  const bool stays = !has_nothing() || !branch_.can_put_back();
  const std::string& title = slot_.now().title;
  if (!slot_.shown())
    state_.tell_error("'" + printable(title, 60) + "': " + end.error, end.remedy);
  else if (!stays)
    state_.tell_error(end.error, end.remedy);
  else
    log_line("error: " + end.error);
}

void Answering::tell_end(const GenerationEnd& end) {
  const PromptProgress& progress = slot_.now().prompt_progress;
  const std::string& title = slot_.now().title;
  if (!end.form_fault.empty() && end.reason != EndReason::kFailed)
    state_.tell_error(slot_.shown() ? end.form_fault : "'" + printable(title, 60) + "': " + end.form_fault);
  switch (end.reason) {
    case EndReason::kFailed:
      return tell_failure(end);
    case EndReason::kStopped:
      if (slot_.now().phase == AnswerPhase::kPrompt && progress.done > 0)
        state_.tell("stopped while reading the prompt, at " + grouped(progress.done) + " of " +
                    counted(progress.total, "token") + "; the next try continues from there");
      return;
    case EndReason::kEndOfText:
    case EndReason::kTokenLimit:
    case EndReason::kContextFull:
    case EndReason::kContentFilter:
      if (has_undone(answer().tool_calls)) state_.tell(calls_in_words(answer().tool_calls));
  }
}

}  // namespace warpchat
