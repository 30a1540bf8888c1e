// What the profiler's panels draw with, on ImGui.
#pragma once
#include <string>
#include <string_view>

#include <imgui/imgui.h>

#include "app/gui/profiler/profiler_overlay.h"

namespace warpchat::gui {

Colour faded(Colour colour, float opacity);

void text_in(Colour colour, std::string_view text);                           // at the cursor, on one line
void wrapped_text_in(Colour colour, std::string_view text);                   // over the content region's width
void right_aligned(std::string_view text);                                    // in the current table cell
void centred_note(const Sizes& sizes, Colour colour, std::string_view text);  // in what is left of the region
float text_width(std::string_view text);

// A button that is one of several choices, this one chosen or not.
bool choice(const char* text, bool chosen, const Theme& theme);

ProfilerOverlay::Mark mark_of_last_item(std::string name);

// The text without its later middle where it is wider than `width` pixels: kernels differ at both ends.
std::string shortened_to(const std::string& text, float width);
std::string ended_at(std::string text, float width);  // the same without its end: drops whole clauses ("; ") first

}  // namespace warpchat::gui
