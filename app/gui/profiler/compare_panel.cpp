#include "app/gui/profiler/compare_panel.h"

#include <algorithm>
#include <cmath>
#include <ctime>

#include "app/gui/profiler/panel_parts.h"
#include "app/platform/text/numbers.h"

namespace warpchat::gui {

namespace {

constexpr const char* kSides[] = {"A", "B"};
constexpr float kNameDigits = 20, kValueDigits = 10, kRatioDigits = 7;
constexpr ImGuiTableFlags kComparedFlags =
    ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_NoSavedSettings;

std::string time_of_day(std::time_t time) {
  std::tm parts{};
  localtime_r(&time, &parts);
  char text[16];
  std::strftime(text, sizeof text, "%H:%M", &parts);
  return text;
}

std::string speed_of(const AnswerProfile& answer) {
  const Timings& t = answer.timings;
  return t.generate_seconds > 0 ? three_digits(t.generated_tokens / t.generate_seconds) + "/s" : "";
}

void cell(const std::string& text) {
  ImGui::TableNextColumn();
  right_aligned(text);
}

void draw_name(const ComparedRow& row, const ProfilerOverlay::Look& look) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  if (row.is_operation) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + look.sizes.width(12));
  const std::string shown = shortened_to(row.name, ImGui::GetContentRegionAvail().x);
  text_in(row.is_operation ? look.theme.dim_text : look.theme.text, shown);
  if (shown != row.name && ImGui::IsItemHovered()) ImGui::SetTooltip("%s", row.name.c_str());
}

void draw_row(const ComparedRow& row, bool has_differences, const ProfilerOverlay::Look& look) {
  constexpr double kNoise = 0.02;
  const Theme& theme = look.theme;
  draw_name(row, look);
  for (const std::optional<double>& value : {row.a, row.b})
    cell(value ? quantity_text(row.quantity, *value) : "\u2013");
  const bool says_something = std::abs(row.difference()) > kNoise * std::max(row.a.value_or(0), row.b.value_or(0));
  ImGui::PushStyleColor(ImGuiCol_Text, !says_something ? theme.dim_text : row.is_better() ? theme.good : theme.warning);
  if (has_differences) cell(row.a || row.b ? difference_text(row) : "");
  cell(ratio_text(row));
  ImGui::PopStyleColor();
}

}  // namespace

ComparePanel::Answer ComparePanel::shown(const ChatState& state, size_t side) const {
  const auto& answers = state.answers;
  if (chosen_[side])
    for (const Answer& answer : answers)
      if (answer->number == *chosen_[side]) return answer;
  return answers[answers.size() - (side == 0 ? 2 : 1)];
}

// Two buttons beside each other, each the name of its answer.
void ComparePanel::draw_chosen(const ChatState& state, const ProfilerOverlay::Look& look,
                               std::vector<ProfilerOverlay::Mark>& marks) {
  const float gap = ImGui::GetStyle().ItemSpacing.x, width = (ImGui::GetContentRegionAvail().x - gap) / 2;
  const float room = width - 2 * ImGui::GetStyle().FramePadding.x;
  for (size_t side = 0; side < 2; ++side) {
    if (side == 1) ImGui::SameLine();
    const std::string text = std::string(kSides[side]) + " \u00b7 " + title_of(*shown(state, side));
    ImGui::PushID(kSides[side]);
    ImGui::PushStyleColor(ImGuiCol_Button, choosing_ == side ? look.theme.selection : look.theme.hover);
    ImGui::PushStyleVar(ImGuiStyleVar_ButtonTextAlign, {0, 0.5f});
    if (ImGui::Button(ended_at(text, room).c_str(), {width, 0}))
      choosing_ = choosing_ == side ? std::nullopt : std::optional(side);
    ImGui::PopStyleVar();
    ImGui::PopStyleColor();
    ImGui::PopID();
    marks.push_back(mark_of_last_item(side == 0 ? "profiler:a" : "profiler:b"));
    if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s\n%s", text.c_str(), shown(state, side)->model.c_str());
  }
}

