// Panels about machines: the device's memory use; for a server the pace of its answers and its reported load.
#pragma once
#include "app/gui/profiler/profiler_overlay.h"

namespace warpchat::gui {

void draw_memory_panel(const ProfilerData& data, const ProfilerOverlay::Look& look);

void draw_pace(const ChatMessage& message, const ProfilerOverlay::Look& look);  // its speed in words
void draw_gaps(const ChatMessage& message, const ProfilerOverlay::Look& look);  // over the answer, if it is a long one
void draw_load(const EndpointProfile& profile, const ProfilerOverlay::Look& look);

}  // namespace warpchat::gui
