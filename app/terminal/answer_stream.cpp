// One loop over the available events, which checks for Ctrl-C in between.
#include "app/terminal/answer_stream.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "app/platform/output.h"
#include "app/platform/signals.h"
#include "app/terminal/answer_printer.h"
#include "engine/profile_report.h"
#include "engine/remedy.h"
#include "engine/tool_calls.h"
#include "engine/untrusted_json.h"
#include "models/ascii.h"
#include "models/error.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

using std::chrono::milliseconds;
constexpr milliseconds kEventWait{100};
constexpr int kMaxEventsAtOnce = 64;  // a model may be faster than the terminal; Ctrl-C must still be seen

// Turns the events of a generation into text as they come.
struct EventGatherer {
  StreamedAnswer& answer;

  void operator()(const TextDelta& delta) const { (delta.thinking ? answer.reasoning : answer.text) += delta.text; }
  void operator()(const Reclassified& found) const { reclassify(answer.text, answer.reasoning, found.thinking); }
  void operator()(const Notice& notice) const { print_error(notice.text); }
  void operator()(const auto&) const {}
};

// Writes the events to standard output.
struct EventPrinter {
  AnswerPrinter& printer;

  void operator()(const PromptProgress& progress) const { printer.progress(progress); }
  void operator()(const TextDelta& delta) const { printer.text(delta.text, delta.thinking); }
  void operator()(const Reclassified& found) const { printer.reclassify(found.thinking); }
  void operator()(const Usage&) const {}
  void operator()(const ToolCallDelta&) const {}
  void operator()(const ToolCallsChanged&) const {}
  void operator()(const RoundEnded&) const { printer.end_round(); }
  void operator()(const Notice& notice) const { printer.notice(notice.text); }
  void operator()(const GenerationEnd& end) const {
    printer.end(end.reasoning_ended);
    if (end.reason == EndReason::kContextFull) printer.notice("the context is full: the answer ends here");
  }
};

std::string line(const char* format, double a, double b = 0, double c = 0, double d = 0) {
  char text[160];
  std::snprintf(text, sizeof text, format, a, b, c, d);
  return text;
}

double per_second(uint32_t n, double seconds) { return seconds > 0 ? n / seconds : 0; }

std::string summary(const Timings& t, std::optional<uint64_t> seed, const std::string& gaps) {
  const uint32_t computed = t.prompt_tokens - t.reused_tokens;
  if (t.first_token_seconds <= 0)
    return "prompt\t" + std::to_string(t.prompt_tokens) + " tokens, stopped while they were read\n";
  std::string prompt;  // not every endpoint counts it, or tells what it found in a cache
  if (t.prompt_seconds > 0)
    prompt = line("prompt\t%.0f tokens, %.0f of them computed in %.3f s: %.1f t/s\n", t.prompt_tokens, computed,
                  t.prompt_seconds, per_second(computed, t.prompt_seconds));
  else if (t.reused_tokens > 0)
    prompt = line("prompt\t%.0f tokens, %.0f of them reused\n", t.prompt_tokens, t.reused_tokens);
  else if (t.prompt_tokens > 0)
    prompt = line("prompt\t%.0f tokens\n", t.prompt_tokens);
  return prompt +
         line("answer\t%.0f tokens in %.3f s: %.1f t/s\n", t.generated_tokens, t.generate_seconds,
              per_second(t.generated_tokens, t.generate_seconds)) +
         (t.drafted_tokens > 0
              ? line("drafts\t%.0f tokens looked up, %.0f of them accepted\n", t.drafted_tokens, t.accepted_tokens)
              : "") +
         line("first token\tafter %.3f s\n", t.first_token_seconds) + (gaps.empty() ? "" : "gaps\t" + gaps + "\n") +
         (seed ? "seed\t" + std::to_string(*seed) + "\n" : "");
}

// arguments: an object, whatever the model wrote.
nlohmann::ordered_json call_json(const ToolCall& call) {
  nlohmann::ordered_json arguments = try_parse_untrusted_json<nlohmann::ordered_json>(call.arguments);
  if (!arguments.is_object()) arguments = nlohmann::ordered_json::object();
  const std::string_view status = name_of(call.status);
  return {{"name", call.name},
          {"arguments", std::move(arguments)},
          {"result", call.result},
          {"status", status.empty() ? name_of(CallStatus::kError) : status}};
}

nlohmann::ordered_json calls_json(const StreamedAnswer& answer) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ToolRound& round : answer.rounds)
    for (const ToolCall& call : round.calls) list.push_back(call_json(call));
  for (const ToolCall& call : answer.tool_calls) list.push_back(call_json(call));
  return list;
}

nlohmann::ordered_json told_or_null(bool is_told, uint32_t number) {
  return is_told ? nlohmann::ordered_json(number) : nlohmann::ordered_json();
}

// Why a complete answer shows nothing; empty: it shows something.
std::string words_without_text(const StreamedAnswer& answer, bool has_text) {
  const bool is_whole = answer.end.reason == EndReason::kEndOfText || answer.end.reason == EndReason::kTokenLimit;
  if (has_undone(answer.tool_calls)) return calls_in_words(answer.tool_calls);
  return is_whole && !has_text ? "the model returned an empty answer" : "";
}

void follow_calls(StreamedAnswer& answer, const Event& event) {
  if (const auto* delta = std::get_if<ToolCallDelta>(&event)) append_delta(answer.tool_calls, *delta);
  if (const auto* changed = std::get_if<ToolCallsChanged>(&event)) answer.tool_calls = changed->calls;
  if (!std::holds_alternative<RoundEnded>(event)) return;
  answer.rounds.push_back(
      {std::exchange(answer.text, {}), std::exchange(answer.reasoning, {}), std::exchange(answer.tool_calls, {})});
}

