// Notices that arrive during an answer are printed after it, so that they do not interrupt its text.
#include "app/terminal/chat_printer.h"

#include <algorithm>
#include <utility>

#include "app/chat/state/remedies.h"
#include "app/formats/shown_call.h"
#include "app/platform/output.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

// Empty for a server that may begin the answer anew.
std::string way_to_resume(const ChatState& now) {
  return now.model && !now.model->can_continue ? "" : "; /continue resumes it";
}

}  // namespace

void ChatPrinter::show(const Update& update, const ChatState& now) {
  if (const auto* change = std::get_if<ConversationUpdate>(&update)) return print(*change, now);
  if (const auto* added = std::get_if<updates::AddNotice>(&update)) return print(*added);
  if (const auto* refused = std::get_if<updates::SetRefusal>(&update)) return print(*refused);
  if (const auto* loading = std::get_if<updates::SetLoading>(&update)) return print(*loading, now);
  if (const auto* tools = std::get_if<updates::SetTools>(&update)) return print(*tools, now);
}

void ChatPrinter::print(const ConversationUpdate& update, const ChatState& now) {
  const bool continues = std::holds_alternative<updates::ContinueAnswer>(update);
  if (continues || std::holds_alternative<updates::BeginAnswer>(update)) return begin_answer(continues);
  if (!answer_) return;
  if (const auto* progress = std::get_if<updates::SetPromptProgress>(&update)) answer_->progress(progress->progress);
  if (const auto* unseen = std::get_if<updates::SetUnseenTurns>(&update); unseen && unseen->turns > 0)
    answer_->notice("the context is full: the model does not see the first " + counted(unseen->turns, "turn"));
  if (const auto* piece = std::get_if<updates::AddPiece>(&update)) {
    has_text_ |= !piece->text.empty();
    answer_->text(piece->text, piece->thinking);
  }
  if (const auto* found = std::get_if<updates::Reclassify>(&update)) answer_->reclassify(found->thinking);
  if (const auto* calls = std::get_if<updates::SetToolCalls>(&update)) follow_calls(calls->changed.calls);
  if (std::holds_alternative<updates::EndRound>(update)) {
    has_text_ = true;
    answer_->end_round(call_lines(std::exchange(calls_, {})));
  }
  if (const auto* end = std::get_if<updates::EndAnswer>(&update)) end_answer(*end, now);
}

void ChatPrinter::follow_calls(const std::vector<ToolCall>& calls) {
  calls_ = calls;
  std::vector<std::string> running;
  for (const ToolCall& call : calls)
    if (call.status == CallStatus::kRunning) running.push_back(printable(call.name));
  if (std::ranges::count(calls, CallStatus::kAsking, &ToolCall::status) > 0) return answer_->end_line();
  if (!running.empty()) answer_->wait_for("calling " + word_list(running));
}

// A blank line is between a message and its answer, as in /history.
void ChatPrinter::begin_answer(bool continues) {
  loading_.reset();
  write_output("\n");
  answer_.emplace(look_, /*in_conversation=*/true, /*may_be_thought=*/true);
  if (continues) answer_->resume(begun_);
  has_text_ = false;
  calls_.clear();
}

void ChatPrinter::end_answer(const updates::EndAnswer& end, const ChatState& now) {
  answer_->end(end.reasoning_ended);
  answer_->flush();
  const bool is_cut = answer_->is_cut();
  answer_.reset();
  for (const std::string& line : call_lines(std::exchange(calls_, {}))) say("(" + line + ")");
  if (is_cut) say("(not all of the answer is shown; /history shows it)");
  const bool stopped = end.status != MessageStatus::kComplete;
  ended_ = {has_text_};
  if (end.cut == AnswerCut::kTokenLimit && has_text_)
    say("(" + cut_text(settings_of(now).max_tokens) + way_to_resume(now) + ")");
  std::erase_if(waiting_, [&](const NoticeItem& notice) { return notice.text == end.failure; });
  if (!end.failure.empty()) tell_error(with_remedy(end.failure, end.remedy, view_));
  for (NoticeItem& notice : std::exchange(waiting_, {})) {
    if (!notice.is_error) notice.text = "(" + notice.text + ")";
    tell(notice);
  }
  if (end.cut == AnswerCut::kContextFull) tell_full_context(now);
  if (stopped && has_text_) say("(stopped" + way_to_resume(now) + ")");
}

void ChatPrinter::tell_full_context(const ChatState& now) const {
  const auto& messages = now.open.messages;
  const std::string remedies = messages.empty() ? "" : words_in_terminal(remedies_at(now, messages.back()));
  const bool resumes = !way_to_resume(now).empty();
  const auto n_turns = std::count_if(messages.begin(), messages.end(), [](const auto& m) { return m.role == "user"; });
  const bool can_drop_more = now.open.drops_oldest && n_turns > static_cast<int64_t>(now.open.unseen_turns) + 1;
  const std::string next = !resumes           ? "/new starts another conversation"
                           : can_drop_more    ? "/continue resumes it without the oldest turns"
                           : remedies.empty() ? "/new starts another conversation"
                                              : remedies + "; then /continue resumes it";
  say("(the answer was cut: the context is full; " + next + ")");
}

void ChatPrinter::print(const updates::AddNotice& added) {
  if (!added.notice.restores.empty()) return;     // the command prints its own line
  if (added.notice.imported.size() == 1) return;  // it is shown
  if (answer_ && (has_text_ || added.notice.is_error))
    waiting_.push_back(added.notice);
  else
    tell(added.notice);
}

void ChatPrinter::tell(const NoticeItem& notice) {
  loading_.reset();
  if (notice.is_error) return tell_error(with_remedy(notice.text, notice.remedy, view_));
  answer_ ? answer_->notice(notice.text) : say(notice.text);
}

// Any other reason has been printed as a notice.
void ChatPrinter::print(const updates::SetRefusal& update) {
  if (update.refusal && update.refusal->tokens > 0) tell_error(update.refusal->reason);
}

void ChatPrinter::tell_error(const std::string& sentence) {
  has_fault_ = true;
  loading_.reset();
  print_error(sentence);
}

void ChatPrinter::print(const updates::SetLoading& update, const ChatState& now) {
  if (!update.loading) loading_.reset();
  if (!update.loading || answer_) return print(updates::SetTools{now.tools}, now);
  if (!loading_) loading_.emplace("loading " + update.loading->name);
  loading_->set_progress(update.loading->fraction);
}

void ChatPrinter::print(const updates::SetTools& update, const ChatState& now) {
  if (now.loading && !answer_) return;
  loading_.reset();
  if (update.tools.is_opening && !answer_) loading_.emplace("opening the MCP servers");
}

void ChatPrinter::flush() {
  if (!answer_) return;
  answer_->tick();
  answer_->flush();
}

}  // namespace warpchat
