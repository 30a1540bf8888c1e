// Where the device's memory goes: one bar, and the list that explains it.
#pragma once
#include "app/gui/profiler/profiler_overlay.h"

namespace warpchat::gui {

void draw_memory_panel(const ProfilerData& data, const ProfilerOverlay::Look& look);

}  // namespace warpchat::gui
