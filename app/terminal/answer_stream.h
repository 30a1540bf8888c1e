// Writes a generation's events to standard output. Ctrl-C stops the generation and keeps its text.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/settings/chat_settings.h"
#include "app/terminal/call_question.h"
#include "engine/profile.h"
#include "engine/session/responder.h"

namespace warpchat {

struct StreamedAnswer {
  GenerationEnd end;
  bool interrupted = false;
  std::vector<ToolRound> rounds;     // that have ended; without texts unless they are gathered
  std::string text, reasoning;       // behind them, if they are gathered
  std::vector<ToolCall> tool_calls;  // behind them
};

using DecideAboutCall = std::function<CallAnswer(const ToolCall& call, const std::string& why_asked)>;
enum class AnswerGoes { kToOutput, kIntoText };
enum class AnswerFrom { kThisMachine, kServer };

// Returns after the GenerationEnd. Says so if an answer has no text, only calls tools, or misses its form. Throws an
// Error with the generation's message if it failed; whatever is thrown, the generation has ended.
// decide: for calls that wait for the user.
StreamedAnswer stream_answer(Generation& generation, const ChatSettings& settings, AnswerGoes goes, AnswerFrom from,
                             const DecideAboutCall& decide = {});

// One answer as a line of JSON: model, answer, reasoning, stop_reason (stop, length, context_full, content_filter or
// interrupted), usage and timings (seconds, tokens per second), seed. Numbers that a server does not tell, and a seed
// that it did not get, are null.
std::string answer_json(const StreamedAnswer& answer, const std::string& model, std::optional<uint64_t> seed);

// For --verbose and /perf: tokens, times and speeds, then the profile's table if anything was measured. gaps: between
// the answer's tokens, in words; empty: not reported. seed: none if a server chose it.
std::string timing_report(const Timings& timings, std::optional<uint64_t> seed, const Profile& profile,
                          const std::string& gaps = "");

}  // namespace warpchat
