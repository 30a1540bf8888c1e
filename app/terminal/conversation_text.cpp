// User messages are wrapped, but their Markdown is not rendered.
#include "app/terminal/conversation_text.h"

#include <algorithm>
#include <string_view>

#include "app/formats/shown_call.h"
#include "app/platform/text/piece.h"
#include "app/terminal/editor/prompt_view.h"
#include "engine/tool_calls.h"
#include "models/human_bytes.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

constexpr std::string_view kRole = "You: ";  // where roles are words
constexpr Style kUserLook{.bold = true};

std::string described(const AttachedFile& file) {
  return file.name + ", " + human_bytes(file.text.size()) +
         (file.tokens > 0 ? ", " + counted(file.tokens, "token") : "");
}

std::string user_text(const Message& message, const AnswerLook& look, const Stopped& stopped) {
  WordWrap wrap({look.width, look.styled});
  std::string text;
  for (const AttachedFile& file : message.files) text += wrap.add({"(with " + described(file) + ")\n", {.dim = true}});
  const std::string_view next = look.roles ? " " : kContinuationMark;
  std::string_view prompt = look.roles ? kRole : kPromptMark;
  for (std::string_view rest = message.content; !prompt.empty(); prompt = rest.empty() ? "" : next) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    text += wrap.add({std::string(prompt), {.bold = true}});
    for (; !line.empty() && !stopped(); line.remove_prefix(piece_bytes(line)))
      text += wrap.add({std::string(line.substr(0, piece_bytes(line))), kUserLook, /*verbatim=*/false, /*indent=*/2});
    if (stopped()) break;
    text += wrap.add({"\n", kUserLook, /*verbatim=*/false, /*indent=*/2});
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return text + wrap.finish();
}

std::string answer_text(const Message& message, const AnswerLook& look, const Stopped& stopped) {
  AnswerView view(look);
  std::string text;
  const auto add = [&](std::string_view rest, bool thinking) {
    for (; !rest.empty() && !stopped(); rest.remove_prefix(piece_bytes(rest)))
      text += view.add(rest.substr(0, piece_bytes(rest)), thinking);
  };
  for (const ToolRound& round : message.rounds) {
    add(round.reasoning, /*thinking=*/true);
    add(round.content, /*thinking=*/false);
    text += view.end_round(call_lines(round.calls));
  }
  add(message.reasoning, /*thinking=*/true);
  add(message.content, /*thinking=*/false);
  if (!message.tool_calls.empty() && !has_undone(message.tool_calls))
    text += view.end_round(call_lines(message.tool_calls));
  return text + view.finish();
}

std::string failure_text(const Message& message, const AnswerLook& look) {
  if (message.failure.empty()) return "";
  WordWrap wrap({look.width, look.styled});
  const std::string text = wrap.add({"(" + message.failure + ")\n", {.dim = true}});
  return text + wrap.finish();
}

}  // namespace

std::string message_text(const Message& message, const AnswerLook& look, const Stopped& stopped) {
  if (message.role == "user") return user_text(message, look, stopped) + "\n";  // its failure is shown as an answer
  const std::string text = is_empty(message) ? "" : answer_text(message, look, stopped);
  return text + failure_text(message, look) + "\n";
}

}  // namespace warpchat
