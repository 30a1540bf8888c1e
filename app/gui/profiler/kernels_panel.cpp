#include "app/gui/profiler/kernels_panel.h"

#include <algorithm>
#include <cmath>

#include "app/gui/profiler/panel_parts.h"
#include "app/gui/profiler/plots.h"

namespace warpchat::gui {

namespace {

// Table and text beside each other where it is wide and not high, else one above the other. Pixels at scale 1.
constexpr float kWide = 760, kHigh = 420, kTablePart = 0.58f;
constexpr float kOpenName = 12;  // digits that names have more beside a kernel's text
constexpr ImGuiTableFlags kTableFlags = ImGuiTableFlags_Sortable | ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg |
                                        ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_NoSavedSettings;

bool is_share(KernelColumn column) {
  return column == KernelColumn::kShare || column == KernelColumn::kShareOfInstructions ||
         column == KernelColumn::kOfPeak || column == KernelColumn::kLanes || column == KernelColumn::kWaiting;
}

void draw_share(double share, Colour colour) {
  if (std::isnan(share)) return;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x * static_cast<float>(std::clamp(share, 0.0, 1.0));
  ImGui::GetWindowDrawList()->AddRectFilled(at, {at.x + width, at.y + ImGui::GetTextLineHeight()}, colour, 2);
}

void draw_trend(std::span<const float> history, Colour colour) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = ImGui::GetTextLineHeight();
  const std::vector<float> heights = sparkline(history, static_cast<size_t>(std::max(2.0f, width / 2)));
  std::vector<ImVec2> points;
  for (size_t i = 0; i < heights.size(); ++i)
    points.push_back(
        {at.x + width * static_cast<float>(i) / static_cast<float>(std::max<size_t>(1, heights.size() - 1)),
         at.y + height - 1 - heights[i] * (height - 2)});
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.PushClipRect(at, {at.x + width, at.y + height}, true);  // corners reach beyond their points
  list.AddPolyline(points.data(), static_cast<int>(points.size()), colour, 0, 1.5f);
  list.PopClipRect();
  ImGui::Dummy({width, height});
}

void set_up_columns(const std::vector<KernelColumn>& columns) {
  const float digit = text_width("0");
  const float arrow =
      ImGui::GetFontSize() * 0.65f + ImGui::GetStyle().FramePadding.x + 2;  // which a heading leaves room for
  for (const KernelColumn column : columns) {
    ImGuiTableColumnFlags flags = column == KernelColumn::kName
                                      ? ImGuiTableColumnFlags_WidthStretch
                                      : ImGuiTableColumnFlags_WidthFixed | ImGuiTableColumnFlags_PreferSortDescending;
    if (column == KernelColumn::kShare || column == KernelColumn::kShareOfInstructions)
      flags |= ImGuiTableColumnFlags_DefaultSort;
    const float heading = text_width(look_of(column).heading) + arrow;
    ImGui::TableSetupColumn(look_of(column).heading, flags,
                            column == KernelColumn::kName ? 1 : std::max(look_of(column).width * digit, heading),
                            static_cast<ImGuiID>(column));
  }
  ImGui::TableSetupScrollFreeze(0, 1);
}

// TableHeadersRow, with a sentence on each.
void draw_headings(const std::vector<KernelColumn>& columns) {
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!ImGui::TableSetColumnIndex(static_cast<int>(i))) continue;
    ImGui::PushID(static_cast<int>(i));
    ImGui::TableHeader(look_of(columns[i]).heading);
    if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", look_of(columns[i]).meaning);
    ImGui::PopID();
  }
}

}  // namespace

// The order that the headings say, on every new set of rows.
void KernelsPanel::order_rows(const ProfilerData& data) {
  ImGuiTableSortSpecs* specs = ImGui::TableGetSortSpecs();
  if (specs == nullptr || specs->SpecsCount == 0) return;
  const ImGuiTableColumnSortSpecs& by = specs->Specs[0];
  sort_rows(rows_, data, static_cast<KernelColumn>(by.ColumnUserID), by.SortDirection == ImGuiSortDirection_Descending);
  specs->SpecsDirty = false;
}

