// Takes a generation's events to standard output. Ctrl-C stops the generation and keeps its text.
#pragma once
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/chat_settings.h"
#include "engine/profile.h"
#include "engine/session/responder.h"

namespace warpchat {

struct EventSource {
  std::function<std::optional<Event>(std::chrono::milliseconds)> next;
  std::function<void()> stop;
};

struct StreamedAnswer {
  GenerationEnd end;
  bool interrupted = false;
};

EventSource events_of(Generation& generation);

// Until the GenerationEnd. Error with the generation's sentence if it failed; whatever is thrown, the generation has
// ended and none of its events is left for the next one.
StreamedAnswer stream_answer(const EventSource& source, const ChatSettings& settings);

// For --verbose and /perf: tokens, times and speeds, then the profile's table if anything was measured.
std::string timing_report(const Timings& timings, uint64_t seed, const Profile& profile);

}  // namespace warpchat
