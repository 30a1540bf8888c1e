#include "app/gui/profiler/kernel_text_panel.h"

#include <algorithm>
#include <cstdio>

#include "app/gui/profiler/kernel_table.h"
#include "app/gui/profiler/panel_parts.h"
#include "app/platform/text/numbers.h"
#include "models/text_format.h"

namespace warpchat::gui {

namespace {

// "1,024 calls · 12.3 µs and 1.04 MB a call · 84.5 GB/s".
std::string costs_of(const OperationProfile& row) {
  if (row.calls == 0) return "no call of its own";
  const double calls = static_cast<double>(row.calls), bytes = static_cast<double>(row.bytes);
  std::string text = counted(row.calls, "call") + " \u00b7 " + duration_text(row.seconds / calls) + " and " +
                     bytes_text(bytes / calls) + " a call";
  if (row.seconds > 0) text += " \u00b7 " + bandwidth_text(bytes / row.seconds);
  if (row.wait_seconds > 0) text += " \u00b7 " + percent_text(row.wait_seconds / row.seconds) + " of it at the barrier";
  return text;
}

std::string counters_of(const OperationProfile& row) {
  const KernelCounters& c = row.counters;
  if (c.instructions == 0) return "";
  const double by = row.calls > 0 ? static_cast<double>(row.calls) : 1;
  const auto each = [&](uint64_t n) { return compact_number(static_cast<double>(n) / by); };
  return each(c.instructions) + " instructions, " + each(c.sectors) + " sectors, " + each(c.bank_conflicts) +
         " bank conflicts" + (row.calls > 0 ? " a call" : "");
}

}  // namespace

std::vector<size_t> line_starts(const std::string& text) {
  std::vector<size_t> starts{0};
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\n') starts.push_back(i + 1);
  if (starts.back() != text.size()) starts.push_back(text.size() + 1);  // as if the last line ended, too
  return starts;
}

void KernelTextPanel::draw_lines(const ProfilerOverlay::Look& look) const {
  const Theme& theme = look.theme;
  ImGui::PushStyleColor(ImGuiCol_ChildBg, theme.code_background);
  ImGui::BeginChild("ptx", {0, 0}, false, ImGuiWindowFlags_HorizontalScrollbar);
  if (look.code_font != nullptr) ImGui::PushFont(look.code_font);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 1});
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(lines_.size()) - 1);
  char number[16];
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const auto line = static_cast<size_t>(i);
      const std::string_view text(shown_->data() + lines_[line], lines_[line + 1] - 1 - lines_[line]);
      std::snprintf(number, sizeof number, "%5d  ", i + 1);
      text_in(theme.faint_text, number);
      ImGui::SameLine();
      const size_t comment = text.find("//");
      text_in(comment == text.find_first_not_of(" \t") ? theme.dim_text : theme.code_text, text);
    }
  }
  ImGui::PopStyleVar();
  if (look.code_font != nullptr) ImGui::PopFont();
  ImGui::EndChild();
  ImGui::PopStyleColor();
}

void KernelTextPanel::draw(const ProfilerData& data, const OperationProfile& row, const ProfilerOverlay::Look& look) {
  const Theme& theme = look.theme;
  const KernelText* text = text_of(data, row.name);
  const float button = text != nullptr ? text_width("Copy PTX") + look.sizes.width(24) : 0;
  const float top = ImGui::GetCursorPosY();
  ImGui::PushTextWrapPos(std::max(ImGui::GetContentRegionMax().x - button, look.sizes.width(40)));
  ImGui::TextUnformatted(row.name.c_str());
  ImGui::PopTextWrapPos();
  if (text != nullptr) {
    const float below = ImGui::GetCursorPosY();
    ImGui::SetCursorPos({ImGui::GetContentRegionMax().x - button + look.sizes.width(8), top});
    if (ImGui::SmallButton("Copy PTX")) ImGui::SetClipboardText(text->ptx->c_str());
    ImGui::SetCursorPosY(below);
    wrapped_text_in(theme.dim_text, text->launch);
  }
  wrapped_text_in(theme.dim_text, costs_of(row));
  if (const std::string counters = counters_of(row); !counters.empty()) wrapped_text_in(theme.dim_text, counters);
  if (text == nullptr) {
    wrapped_text_in(theme.faint_text,
                    data.is_gpu ? "Its kernels have their own rows." : "Native code: no generated kernel to show.");
    return;
  }
  if (shown_ != text->ptx) {
    shown_ = text->ptx;
    lines_ = line_starts(*shown_);
  }
  draw_lines(look);
}

}  // namespace warpchat::gui
