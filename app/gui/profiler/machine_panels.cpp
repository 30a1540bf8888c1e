// Words, bars and tables.
#include "app/gui/profiler/machine_panels.h"

#include <algorithm>

#include "app/chat/state/answer_pace.h"
#include "app/gui/profiler/panel_parts.h"
#include "app/gui/profiler/plots.h"
#include "app/platform/text/numbers.h"

namespace warpchat::gui {

namespace {

// Spread over the hues, so that neighbours in the bar differ.
Colour use_colour(size_t index, bool dark) {
  constexpr double kFirst = 0.48, kStep = 0.618;
  return hue_colour(
      kFirst + kStep * static_cast<double>(index) - static_cast<int>(kFirst + kStep * static_cast<double>(index)),
      dark);
}

void draw_memory_bar(const ProfilerData& data, double total, const ProfilerOverlay::Look& look) {
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

void draw_use(const MemoryUse& use, size_t index, double total, const ProfilerOverlay::Look& look) {
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

constexpr float kWhatDigits = 20, kAmountDigits = 13, kBetweenPairs = 3;
constexpr float kStripHeight = 30, kStripColumn = 2,
                kLongAnswer = 150;  // kLongAnswer: tokens, which the strip may not hold

void draw_load_row(const LoadRow& row, const ProfilerOverlay::Look& look) {
  ImGui::TableNextColumn();
  text_in(look.theme.dim_text, row.name);
  ImGui::TableNextColumn();
  right_aligned(row.value);
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
  draw_memory_bar(data, total, look);
  ImGui::Spacing();
  const float number = text_width("0") * 9;
  if (!ImGui::BeginTable("memory", 3, ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_ScrollY)) return;
  ImGui::TableSetupColumn("purpose", ImGuiTableColumnFlags_WidthFixed, text_width("0") * 26);
  ImGui::TableSetupColumn("bytes", ImGuiTableColumnFlags_WidthFixed, number);
  ImGui::TableSetupColumn("share", ImGuiTableColumnFlags_WidthFixed, number);
  for (size_t i = 0; i < data.memory.size(); ++i)
    if (data.memory[i].bytes > 0) draw_use(data.memory[i], i, total, look);
  ImGui::EndTable();
}

void draw_pace(const ChatMessage& message, const ProfilerOverlay::Look& look) {
  for (const std::string& line : pace_lines(message)) wrapped_text_in(look.theme.text, line);
}

void draw_gaps(const ChatMessage& message, const ProfilerOverlay::Look& look) {
  if (static_cast<float>(message.tokens.size()) < kLongAnswer) return;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = look.sizes.width(kStripHeight);
  const float column = look.sizes.width(kStripColumn);
  const std::vector<float> gaps = longest_gaps(message.tokens, static_cast<size_t>(std::max(1.0f, width / column)));
  const auto scale = static_cast<float>(full_height(gaps));
  ImGui::Dummy({width, height});
  if (ImGui::IsItemHovered()) ImGui::SetTooltip("The longest gaps between tokens, over the whole answer");
  ImDrawList& list = *ImGui::GetWindowDrawList();
  for (size_t i = 0; i < gaps.size(); ++i) {
    const float share = scale > 0 ? gaps[i] / scale : 0, x = at.x + static_cast<float>(i) * column;
    const Colour colour = share > 1.001f ? look.theme.warning : faded(look.theme.accent, 0.6f);
    list.AddRectFilled({x, at.y + height * (1 - std::min(share, 1.0f))}, {x + column, at.y + height}, colour);
  }
}

void draw_load(const EndpointProfile& profile, const ProfilerOverlay::Look& look) {
  ImGui::Spacing();
  if (!profile.absence.empty()) return wrapped_text_in(look.theme.dim_text, profile.absence);
  text_in(look.theme.dim_text, profile.has_answered ? profile.host : "asking " + profile.host + " for its load ...");
  const float digit = text_width("0"), pair = digit * (kWhatDigits + kAmountDigits + kBetweenPairs);
  const int pairs = std::clamp(static_cast<int>(ImGui::GetContentRegionAvail().x / pair), 1, 3);
  if (profile.load.empty() ||
      !ImGui::BeginTable("load", 2 * pairs, ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_ScrollY))
    return;
  for (int i = 0; i < pairs; ++i) {
    ImGui::TableSetupColumn("what", ImGuiTableColumnFlags_WidthFixed, digit * kWhatDigits);
    ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthFixed, digit * kAmountDigits);
  }
  for (const LoadRow& row : profile.load) draw_load_row(row, look);
  ImGui::EndTable();
}

}  // namespace warpchat::gui
