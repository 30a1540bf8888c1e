#include "app/gui/profiler/panel_parts.h"

#include <algorithm>

#include "models/utf8.h"

namespace warpchat::gui {

namespace {

const char* begin_of(std::string_view text) { return text.data(); }
const char* end_of(std::string_view text) { return text.data() + text.size(); }

}  // namespace

Colour faded(Colour colour, float opacity) {
  const auto alpha = static_cast<Colour>(static_cast<float>(colour >> 24) * opacity);
  return (colour & 0x00FFFFFF) | alpha << 24;
}

void text_in(Colour colour, std::string_view text) {
  ImGui::PushStyleColor(ImGuiCol_Text, colour);
  ImGui::TextUnformatted(begin_of(text), end_of(text));
  ImGui::PopStyleColor();
}

void wrapped_text_in(Colour colour, std::string_view text) {
  ImGui::PushTextWrapPos(0);
  text_in(colour, text);
  ImGui::PopTextWrapPos();
}

float text_width(std::string_view text) { return ImGui::CalcTextSize(begin_of(text), end_of(text)).x; }

void right_aligned(std::string_view text) {
  const float room = ImGui::GetContentRegionAvail().x - text_width(text);
  if (room > 0) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + room);
  ImGui::TextUnformatted(begin_of(text), end_of(text));
}

void centred_note(const Sizes& sizes, Colour colour, std::string_view text) {
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const ImVec2 at = ImGui::GetCursorPos();
  ImGui::SetCursorPos(
      {at.x + std::max(0.0f, (room.x - text_width(text)) / 2), at.y + std::max(0.0f, (room.y - sizes.text) / 2)});
  text_in(colour, text);
}

bool choice(const char* text, bool chosen, const Theme& theme) {
  ImGui::PushStyleColor(ImGuiCol_Button, chosen ? theme.selection : 0);
  ImGui::PushStyleColor(ImGuiCol_Text, chosen ? theme.text : theme.dim_text);
  const bool clicked = ImGui::SmallButton(text);
  ImGui::PopStyleColor(2);
  return clicked;
}

ProfilerOverlay::Mark mark_of_last_item(std::string name) {
  const ImVec2 from = ImGui::GetItemRectMin(), to = ImGui::GetItemRectMax();
  return {std::move(name), from.x, from.y, to.x - from.x, to.y - from.y};
}

std::string shortened_to(const std::string& text, float width) {
  if (text_width(text) <= width) return text;
  size_t kept = text.size();
  std::string shorter;
  while (kept > 4) {
    --kept;
    const size_t end = kept / 4;
    shorter = text.substr(0, kept - end) + ".." + text.substr(text.size() - end);
    if (text_width(shorter) <= width) break;
  }
  return shorter;
}

std::string ended_at(std::string text, float width) {
  for (size_t end; text_width(text) > width && (end = text.rfind("; ")) != std::string::npos;) text.resize(end);
  if (text_width(text) <= width) return text;
  const float dots = text_width("\u2026");
  while (!text.empty() && text_width(text) + dots > width) {
    do text.pop_back();
    while (!text.empty() && continues_character(text.back()));
    if (!text.empty() && static_cast<unsigned char>(text.back()) >= 0xC0) text.pop_back();
  }
  return text + "\u2026";
}

}  // namespace warpchat::gui
