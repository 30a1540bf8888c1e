// ImGui's keyboard, which version 1.87 made another one. Keys and modifiers are GLFW's.
#pragma once

struct ImGuiIO;

namespace warpchat::gui {

void set_up_imgui_keys(ImGuiIO& io);  // once, after ImGui::CreateContext()
void tell_imgui_key(ImGuiIO& io, int key, bool is_down);
void tell_imgui_modifier(ImGuiIO& io, int modifier, bool is_down);  // GLFW_MOD_SHIFT
void release_imgui_keys(ImGuiIO& io);                               // the window lost the keyboard

}  // namespace warpchat::gui
