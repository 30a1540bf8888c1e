// A generation from its start to its end, event by event.
#include "app/gui/worker/answering.h"

#include <algorithm>
#include <utility>

namespace warpchat::gui {

namespace {

bool same(const Message& a, const Message& b) { return a.role == b.role && a.content == b.content; }

bool begins_with(const std::vector<Message>& all, const std::vector<Message>& start, size_t n) {
  return n <= all.size() && n <= start.size() &&
         std::equal(start.begin(), start.begin() + static_cast<std::ptrdiff_t>(n), all.begin(), same);
}

// The session remembers what it has told of dropped turns, so it is given anew only what it does not have.
void answer(ChatSession& session, std::vector<Message> wanted) {
  const std::vector<Message>& had = session.messages();
  const size_t n_before = wanted.size() - 1;  // before the message to be answered
  const bool has_all_before = begins_with(had, wanted, n_before);
  if (has_all_before && had.size() == n_before) return session.send(std::move(wanted.back().content));
  const bool has_all = begins_with(had, wanted, wanted.size());
  const bool ends_with_answer = had.size() == wanted.size() + 1 && had.back().role == "assistant";
  if (!has_all || (had.size() != wanted.size() && !ends_with_answer)) session.restore(std::move(wanted));
  session.regenerate();
}

MessageStatus status_of(EndReason reason) {
  switch (reason) {
    case EndReason::kStopped:
      return MessageStatus::kStopped;
    case EndReason::kFailed:
      return MessageStatus::kFailed;
    case EndReason::kEndOfText:
    case EndReason::kTokenLimit:
    case EndReason::kContextFull:
      break;
  }
  return MessageStatus::kComplete;
}

}  // namespace

double Speed::add(float seconds) {
  recent_.push_back(seconds);
  sum_ += static_cast<double>(seconds);
  while (recent_.size() > 1 && sum_ - static_cast<double>(recent_.front()) >= 1) {
    sum_ -= static_cast<double>(recent_.front());
    recent_.pop_front();
  }
  return sum_ > 0 ? static_cast<double>(recent_.size()) / sum_ : 0;
}

void Answering::start(ChatSession& session, const SessionOptions& options) {
  try {
    session.options() = options;
    answer(session, branch_.for_session());
  } catch (const std::exception& error) {
    board_.change(updates::set_phase(Phase::kIdle));
    board_.tell_error(error.what());
    branch_.reload();  // the answer that was to be replaced
    return;
  }
  begin(session);
}

uint32_t Answering::prompt_tokens(ChatSession& session, const SessionOptions& options) const {
  try {
    session.options() = options;
    session.restore(branch_.for_session());
    return static_cast<uint32_t>(session.build_prompt().tokens.size());
  } catch (const std::exception&) {
    return 0;  // sending tells why
  }
}

void Answering::begin(ChatSession& session) {
  session_ = &session;
  has_text_ = false;
  asked_ = Clock::now();
  speed_ = {};
  thinking_seconds_.reset();
  ChatMessage message;
  message.key = board_.new_key();
  message.role = "assistant";
  message.text = session.messages().back().content;
  message.status = MessageStatus::kStreaming;
  board_.change(updates::begin_answer(std::move(message)));
  branch_.answer_begins();
}

void Answering::stop() {
  if (session_ != nullptr) session_->stop();
}

void Answering::follow(std::chrono::milliseconds timeout) {
  constexpr int kMostEvents = 64;  // then it is others' turn
  for (int n = 0; n < kMostEvents && session_ != nullptr; ++n) {
    const std::optional<Event> event = session_->next_event(n == 0 ? timeout : std::chrono::milliseconds(0));
    if (!event) break;
    take(*event);
  }
  if (session_ != nullptr && has_text_) branch_.answer_grows();
}

void Answering::take(const Event& event) {
  if (const auto* progress = std::get_if<PromptProgress>(&event))
    board_.change(updates::set_prompt_progress(*progress));
  if (const auto* delta = std::get_if<TextDelta>(&event)) take_text(*delta);
  if (const auto* notice = std::get_if<Notice>(&event)) board_.tell(notice->text);
  if (const auto* generation_end = std::get_if<GenerationEnd>(&event)) end(*generation_end);
}

void Answering::take_text(const TextDelta& delta) {
  const bool is_first = branch_.messages().back().tokens.empty();
  const double since_asked = std::chrono::duration<double>(Clock::now() - asked_).count();
  const bool is_token = delta.token >= 0;
  has_text_ |= !delta.text.empty();
  if (delta.thinking) thinking_seconds_ = thinking_seconds_.value_or(0) + delta.seconds;
  const auto seconds = static_cast<float>(is_token && is_first ? since_asked : delta.seconds);
  board_.change(updates::add_piece({delta.text, is_token, seconds,
                                    is_token && !is_first ? speed_.add(seconds) : board_.now().tokens_per_second,
                                    thinking_seconds_}));
}

void Answering::end(const GenerationEnd& end) {
  const uint32_t context_used = std::exchange(session_, nullptr)->context_used();
  board_.change(updates::end_answer({status_of(end.reason), end.timings, end.error, context_used}));
  if (end.reason == EndReason::kFailed) board_.tell_error(end.error);
  if (end.reason == EndReason::kContextFull)
    board_.tell("the answer was cut: the context is full; a larger one, or a new conversation, has more room");
  if (!has_text_ && status_of(end.reason) == MessageStatus::kComplete)
    board_.tell("the model ended its answer before its first word");
  has_text_ ? branch_.answer_ends() : branch_.drop_answer();
}

}  // namespace warpchat::gui