void KernelsPanel::draw_name(const ProfilerData& data, const KernelRow& row, const ProfilerOverlay::Look& look) {
  const std::string& name = data.rows[row.operation].name;
  if (ImGui::Selectable("##row", name == chosen_, ImGuiSelectableFlags_SpanAllColumns))
    chosen_ = name == chosen_ ? "" : name;
  const bool hovered = ImGui::IsItemHovered();
  ImGui::SameLine();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float side = look.sizes.text * 0.55f, top = at.y + (ImGui::GetTextLineHeight() - side) / 2;
  ImGui::GetWindowDrawList()->AddRectFilled({at.x, top}, {at.x + side, top + side}, colours_[row.operation], side / 4);
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + side * 1.7f);
  const std::string shown = shortened_to(label_of(name), ImGui::GetContentRegionAvail().x);
  ImGui::TextUnformatted(shown.c_str());
  if (hovered && shown != name) ImGui::SetTooltip("%s", name.c_str());
}

void KernelsPanel::draw_row(const ProfilerData& data, const KernelRow& row, const std::vector<KernelColumn>& columns,
                            const ProfilerOverlay::Look& look) {
  ImGui::TableNextRow();
  ImGui::PushID(static_cast<int>(row.operation));
  for (const KernelColumn column : columns) {
    ImGui::TableNextColumn();
    if (column == KernelColumn::kName) {
      draw_name(data, row, look);
    } else if (column == KernelColumn::kTrend) {
      draw_trend(data.history[row.operation], colours_[row.operation]);
    } else {
      if (is_share(column)) draw_share(row[column], faded(colours_[row.operation], 0.35f));
      right_aligned(cell_text(column, row[column]));
    }
  }
  ImGui::PopID();
}

void KernelsPanel::draw_table(const ProfilerData& data, const ProfilerOverlay::Look& look, ImVec2 size) {
  const float digits = size.x / text_width("0") - (chosen_.empty() ? 0 : kOpenName);
  const std::vector<KernelColumn> columns = kernel_columns(data, of_, digits);
  int id = 0;  // a table of other columns is another table, which has its own order
  for (const KernelColumn column : columns) id = id * static_cast<int>(kKernelColumns + 1) + static_cast<int>(column);
  ImGui::PushID(id);
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, {look.sizes.width(5), look.sizes.width(2)});
  if (ImGui::BeginTable("kernels", static_cast<int>(columns.size()), kTableFlags, size)) {
    set_up_columns(columns);
    draw_headings(columns);
    order_rows(data);
    for (const KernelRow& row : rows_) draw_row(data, row, columns, look);
    ImGui::EndTable();
  }
  ImGui::PopStyleVar();
  ImGui::PopID();
}

void KernelsPanel::choose_rows(const ProfilerOverlay::Look& look) {
  const RowsOf before = of_;
  if (choice("by token", of_ == RowsOf::kTokens, look.theme)) of_ = RowsOf::kTokens;
  ImGui::SameLine();
  if (choice("whole answer", of_ == RowsOf::kAnswer, look.theme)) of_ = RowsOf::kAnswer;
  if (of_ != before) shown_ = nullptr;
}

void KernelsPanel::draw(const std::shared_ptr<const ProfilerData>& data, const ProfilerOverlay::Look& look) {
  if (data != shown_) {
    shown_ = data;
    rows_ = kernel_rows(*data, of_);
    colours_ = row_colours(data->rows, look.theme.dark);
  }
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const auto chosen = std::ranges::find(data->rows, chosen_, &OperationProfile::name);
  if (chosen == data->rows.end()) return draw_table(*data, look, room);
  const bool wide = room.x >= look.sizes.width(kWide) && room.y < look.sizes.width(kHigh);
  const float gap = look.sizes.width(10);
  const float rest = text_of(*data, chosen_) == nullptr ? 6 * ImGui::GetTextLineHeightWithSpacing() : room.y * 0.55f;
  draw_table(*data, look, wide ? ImVec2{room.x * kTablePart, room.y} : ImVec2{room.x, std::max(0.0f, room.y - rest)});
  if (wide) ImGui::SameLine(0, gap);
  ImGui::BeginChild("chosen kernel");
  text_.draw(*data, *chosen, look);
  ImGui::EndChild();
}

}  // namespace warpchat::gui