// False: the user stops the answer.
bool decide_call(Generation& generation, const ToolCallsChanged& changed, const DecideAboutCall& decide) {
  const auto asked = std::ranges::find(changed.calls, CallStatus::kAsking, &ToolCall::status);
  if (asked == changed.calls.end() || !decide) return true;
  const CallAnswer answer = decide(*asked, changed.why_asked);
  if (answer != CallAnswer::kStop) generation.decide(answer != CallAnswer::kNo);
  return answer != CallAnswer::kStop;
}

StreamedAnswer stream_to_end(Generation& generation, std::optional<GenerationEnd>& end, const ChatSettings& settings,
                             AnswerGoes goes, AnswerFrom from, const DecideAboutCall& decide) {
  AnswerPrinter printer(settings, /*in_conversation=*/false, /*may_be_thought=*/from == AnswerFrom::kServer);
  StreamedAnswer answer;
  const bool prints = goes == AnswerGoes::kToOutput;
  bool has_text = false;
  const NotedInterrupts noted;
  while (!end) {
    std::optional<Event> event = generation.next_event(kEventWait);
    if (prints) printer.tick();
    for (int n = 1; event; ++n) {
      if (const auto* its_end = std::get_if<GenerationEnd>(&*event)) end = *its_end;
      if (const auto* delta = std::get_if<TextDelta>(&*event)) has_text |= !delta->text.empty();
      prints ? std::visit(EventPrinter{printer}, *event) : std::visit(EventGatherer{answer}, *event);
      follow_calls(answer, *event);
      if (const auto* changed = std::get_if<ToolCallsChanged>(&*event)) {
        if (prints) printer.end_line();
        if (!decide_call(generation, *changed, decide)) answer.interrupted = true, generation.stop();
      }
      event = end || n == kMaxEventsAtOnce ? std::nullopt : generation.next_event(milliseconds(0));
    }
    printer.flush();
    if (take_interrupt()) {
      answer.interrupted = true;
      generation.stop();
    }
  }
  if (end->reason == EndReason::kFailed) throw ErrorWithRemedy(end->error, end->remedy);
  answer.end = *end;
  if (settings.session.max_tokens != 0)
    if (const std::string words = words_without_text(answer, has_text); !words.empty()) print_error(words);
  if (!end->form_fault.empty()) print_error(end->form_fault);
  return answer;
}

std::string_view stop_reason(EndReason reason) {
  switch (reason) {
    case EndReason::kEndOfText:
      return "stop";
    case EndReason::kTokenLimit:
      return "length";
    case EndReason::kContextFull:
      return "context_full";
    case EndReason::kContentFilter:
      return "content_filter";
    case EndReason::kStopped:
    case EndReason::kFailed:
      return "interrupted";
  }
  return "";
}

}  // namespace

StreamedAnswer stream_answer(Generation& generation, const ChatSettings& settings, AnswerGoes goes, AnswerFrom from,
                             const DecideAboutCall& decide) {
  std::optional<GenerationEnd> end;
  try {
    return stream_to_end(generation, end, settings, goes, from, decide);
  } catch (...) {
    generation.stop();
    while (!end)
      if (const std::optional<Event> event = generation.next_event(kEventWait); event)
        if (const auto* its_end = std::get_if<GenerationEnd>(&*event)) end = *its_end;
    throw;
  }
}

std::string answer_json(const StreamedAnswer& answer, const std::string& model, std::optional<uint64_t> seed) {
  const Timings& t = answer.end.timings;
  const ToldCounts& told = answer.end.told;
  const nlohmann::ordered_json json = {
      {"model", model},
      {"answer", joined(answer.rounds, &ToolRound::content, answer.text)},
      {"reasoning", joined(answer.rounds, &ToolRound::reasoning, answer.reasoning)},
      {"stop_reason", stop_reason(answer.end.reason)},
      {"tool_calls", calls_json(answer)},
      {"usage",
       {{"prompt_tokens", told_or_null(told.prompt, t.prompt_tokens)},
        {"cached_tokens", told_or_null(told.reused, t.reused_tokens)},
        {"completion_tokens", told_or_null(told.generated, t.generated_tokens)},
        {"total_tokens", told_or_null(told.prompt && told.generated, t.prompt_tokens + t.generated_tokens)}}},
      {"timings",
       {{"prompt_seconds", t.prompt_seconds},
        {"first_token_seconds", t.first_token_seconds},
        {"generate_seconds", t.generate_seconds},
        {"prompt_per_second", per_second(t.prompt_tokens - t.reused_tokens, t.prompt_seconds)},
        {"generated_per_second", per_second(t.generated_tokens, t.generate_seconds)},
        {"drafted_tokens", t.drafted_tokens},
        {"accepted_tokens", t.accepted_tokens}}},
      {"seed", seed ? nlohmann::ordered_json(*seed) : nlohmann::ordered_json()}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string timing_report(const Timings& timings, std::optional<uint64_t> seed, const Profile& profile,
                          const std::string& gaps) {
  const std::vector<OperationProfile> rows = profile.rows();
  const bool measured = std::ranges::any_of(rows, [](const OperationProfile& row) { return row.calls > 0; });
  return summary(timings, seed, gaps) + (measured ? "\n" + profile_table(rows, profile.peak_bandwidth()) : "");
}

}  // namespace warpchat
