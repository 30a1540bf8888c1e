#include "app/gui/profiler/memory_panel.h"

#include "app/gui/profiler/numbers.h"
#include "app/gui/profiler/panel_parts.h"
#include "app/gui/profiler/row_colours.h"

namespace warpchat::gui {

namespace {

// Spread over the hues, so that neighbours in the bar differ.
Colour use_colour(size_t index, bool dark) {
  constexpr double kFirst = 0.48, kStep = 0.618;
  return hue_colour(
      kFirst + kStep * static_cast<double>(index) - static_cast<int>(kFirst + kStep * static_cast<double>(index)),
      dark);
}

void draw_bar(const ProfilerData& data, double total, const ProfilerOverlay::Look& look) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = look.sizes.width(18);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  float x = at.x;
  for (size_t i = 0; i < data.memory.size(); ++i) {
    const float part = static_cast<float>(static_cast<double>(data.memory[i].bytes) / total) * width;
    list.AddRectFilled({x, at.y}, {x + part, at.y + height}, use_colour(i, look.theme.dark));
    x += part;
  }
  ImGui::Dummy({width, height});
}

void draw_row(const MemoryUse& use, size_t index, double total, const ProfilerOverlay::Look& look) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float side = look.sizes.text * 0.6f, top = at.y + (ImGui::GetTextLineHeight() - side) / 2;
  ImGui::GetWindowDrawList()->AddRectFilled({at.x, top}, {at.x + side, top + side}, use_colour(index, look.theme.dark),
                                            side / 4);
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + side * 1.8f);
  ImGui::TextUnformatted(use.purpose.c_str());
  ImGui::TableNextColumn();
  right_aligned(bytes_text(static_cast<double>(use.bytes)));
  ImGui::TableNextColumn();
  right_aligned(percent_text(static_cast<double>(use.bytes) / total));
}

}  // namespace

void draw_memory_panel(const ProfilerData& data, const ProfilerOverlay::Look& look) {
  double total = 0;
  for (const MemoryUse& use : data.memory) total += static_cast<double>(use.bytes);
  if (total <= 0) return centred_note(look.sizes, look.theme.dim_text, "No model loaded");
  text_in(look.theme.dim_text, (data.is_emulated ? "On the emulated GPU: "
                                : data.is_gpu    ? "On the GPU: "
                                                 : "In memory: ") +
                                   bytes_text(total));
  draw_bar(data, total, look);
  ImGui::Spacing();
  const float number = text_width("0") * 9;
  if (!ImGui::BeginTable("memory", 3, ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_ScrollY)) return;
  ImGui::TableSetupColumn("purpose", ImGuiTableColumnFlags_WidthFixed, text_width("0") * 26);
  ImGui::TableSetupColumn("bytes", ImGuiTableColumnFlags_WidthFixed, number);
  ImGui::TableSetupColumn("share", ImGuiTableColumnFlags_WidthFixed, number);
  for (size_t i = 0; i < data.memory.size(); ++i)
    if (data.memory[i].bytes > 0) draw_row(data.memory[i], i, total, look);
  ImGui::EndTable();
}

}  // namespace warpchat::gui