// Newest first.
void ComparePanel::draw_list(const ChatState& state, const ProfilerOverlay::Look& look,
                             std::vector<ProfilerOverlay::Mark>& marks) {
  text_in(look.theme.dim_text, std::string("Which answer is ") + kSides[*choosing_] + "?");
  const float digit = text_width("0");
  if (!ImGui::BeginTable("answers", 4, kComparedFlags)) return;
  ImGui::TableSetupColumn("answer", ImGuiTableColumnFlags_WidthStretch, 3);
  ImGui::TableSetupColumn("model", ImGuiTableColumnFlags_WidthStretch, 2);
  ImGui::TableSetupColumn("speed", ImGuiTableColumnFlags_WidthFixed, digit * kValueDigits);
  ImGui::TableSetupColumn("time", ImGuiTableColumnFlags_WidthFixed, digit * 6);
  std::optional<uint64_t> picked;
  for (size_t i = state.answers.size(); i-- > 0;) {
    const AnswerProfile& answer = *state.answers[i];
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    ImGui::PushID(static_cast<int>(answer.number));
    if (ImGui::Selectable("##answer", shown(state, *choosing_)->number == answer.number,
                          ImGuiSelectableFlags_SpanAllColumns))
      picked = answer.number;
    marks.push_back(mark_of_last_item("profiler:answer:" + std::to_string(answer.number)));
    ImGui::SameLine(0, 0);
    ImGui::TextUnformatted(ended_at(title_of(answer), ImGui::GetContentRegionAvail().x).c_str());
    ImGui::PopID();
    ImGui::TableNextColumn();
    text_in(look.theme.dim_text, ended_at(answer.model, ImGui::GetContentRegionAvail().x));
    cell(speed_of(answer));
    cell(time_of_day(answer.ended));
  }
  ImGui::EndTable();
  if (!picked) return;
  chosen_[*choosing_] = picked;
  choosing_.reset();
}

void ComparePanel::draw_table(const ProfilerOverlay::Look& look) const {
  const float digit = text_width("0"), room = ImGui::GetContentRegionAvail().x / digit;
  const bool has_differences = room > kNameDigits + 3 * kValueDigits + kRatioDigits + 8;
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, {look.sizes.width(5), look.sizes.width(2)});
  if (ImGui::BeginTable("compared", has_differences ? 5 : 4, kComparedFlags)) {
    ImGui::TableSetupColumn("what", ImGuiTableColumnFlags_WidthStretch);
    for (const char* side : kSides)
      ImGui::TableSetupColumn(side, ImGuiTableColumnFlags_WidthFixed, digit * kValueDigits);
    if (has_differences) ImGui::TableSetupColumn("B - A", ImGuiTableColumnFlags_WidthFixed, digit * kValueDigits);
    ImGui::TableSetupColumn("B / A", ImGuiTableColumnFlags_WidthFixed, digit * kRatioDigits);
    ImGui::TableSetupScrollFreeze(0, 1);
    ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
    for (int i = 0; i < ImGui::TableGetColumnCount(); ++i) {
      ImGui::TableNextColumn();
      if (i > 0) right_aligned(ImGui::TableGetColumnName(i));
    }
    for (const ComparedRow& row : comparison_.totals) draw_row(row, has_differences, look);
    for (const ComparedRow& row : comparison_.parts) draw_row(row, has_differences, look);
    ImGui::EndTable();
  }
  ImGui::PopStyleVar();
}

void ComparePanel::draw(const ChatState& state, const ProfilerOverlay::Look& look,
                        std::vector<ProfilerOverlay::Mark>& marks) {
  if (state.answers.size() < 2)
    return centred_note(look.sizes, look.theme.dim_text, "Ask twice to compare two answers");
  draw_chosen(state, look, marks);
  if (choosing_) return draw_list(state, look, marks);
  const Answer answers[2] = {shown(state, 0), shown(state, 1)};
  if (!std::ranges::equal(answers, compared_)) {
    std::ranges::copy(answers, compared_);
    comparison_ = compare_answers(*answers[0], *answers[1]);
  }
  wrapped_text_in(look.theme.text, comparison_.sentence);
  if (!comparison_.absence.empty()) wrapped_text_in(look.theme.warning, comparison_.absence);
  draw_table(look);
}

}  // namespace warpchat::gui
