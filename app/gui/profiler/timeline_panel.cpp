#include "app/gui/profiler/timeline_panel.h"

#include <algorithm>
#include <cmath>

#include "app/gui/profiler/kernel_table.h"
#include "app/gui/profiler/panel_parts.h"
#include "app/gui/profiler/plots.h"
#include "app/platform/text/numbers.h"
#include "models/text_format.h"

namespace warpchat::gui {

namespace {

constexpr size_t kFollowedTokens = 4;
constexpr float kAxis = 20, kTokens = 20, kCallsLane = 34, kShareLane = 12, kLabels = 52,
                kLabelled = 44;  // pixels at scale 1

}  // namespace

struct TimelinePanel::Canvas {
  const ProfilerData& data;
  const ProfilerOverlay::Look& look;
  ImDrawList& list;
  ImVec2 from, to;  // of bars and axis, screen pixels; labels stand left of it
  bool hovered, held;
  float px(float at_scale_1) const { return look.sizes.width(at_scale_1); }
  float width() const { return to.x - from.x; }
  float x(double time, TimeView view) const {
    return from.x + static_cast<float>((time - view.from) / view.length()) * width();
  }
  double time(float at, TimeView view) const { return view.from + (at - from.x) / width() * view.length(); }
  float tokens_top() const { return from.y + px(kAxis); }
  float lanes_top() const { return tokens_top() + px(kTokens); }
  float lane_height(size_t lane) const { return px(lane == 0 ? kCallsLane : kShareLane); }
  float lane_top(size_t lane) const {
    return lanes_top() + (lane == 0 ? 0 : px(kCallsLane) + static_cast<float>(lane - 1) * px(kShareLane));
  }
};

void TimelinePanel::set_data(const std::shared_ptr<const ProfilerData>& data, bool dark) {
  if (data == shown_) return;
  shown_ = data;
  lanes_ = lanes_of(*data);
  colours_ = row_colours(data->rows, dark);
  bars_.clear();
}

// Wheel: zoom around the pointer. Drag: move. Double click: follow the newest tokens again.
void TimelinePanel::steer(const Canvas& canvas, TimeView whole) {
  const ImGuiIO& io = ImGui::GetIO();
  if (canvas.hovered && io.MouseWheel != 0) {
    view_ = zoomed(view_, std::pow(0.8, io.MouseWheel), canvas.time(io.MousePos.x, view_), whole);
    follows_ = false;
  }
  if (canvas.held && (io.MouseDelta.x != 0 || io.MouseDelta.y != 0)) {
    view_ = panned(view_, -io.MouseDelta.x / canvas.width() * view_.length(), whole);
    scroll_ -= io.MouseDelta.y;
    follows_ = false;
  }
  if (canvas.hovered && ImGui::IsMouseDoubleClicked(0)) follows_ = true;
  const float content = canvas.lane_top(lanes_.size()) - canvas.lanes_top();
  scroll_ = std::clamp(scroll_, 0.0f, std::max(0.0f, content - (canvas.to.y - canvas.lanes_top())));
  view_ = follows_ ? last_tokens(*shown_, kFollowedTokens, whole) : panned(view_, 0, whole);
}

void TimelinePanel::draw_axis(const Canvas& canvas) const {
  const double step = tick_step(view_.length(), std::max(2, static_cast<int>(canvas.width() / canvas.px(90))));
  for (double offset = 0; offset <= view_.length(); offset += step) {
    const float x = canvas.x(view_.from + offset, view_);
    canvas.list.AddLine({x, canvas.from.y}, {x, canvas.to.y}, faded(canvas.look.theme.border, 0.7f));
    const std::string text = offset == 0 ? "0" : duration_text(offset);
    if (x + text_width(text) < canvas.to.x)
      canvas.list.AddText({x + canvas.px(3), canvas.from.y}, canvas.look.theme.faint_text, text.c_str());
  }
}

// Where tokens begin, and the one that is pointed at elsewhere.
void TimelinePanel::draw_tokens(const Canvas& canvas, std::optional<uint64_t> token) const {
  const Theme& theme = canvas.look.theme;
  for (size_t i = 0; i < canvas.data.tokens.size(); ++i) {
    const ProfiledToken& t = canvas.data.tokens[i];
    if (t.start + t.seconds < view_.from || t.start > view_.to) continue;
    const float from = std::max(canvas.from.x, canvas.x(t.start, view_));
    const float to = std::min(canvas.to.x, canvas.x(t.start + t.seconds, view_));
    if (token == canvas.data.first_token + i)
      canvas.list.AddRectFilled({from, canvas.from.y}, {to, canvas.to.y}, theme.selection);
    if (t.start >= view_.from) canvas.list.AddLine({from, canvas.tokens_top()}, {from, canvas.to.y}, theme.faint_text);
    const std::string label =
        "token " + grouped(canvas.data.first_token + i + 1) + " \u00b7 " + duration_text(t.seconds);
    const ImVec2 at{from + canvas.px(3), canvas.tokens_top()};
    canvas.list.PushClipRect(at, {to, canvas.lanes_top()}, true);
    if (text_width(label) < to - at.x) canvas.list.AddText(at, theme.dim_text, label.c_str());
    canvas.list.PopClipRect();
  }
}

const std::vector<TimelineBar>& TimelinePanel::bars_of(size_t lane, float pixels) {
  if (bars_view_ != view_ || bars_pixels_ != pixels || bars_.size() != lanes_.size()) {
    bars_.assign(lanes_.size(), std::nullopt);
    bars_view_ = view_;
    bars_pixels_ = pixels;
  }
  if (!bars_[lane]) bars_[lane] = timeline_bars(lanes_[lane].spans, view_, pixels);
  return *bars_[lane];
}

// The end of a phase at which blocks wait: paler. Returns where it begins.
float TimelinePanel::draw_wait(const Canvas& canvas, const TraceSpan& span, ImVec2 from, ImVec2 to) const {
  if (span.wait <= 0) return to.x;
  const float x = canvas.x(span.start + span.seconds - static_cast<double>(span.wait), view_);
  const float begin = std::clamp(x, from.x, to.x);
  canvas.list.AddRectFilled({begin, from.y}, to, faded(canvas.look.theme.panel, 0.55f));
  return begin;
}

// Nothing where no more than a few letters fit.
void TimelinePanel::draw_label(const Canvas& canvas, uint32_t operation, ImVec2 from, ImVec2 to) const {
  const std::string name = label_of(canvas.data.rows[operation].name);
  const float room = to.x - from.x - canvas.px(6);
  if (room < std::min(canvas.px(kLabelled), text_width(name))) return;
  canvas.list.AddText({from.x + canvas.px(3), (from.y + to.y - ImGui::GetTextLineHeight()) / 2},
                      canvas.look.theme.dark ? canvas.look.theme.accent_text : 0xFFFFFFFF,
                      ended_at(name, room).c_str());
}

void TimelinePanel::draw_lanes(const Canvas& canvas) {
  const Theme& theme = canvas.look.theme;
  canvas.list.PushClipRect({canvas.from.x - canvas.px(kLabels), canvas.lanes_top()}, canvas.to, true);
  for (size_t lane = 0; lane < lanes_.size(); ++lane) {
    const float top = canvas.lane_top(lane) - scroll_, bottom = top + canvas.lane_height(lane) - canvas.px(2);
    if (bottom < canvas.lanes_top() || top > canvas.to.y) continue;
    if (lane == 0 || canvas.lane_height(lane) >= ImGui::GetTextLineHeight() || lane % 2 == 1)
      canvas.list.AddText({canvas.from.x - canvas.px(kLabels), (top + bottom - ImGui::GetTextLineHeight()) / 2},
                          theme.dim_text, lanes_[lane].label.c_str());
    for (const TimelineBar& bar : bars_of(lane, canvas.width())) {
      const Colour colour = colours_[bar.operation];
      const ImVec2 at{canvas.from.x + bar.from, top}, to{canvas.from.x + std::max(bar.to - 0.5f, bar.from + 1), bottom};
      canvas.list.AddRectFilled(at, to, bar.span == TimelineBar::kSeveral ? faded(colour, 0.8f) : colour);
      if (bar.span == TimelineBar::kSeveral || lane > 0) continue;
      const float end_of_work = draw_wait(canvas, lanes_[lane].spans[bar.span], at, to);
      draw_label(canvas, bar.operation, at, {end_of_work, bottom});
    }
  }
  canvas.list.PopClipRect();
}

void TimelinePanel::show_hovered(const Canvas& canvas) const {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (!canvas.hovered || canvas.held || mouse.x < canvas.from.x) return;
  for (size_t lane = 0; lane < lanes_.size(); ++lane) {
    const float top = canvas.lane_top(lane) - scroll_;
    if (mouse.y < top || mouse.y >= top + canvas.lane_height(lane)) continue;
    const double pixel = view_.length() / canvas.width();
    const TraceSpan* span = span_at(lanes_[lane], canvas.time(mouse.x, view_), 2 * pixel);
    if (span == nullptr) return;
    std::string text = canvas.data.rows[span->operation].name + "\n" + duration_text(span->seconds);
    if (span->bytes > 0) {
      const double bytes = static_cast<double>(span->bytes);
      text += " \u00b7 " + bytes_text(bytes);
      if (span->seconds > 0) text += " \u00b7 " + bandwidth_text(bytes / span->seconds);
    }
    if (span->wait > 0) text += "\n" + duration_text(static_cast<double>(span->wait)) + " of it at the barrier";
    ImGui::SetTooltip("%s", text.c_str());
    return;
  }
}

void TimelinePanel::draw(const std::shared_ptr<const ProfilerData>& data, std::optional<uint64_t> token,
                         const ProfilerOverlay::Look& look) {
  const std::optional<TimeView> whole = whole_time(*data);
  if (!whole) return centred_note(look.sizes, look.theme.dim_text, "No calls recorded yet");
  set_data(data, look.theme.dark);
  text_in(look.theme.faint_text, "wheel: zoom \u00b7 drag: move \u00b7 double click: newest tokens");
  const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  if (room.x < look.sizes.width(2 * kLabels) || room.y < look.sizes.width(kAxis + kTokens + kCallsLane)) return;
  ImGui::BeginChild("timeline", room, false, ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::InvisibleButton("canvas", room);
  const Canvas canvas{*data,
                      look,
                      *ImGui::GetWindowDrawList(),
                      {at.x + look.sizes.width(kLabels), at.y},
                      {at.x + room.x, at.y + room.y},
                      ImGui::IsItemHovered(),
                      ImGui::IsItemActive()};
  steer(canvas, *whole);
  draw_tokens(canvas, token);
  draw_axis(canvas);
  draw_lanes(canvas);
  show_hovered(canvas);
  ImGui::EndChild();
}

}  // namespace warpchat::gui
