// Collects the profiler's data of a loaded model. Callable from any thread while the model exists and decodes.
#pragma once
#include <memory>
#include <span>
#include <string>

#include "app/chat/profile/profiler_data.h"
#include "engine/session/model.h"

namespace warpchat {

// Limits of the history that is shown.
constexpr size_t kShownTokens = 64, kMaxShownSpans = size_t{1} << 17;

// On: the model times its kernels and keeps its last calls. Off: as before.
void watch_profile(Model& model, bool on);
void watch_profile(Steps& steps, bool on);

// Number of decode passes, counted by embedding lookups, one per pass. The answer's tokens are no measure: a decoder
// may compute a token that is not used, or end with one without text.
uint64_t n_passes_of(std::span<const OperationProfile> rows);

// status: the device's status line.
std::shared_ptr<const ProfilerData> collect_profile(Model& model, std::string status);
std::shared_ptr<const ProfilerData> collect_profile(Steps& steps, std::string status);

}  // namespace warpchat
