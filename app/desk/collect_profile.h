// From a loaded model to what the profiler shows. Callable from any thread while the model lives and decodes.
#pragma once
#include <memory>
#include <string>

#include "app/desk/profiler_data.h"
#include "engine/session/model.h"

namespace warpchat {

// What is shown of the past.
constexpr size_t kShownTokens = 64, kMostShownSpans = size_t{1} << 17;

// On: the model measures, and keeps its last calls one by one. Off: as before.
void watch_profile(Model& model, bool on);
void watch_profile(Steps& steps, bool on);

// status: of the device, as the status line has it.
std::shared_ptr<const ProfilerData> collect_profile(Model& model, std::string status);
std::shared_ptr<const ProfilerData> collect_profile(Steps& steps, std::string status);

}  // namespace warpchat
