// Writes a generation's events to standard output. Ctrl-C stops the generation and keeps its text.
#pragma once
#include <string>

#include "app/chat_settings.h"
#include "engine/profile.h"
#include "engine/session/responder.h"

namespace warpchat {

struct StreamedAnswer {
  GenerationEnd end;
  bool interrupted = false;
  std::string text, reasoning;  // if they are gathered
};

enum class AnswerGoes { kToOutput, kIntoText };

// Returns after the GenerationEnd. Throws an Error with the generation's message if it failed; whatever is thrown, the
// generation has ended.
StreamedAnswer stream_answer(Generation& generation, const ChatSettings& settings, AnswerGoes goes);

// One answer as a line of JSON: model, answer, reasoning, stop_reason (stop, length, context_full or interrupted),
// usage and timings (seconds, tokens per second), seed.
std::string answer_json(const StreamedAnswer& answer, const std::string& model, uint64_t seed);

// For --verbose and /perf: tokens, times and speeds, then the profile's table if anything was measured. gaps: between
// the answer's tokens, in words; empty: not reported.
std::string timing_report(const Timings& timings, uint64_t seed, const Profile& profile, const std::string& gaps = "");

}  // namespace warpchat
