#include "engine/remote/form_check.h"

#include <string_view>

#include "engine/grammar/answer_constraint.h"
#include "engine/remote/json_spelling.h"
#include "models/ascii.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

constexpr size_t kMaxQuoted = 24;  // characters
constexpr std::string_view kFence = "```";

SpelledJson as_it_is(const std::string& text) {
  SpelledJson spelled{text, {}};
  for (size_t i = 0; i <= text.size(); ++i) spelled.positions.push_back(i);
  return spelled;
}

std::string advice(const AnswerForm& form, std::string_view text) {
  if (form.kind == AnswerForm::Kind::kSchema && trimmed(text).starts_with(kFence))
    return "; the answer is a code block, ask for JSON without one in the prompt";
  return "; describe the form in the prompt, too";
}

std::string quoted_start(std::string_view rest) {
  if (rest.empty()) return "its end";
  if (rest.front() == '\n') return "a line break";
  return "'" + printable(rest.substr(0, rest.find('\n')), kMaxQuoted) + "'";
}

std::string fault_of(const AnswerForm& form, const std::string& text, bool is_cut) {
  const bool is_schema = form.kind == AnswerForm::Kind::kSchema;
  const SpelledJson spelled = is_schema ? spell_json(text, is_cut) : as_it_is(text);
  const grammar::Constraint::Verdict verdict = grammar::compile(form)->check(spelled.text);
  const bool ends_early = verdict.at == spelled.text.size();
  if (verdict.is_accepted || (ends_early && is_cut)) return "";
  const size_t at = spelled.positions[verdict.at];
  return (is_schema ? "the schema: at byte " : "the grammar: at byte ") + grouped(at) + " of the answer expected " +
         verdict.expected + ", found " +
         quoted_start(ends_early ? std::string_view() : std::string_view(text).substr(at)) + advice(form, text);
}

}  // namespace

FormCheck::FormCheck(const Prompt& prompt, const AnswerForm& form) : form_(form) {
  const auto* conversation = std::get_if<std::vector<Message>>(&prompt);
  if (conversation == nullptr || form.is_free()) return;
  const std::vector<Message> messages = messages_for_model(*conversation);
  if (messages.empty() || messages.back().role != "assistant") return;
  text_ = messages.back().content;  // goes on
  reasoning_ = messages.back().reasoning;
}

void FormCheck::observe(const Event& event) {
  if (form_.is_free()) return;
  if (const auto* delta = std::get_if<TextDelta>(&event)) (delta->thinking ? reasoning_ : text_) += delta->text;
  if (const auto* found = std::get_if<Reclassified>(&event)) reclassify(text_, reasoning_, found->thinking);
  calls_tools_ |= std::holds_alternative<ToolCallDelta>(event);
}

std::string FormCheck::fault(EndReason reason) const {
  const bool has_end = reason != EndReason::kStopped && reason != EndReason::kFailed;
  if (form_.is_free() || !has_end || calls_tools_) return "";
  return fault_of(form_, text_, /*is_cut=*/reason != EndReason::kEndOfText);
}

}  // namespace warpchat
