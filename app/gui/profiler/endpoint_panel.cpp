// Words, a plot and a table.
#include "app/gui/profiler/endpoint_panel.h"

#include <algorithm>

#include "app/desk/answer_pace.h"
#include "app/gui/profiler/panel_parts.h"
#include "app/gui/profiler/sparkline.h"

namespace warpchat::gui {

namespace {

constexpr float kNameDigits = 20, kValueDigits = 13, kBetween = 3;
constexpr float kHeight = 30, kColumn = 2, kLongAnswer = 150;  // kLongAnswer: tokens, which the strip may not hold

void draw_cells(const LoadRow& row, const ProfilerOverlay::Look& look) {
  ImGui::TableNextColumn();
  text_in(look.theme.dim_text, row.name);
  ImGui::TableNextColumn();
  right_aligned(row.value);
}

}  // namespace

void draw_pace(const ChatMessage& message, const ProfilerOverlay::Look& look) {
  for (const std::string& line : pace_lines(message)) wrapped_text_in(look.theme.text, line);
}

void draw_gaps(const ChatMessage& message, const ProfilerOverlay::Look& look) {
  if (static_cast<float>(message.tokens.size()) < kLongAnswer) return;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = look.sizes.width(kHeight);
  const float column = look.sizes.width(kColumn);
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
  const float digit = text_width("0"), pair = digit * (kNameDigits + kValueDigits + kBetween);
  const int pairs = std::clamp(static_cast<int>(ImGui::GetContentRegionAvail().x / pair), 1, 3);
  if (profile.load.empty() ||
      !ImGui::BeginTable("load", 2 * pairs, ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_ScrollY))
    return;
  for (int i = 0; i < pairs; ++i) {
    ImGui::TableSetupColumn("what", ImGuiTableColumnFlags_WidthFixed, digit * kNameDigits);
    ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthFixed, digit * kValueDigits);
  }
  for (const LoadRow& row : profile.load) draw_cells(row, look);
  ImGui::EndTable();
}

}  // namespace warpchat::gui
