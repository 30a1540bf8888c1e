#include "app/terminal/call_question.h"

#include "app/formats/shown_call.h"
#include "app/platform/output.h"
#include "models/ascii.h"
#include "models/text_format.h"

namespace warpchat {

std::string described_tool(std::string_view name, std::string_view description, std::string_view schema) {
  const std::string said = shown_text(trimmed(description));
  return std::string(name) + "\n" + (said.empty() ? "(it has no description)" : said) +
         "\nIts arguments, as JSON Schema:\n" + shown_text(schema) + "\n";
}

CallAnswer ask_about_call(const CallQuestion& question, const AskKey& ask_key) {
  constexpr size_t kMaxSentence = 2000;
  write_text("\n" + shown_call(question.call) + "\n");
  if (!question.why_asked.empty()) say("(" + printable(question.why_asked, kMaxSentence) + ")");
  for (;;) {
    const std::optional<char> key =
        ask_key("Call it? y: this time, n: no, a: always in this conversation, ?: what it is", "yna?");
    if (key == '?') {
      write_text(question.tool.empty() ? "there is no such tool\n" : question.tool);
      continue;
    }
    if (!key) return CallAnswer::kStop;
    return key == 'n' ? CallAnswer::kNo : key == 'a' ? CallAnswer::kInConversation : CallAnswer::kThisTime;
  }
}

}  // namespace warpchat
