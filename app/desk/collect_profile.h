// From a loaded model to what the profiler shows. Callable from any thread while the model lives and decodes.
#pragma once
#include <memory>
#include <span>
#include <string>

#include "app/desk/profiler_data.h"
#include "engine/session/model.h"

namespace warpchat {

// What is shown of the past.
constexpr size_t kShownTokens = 64, kMostShownSpans = size_t{1} << 17;

// On: the model measures, and keeps its last calls one by one. Off: as before.
void watch_profile(Model& model, bool on);
void watch_profile(Steps& steps, bool on);

// What rows behind a prompt are of: every pass looks its token's embedding up once. A decoder may have computed a token
// that nobody asked for any more, or ended with one that has no text, so that the answer's tokens do not tell.
uint64_t n_passes_of(std::span<const OperationProfile> rows);

// status: of the device, as the status line has it.
std::shared_ptr<const ProfilerData> collect_profile(Model& model, std::string status);
std::shared_ptr<const ProfilerData> collect_profile(Steps& steps, std::string status);

}  // namespace warpchat
